package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
)

// MachineCheck checks the installation of this program on a machine.
type MachineCheck struct {
	lang.Language // of the results

	// Program is the absolute path of the running program.
	Program string
	// Hosts are the places of the hosts.
	Hosts hosts.Machine
	// Judge returns why the program would be no server, or none that can work, when a host starts it with some
	// arguments and variables; nil judges nothing.
	Judge func(args, environ []string) error
}

// Check asks whether hosts on this machine can find the program. The findings are never problems of the
// project, so the worst is a warning.
func (m MachineCheck) Check() []Check { return []Check{m.checkProgram(), m.checkHosts()} }

func (m MachineCheck) checkProgram() Check {
	c := Check{Group: OfMachine, Name: "program", Status: OK, Detail: m.Program}
	name := strings.TrimSuffix(filepath.Base(m.Program), ".exe")
	found, err := exec.LookPath(name)
	if err != nil {
		c.addDefect(Warning, m.Program, m.Say("is not on the PATH"))
		c.Remedy = m.Say("put its folder on the PATH, or give hosts the absolute path")
		return c
	}
	here, errHere := os.Stat(m.Program)
	there, errThere := os.Stat(found)
	if errHere == nil && errThere == nil && !os.SameFile(here, there) {
		c.addDefect(Warning, found, m.Say("is found on the PATH instead of %s", m.Program))
		c.Remedy = m.Say("update the one, or take it off the PATH")
	}
	return c
}

// checkHosts lists the hosts with an entry for the program, and whether they can start it.
func (m MachineCheck) checkHosts() Check {
	c := Check{Group: OfMachine, Name: "hosts", Status: OK}
	var with, without []string
	for _, h := range hosts.All() {
		places := m.placesOf(h, &c)
		switch {
		case len(places) > 0:
			with = append(with, fmt.Sprintf("%s (%s)", h.Name, strings.Join(places, ", ")))
			if h.HasPlugin(m.Hosts) {
				c.addDefect(Warning, places[0], m.Say("%s has the plugin too: the assistant may see each tool twice", h.Name))
				c.Remedy = "bmad-mcp uninstall " + h.ID
			}
			if entries := h.EntriesOf(m.Hosts, m.Program); len(entries) > 1 {
				c.addDefect(Warning, entries[0].Place, h.ExplainOther(m.Language, entries[1], entries[0].Name))
				c.Remedy = m.Say("keep one of them: bmad-mcp uninstall %s, with --scope project or --name for another", h.ID)
			}
		case h.HasPlugin(m.Hosts):
			with = append(with, m.Say("%s (by the plugin)", h.Name))
		case h.Present(m.Hosts) != "":
			without = append(without, h.Name)
		}
	}
	elsewhere, moves := m.Elsewhere()
	switch {
	case len(with) > 0:
		c.Detail = m.Say("set up for %s", strings.Join(with, ", "))
		if len(without) > 0 {
			c.Detail = m.Say("%s; not for %s", c.Detail, strings.Join(without, ", "))
		}
	case len(c.Items) == 0:
		c.Status, c.Detail = Warning, m.Say("no host's settings start bmad-mcp")
		c.Remedy = m.Say("tell your hosts about it: bmad-mcp install")
	default:
		c.Detail = m.Say("no host can start bmad-mcp")
	}
	if c.Items = append(c.Items, elsewhere...); moves {
		c.Warn(m.Say("if you have not written them, take them out of the file"))
	}
	return c
}

// moving are the variables that move what is the person's: their settings, keys and runs, and the word that counts at gates.
var moving = []string{"BMAD_GATE", "BMAD_HOST_CONFIRM", "BMAD_PROJECT", "BMAD_SIGN_WITH", "BMAD_STORE", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}

// Elsewhere lists the variables of hosts that count in the servers they start and not here, without the values, which may be
// secret. moves is true for one that moves what is the person's.
func (m MachineCheck) Elsewhere() (out []Defect, moves bool) {
	add := func(h hosts.Host, file string, env map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			switch isMoving := slices.Contains(moving, name); {
			case fmt.Sprint(env[name]) == os.Getenv(name), !isMoving && !strings.HasPrefix(name, "BMAD_"):
			case isMoving:
				out, moves = append(out, Defect{file, m.Say("%s sets %s for the server: your settings, keys, runs or gates are others there than here", h.Name, name)}), true
			default:
				out = append(out, Defect{file, m.Say("%s sets %s for the server, and it counts there alone", h.Name, name)})
			}
		}
	}
	for _, h := range hosts.All() {
		for _, scope := range []hosts.Scope{hosts.User, hosts.Project} {
			file, env := h.Variables(m.Hosts, scope)
			add(h, file, env)
		}
		for _, e := range h.EntriesOf(m.Hosts, m.Program) {
			add(h, e.Place, e.Env)
		}
	}
	return out, moves
}

// placesOf returns the files by which a host starts the program, and adds to a check whatever prevents the
// start.
func (m MachineCheck) placesOf(h hosts.Host, c *Check) []string {
	var out []string
	h.EachFile(m.Hosts, func(scope hosts.Scope, path string, entries []hosts.FoundEntry, err error) {
		if err != nil {
			c.addDefect(Warning, path, m.Say("%s cannot read it: %v", h.Name, err))
			c.Remedy = m.Say("fix the file; the host may ignore all of it")
		}
		for _, e := range entries {
			if e.URL != "" && strings.Contains(e.Name, "bmad") { // served over HTTP
				if !answers(e.URL) {
					c.addDefect(Warning, path, m.Say("nothing answers at %s", e.URL))
					c.Remedy = m.Say("start it: bmad-mcp serve --http ADDRESS")
					continue
				}
				out = append(out, m.Say("%s, at %s", path, e.URL))
				continue
			}
			if !hosts.Ours(e.Command, m.Program) {
				continue
			}
			if _, err := exec.LookPath(e.Command); err != nil {
				c.addDefect(Warning, path, m.Say("%s is to start %s, which is not there or cannot be run", h.Name, e.Command))
				if c.Remedy = "bmad-mcp install " + h.ID; scope == hosts.Project {
					c.Remedy = m.Say("put the program's folder on the PATH")
				}
				continue
			}
			if err := m.judgeEntry(e); err != nil {
				c.addDefect(Warning, path, m.Say("%s starts it so that it cannot work: %s", h.Name, fault.From(err).Translated(m.Language).Message))
				c.Remedy = m.Say("correct the entry %s", e.Name)
				continue
			}
			if !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	})
	return out
}

// judgeEntry returns why the program could not work as an entry starts it.
func (m MachineCheck) judgeEntry(e hosts.FoundEntry) error {
	if m.Judge == nil {
		return nil
	}
	var environ []string
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		environ = append(environ, name+"="+fmt.Sprint(e.Env[name]))
	}
	return m.Judge(e.Args, environ)
}

// answers reports whether somebody listens at an address of this machine; others are not asked.
func answers(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if isHere := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback(); !isHere {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
