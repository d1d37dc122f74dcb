package config

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// setProjects adds folders in which assistants may work.
func setProjects(l *loader, values []string) error {
	if l.from == environment && len(values) == 1 {
		values = filepath.SplitList(values[0])
	}
	for _, v := range values {
		if v = strings.TrimSpace(v); v == "" || strings.HasPrefix(v, "${") { // a host's placeholder without a value
			continue
		}
		path := v
		if rest, ok := strings.CutPrefix(filepath.ToSlash(v), "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return lang.Errorf("projects %q: there is no home folder: %w", v, err)
			}
			path = filepath.Join(home, filepath.FromSlash(rest))
		}
		if !filepath.IsAbs(path) {
			return lang.Errorf("projects %q is not an absolute path; write /… or ~/…", v)
		}
		if path = filepath.Clean(path); !slices.Contains(l.Projects, path) {
			l.Projects = append(l.Projects, path)
		}
	}
	return nil
}

// setWorkflow sets the workflow for runs that name none.
func setWorkflow(l *loader, values []string) error {
	if v := values[0]; !slices.Contains(l.WorkflowNames(), v) {
		return lang.Errorf("workflow %q is not one of %s", v, strings.Join(l.WorkflowNames(), ", "))
	}
	if !l.yields("workflow", values[0]) {
		l.Workflow = values[0]
	}
	return nil
}

// setMaxRounds sets the rounds between two decisions of a person. A project's file cannot raise those that they have set.
func setMaxRounds(l *loader, values []string) error {
	const key, low, high = "max_rounds", 1, 100
	n, err := strconv.Atoi(values[0])
	switch {
	case err != nil || n < low || n > high:
		return lang.Errorf("%s %q is not a whole number from %d to %d", key, values[0], low, high)
	case l.from == own && l.byPerson[key] && n > l.MaxRounds:
		l.ignore(lang.T("%s %s", key, values[0]), yoursHolds)
		return nil
	}
	l.MaxRounds, l.byPerson[key] = n, l.byPerson[key] || l.from != own
	return nil
}

func maxRounds(c *Config) any {
	if c.MaxRounds == 0 {
		return ""
	}
	return c.MaxRounds
}

// setLanguage sets the language that people are spoken to in, silently if the project's file names
// another than they do.
func setLanguage(l *loader, values []string) error {
	if l.from == own && l.byPerson["language"] {
		l.refused = true
		return nil
	}
	l.byPerson["language"] = l.from != own
	return pick(&l.Language, "language", values[0], lang.Settings())
}

// setHostConfirm accepts of a variable, which a project's files can set for a host, no more listing: a tool whose calls count as
// a person's must not be listed because a repository asks for it.
func setHostConfirm(l *loader, values []string) error {
	asked := l.HostConfirm
	if err := pick(&asked, "host_confirm", values[0], []HostConfirm{HostConfirmAuto, HostConfirmAlways, HostConfirmNever}); err != nil {
		return err
	}
	if l.from == environment && asked == HostConfirmAlways {
		l.refuse(lang.T("host_confirm %s of a variable does not count: set it in your own file", asked))
		return nil
	}
	l.HostConfirm = asked
	return nil
}

// modelIsTheirs is the reason why a project's file has no say in the model: it must not send the
// person's key and texts to a server, nor spend their money.
var modelIsTheirs = lang.T("only the person decides which model works for them, and what it may cost")

func setModel(l *loader, values []string) error {
	name := strings.TrimSpace(values[0])
	if name == "" || len(values[0]) > 200 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return lang.Errorf("model %q is not the name of a model, such as claude-sonnet-5-5", visible.Cut(values[0], 80, "…"))
	}
	l.Model.Name = name
	return nil
}

func setCostLimit(l *loader, values []string) error {
	limit, err := price.ParseMoney(values[0])
	if err != nil || limit <= 0 {
		return lang.Errorf("cost_limit %q is not an amount in dollars, such as 2.50", visible.Cut(values[0], 80, "…"))
	}
	l.Model.CostLimit = limit
	return nil
}

func costLimit(c *Config) any {
	if c.Model.CostLimit <= 0 {
		return ""
	}
	return c.Model.CostLimit
}

var memoryIsTheirs = lang.T("only the person decides what the project remembers, and where")

// setMemory sets the use of notes. A project's file can only switch it off: it must not have notes
// written, or the project's texts sent to a server.
func setMemory(l *loader, values []string) error {
	if l.from == own && values[0] != string(MemoryOff) {
		l.ignore(lang.T("%s %s", "memory", values[0]), memoryIsTheirs)
		return nil
	}
	return pick(&l.Memory, "memory", values[0], []Memory{MemoryAuto, MemoryOn, MemoryOff})
}

// setEmbeddings sets the server that turns texts into vectors, with a model, and the database that keeps them, if one is named.
func setEmbeddings(l *loader, values []string) error {
	words := strings.Fields(values[0])
	l.EmbeddingModel, l.MemoryQdrant = "", ""
	if len(words) > 2 && strings.Contains(words[len(words)-1], "://") {
		if err := setAddress(&l.MemoryQdrant, "memory_embeddings", words[len(words)-1]); err != nil {
			return err
		}
		words = words[:len(words)-1]
	}
	if len(words) > 1 {
		l.EmbeddingModel = strings.Join(words[1:], " ")
	}
	return setAddress(&l.MemoryEmbeddings, "memory_embeddings", strings.Join(words[:min(len(words), 1)], ""))
}

func embeddings(c *Config) any {
	return strings.Join(strings.Fields(c.MemoryEmbeddings+" "+c.EmbeddingModel+" "+c.MemoryQdrant), " ")
}

func setToolsets(l *loader, values []string) error {
	list, err := ParseToolsets(values)
	switch {
	case err != nil:
		return err
	case l.from == own: // a repository could remove the gates, and put its own text before the model
		l.ignore(lang.T("%s %s", "toolsets", strings.Join(values, ", ")), lang.T("only the person decides which tools are offered"))
	default:
		l.Toolsets = list
	}
	return nil
}

// setSources sets the repositories with the method. One that a project names counts once the person
// has allowed it.
func setSources(l *loader, values []string) error {
	list := entries(values)
	if len(list) > maxSources {
		return lang.Errorf("sources names %d repositories; at most %d are read", len(list), maxSources)
	}
	for n, source := range list {
		if _, err := gitsource.Parse(source); err != nil { // the address may contain a password, so it is not repeated
			return lang.Errorf("sources: number %d of %d: %w (%s)", n+1, len(list), err, fault.From(err).Advice())
		}
	}
	if l.from == own {
		l.OwnSources = list
	} else {
		l.Sources = append(l.Sources, list...)
	}
	return nil
}

// maxSources bounds the git repositories of one setting.
const maxSources = 20

// sources lists the repositories, without passwords.
func sources(c *Config) any { return withoutSecrets("sources", slices.Concat(c.Sources, c.OwnSources)) }

// setVerify accepts the project's command only if the person has set none: theirs must not be
// replaced.
func setVerify(l *loader, stage workflow.StageID, command string) {
	key, command := "verify "+string(stage), strings.TrimSpace(command)
	switch {
	case l.from == own && l.byPerson[key]:
		l.ignore(lang.T("%s %s", "verify", command), yoursHolds)
		return
	case l.from == environment && command == "" && l.byPerson[key]:
		return // a variable is easier to set than the person's file is to change
	}
	l.Verify[stage], l.byPerson[key], l.origins["stages."+string(stage)+".verify"] = command, l.from != own, l.at
	switch {
	case l.from == environment:
		l.VerifyBy[stage] = workflow.SetByEnvironment
	case l.from == own || l.isUserFileInside():
		l.VerifyBy[stage] = workflow.SetByProject
	default:
		l.VerifyBy[stage], l.PersonVerify[stage] = workflow.SetByPerson, command
	}
}

// setVerifyTimeout sets the time that a verify command may take.
func setVerifyTimeout(l *loader, values []string) error {
	const low, high = time.Second, time.Hour
	d, err := time.ParseDuration(values[0])
	if err != nil || d < low || d > high {
		return lang.Errorf("verify_timeout %q is not a duration from %v to %v, such as 10s", values[0], low, high)
	}
	l.VerifyTimeout = d
	return nil
}

// setChecks sets the commands that the server runs if a report names them. Only the person's own
// file counts: a variable can be set by a project's settings of a host.
func setChecks(l *loader, values []string) error {
	if l.from != user || l.isUserFileInside() {
		l.refuse(lang.T("checks %s does not count: only your own file can name commands to run", strings.Join(values, ", ")))
		return nil
	}
	l.Checks = nil
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			l.Checks = append(l.Checks, v)
		}
	}
	return nil
}

// setNotify sets the place for notices. Only the person's own file counts, as for checks: it is a program that is started, or a
// server that learns of their runs.
func setNotify(l *loader, values []string) error {
	if l.from != user || l.isUserFileInside() {
		l.refuse(lang.T("notify does not count: only your own file can name a place for notices"))
		return nil
	}
	target, err := notify.Parse(values)
	l.Notify = target
	return err
}

// setVerifies sets the command for every stage that can be verified.
func setVerifies(l *loader, values []string) error {
	for _, stage := range l.Verified() {
		setVerify(l, stage, values[0])
	}
	return nil
}

// setToolServers sets the servers. Only the person's own file counts, as for checks: they are programs
// that are started.
func setToolServers(l *loader, values []string) error {
	if l.from != user || l.isUserFileInside() {
		l.refuse(lang.T("tool_servers does not count: only your own file can name programs to start"))
		return nil
	}
	l.ToolServers = nil
	for _, v := range values {
		s, err := parseToolServer(v)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(l.ToolServers, func(o ToolServer) bool { return strings.EqualFold(o.Name, s.Name) }) || len(l.ToolServers) == maxToolServers {
			return lang.Errorf("tool_servers names %s twice, or more than %d servers", s.Name, maxToolServers)
		}
		l.ToolServers = append(l.ToolServers, s)
	}
	return nil
}

// toolServerNames lists the names.
func toolServerNames(c *Config) any {
	names := make([]string, len(c.ToolServers))
	for n, s := range c.ToolServers {
		names[n] = s.Name
	}
	return strings.Join(names, ", ")
}
