package hosts_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
)

// planned returns a plan for an empty home folder, in which no host is installed, and a host.
func planned(t *testing.T, id string) (hosts.Plan, hosts.Host) {
	t.Helper()
	h, ok := hosts.Lookup(id)
	if !ok {
		t.Fatal("there is no host " + id)
	}
	m := hosts.Machine{OS: "linux", Home: t.TempDir(), LookPath: func(string) string { return "" }}
	return hosts.Plan{Machine: m, Scope: hosts.User, Entry: hosts.Entry{Name: "bmad", Command: os.Args[0]}}, h
}

// wantStatus checks the status of a change, and a part of its reason.
func wantStatus(t *testing.T, c hosts.Change, status, why string) {
	t.Helper()
	if c.Status != status || !strings.Contains(c.Why, why) {
		t.Errorf("got %s (%s), want %s (%s)", c.Status, c.Why, status, why)
	}
}

// TestApply puts an entry in and takes it out again; planning alone changes nothing.
func TestApply(t *testing.T) {
	p, h := planned(t, "cursor")
	state := t.TempDir()
	a := hosts.Applier{Folder: state, Now: func() time.Time { return time.Unix(0, 0).UTC() }}
	ctx := context.Background()
	install := func() hosts.Change { return p.Install(h) }
	uninstall := func() hosts.Change { return p.Uninstall(h) }

	dry := hosts.Applier{Folder: state, Now: a.Now, DryRun: true}
	c := dry.Apply(ctx, install)
	wantStatus(t, c, hosts.Added, "")
	if text, err := hosts.Read(c.Path); text != nil || err != nil || !c.DryRun {
		t.Errorf("a dry run left %q, %v; dry run is %t", text, err, c.DryRun)
	}
	wantStatus(t, a.Apply(ctx, install), hosts.Added, "")
	wantStatus(t, a.Apply(ctx, install), hosts.Unchanged, "")
	p.Entry.Args = []string{"serve"}
	c = a.Apply(ctx, install)
	wantStatus(t, c, hosts.Updated, "")
	if kept, err := os.ReadFile(c.Backup); err != nil || strings.Contains(string(kept), "serve") || filepath.Dir(c.Backup) != filepath.Join(state, "backups") {
		t.Errorf("the copy %s has %q, %v; want the file as it was", c.Backup, kept, err)
	}
	c = a.Apply(ctx, uninstall)
	wantStatus(t, c, hosts.Removed, "holds nothing else")
	if _, err := os.Stat(c.Path); !os.IsNotExist(err) {
		t.Errorf("got %v for the file that held only the entry, want that it is gone", err)
	}
	wantStatus(t, a.Apply(ctx, uninstall), hosts.Absent, "")
}

// TestApplyTaken leaves another server of the name alone, unless it is forced.
func TestApplyTaken(t *testing.T) {
	p, h := planned(t, "cursor")
	a := hosts.Applier{Now: time.Now}
	const other = `{"mcpServers": {"bmad": {"command": "/usr/bin/other"}}}`
	path := h.File(p.Machine, hosts.User)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Install(h) }), hosts.Failed, "or have it replaced (--force)")
	wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Uninstall(h) }), hosts.Failed, "--force takes it out all the same")
	if text, err := os.ReadFile(path); string(text) != other || err != nil {
		t.Errorf("got %q, %v, want the file as it was", text, err)
	}
	p.Force = true
	wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Install(h) }), hosts.Updated, "")
}

// TestApplyRaces plans a change again when another program changes the file in between, and
// gives up after a few times.
func TestApplyRaces(t *testing.T) {
	for _, tt := range []struct {
		races int
		want  string
	}{{2, hosts.Added}, {3, hosts.Failed}} {
		p, h := planned(t, "cursor")
		path := h.File(p.Machine, hosts.User)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		plans := 0
		c := hosts.Applier{Now: time.Now}.Apply(context.Background(), func() hosts.Change {
			c := p.Install(h)
			if plans++; plans <= tt.races {
				text := `{"other": ` + strings.Repeat("1", plans) + `}`
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return c
		})
		if c.Status != tt.want || plans != min(tt.races+1, 3) {
			t.Errorf("%d changes in between: got %s (%s) after %d plans, want %s", tt.races, c.Status, c.Why, plans, tt.want)
		}
	}
}

// TestByHand leaves a file to the person that only the host's own command is to change, and the command
// is not there.
func TestByHand(t *testing.T) {
	a := hosts.Applier{Now: time.Now}
	for _, tt := range []struct {
		host  string
		scope hosts.Scope
		has   string
		why   string
	}{
		{"codex", hosts.User, "[mcp_servers.bmad]\ncommand = 'bmad-mcp'\n", "codex is not on the PATH"},
		{"codex", hosts.Project, "[mcp_servers.bmad]\ncommand = 'bmad-mcp'\n", "Codex has no command for one project"},
		{"claude-code", hosts.User, `{"mcpServers": {"bmad": {"command": "bmad-mcp"}}}`, "claude is not on the PATH"},
	} {
		p, h := planned(t, tt.host)
		p.Machine.Folder, p.Scope = p.Machine.Home, tt.scope
		path := h.File(p.Machine, tt.scope)
		wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Uninstall(h) }), hosts.Absent, "")
		c := a.Apply(context.Background(), func() hosts.Change { return p.Install(h) })
		wantStatus(t, c, hosts.ByHand, tt.why+"; put this into the file yourself")
		if text, err := hosts.Read(path); text != nil || err != nil || c.Snippet != h.Snippet(p.Entry) {
			t.Errorf("%s: the file has %q, %v, the lines to put in are %q", tt.host, text, err, c.Snippet)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tt.has), 0o600); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Install(h) }), hosts.ByHand, `set this in the file's entry "bmad" yourself`)
		wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Uninstall(h) }), hosts.ByHand, tt.why+`; take the entry "bmad" out of the file yourself`)
		if text, err := os.ReadFile(path); string(text) != tt.has || err != nil {
			t.Errorf("%s: got %q, %v, want the file as it was", tt.host, text, err)
		}
		p.Entry.Command = "bmad-mcp"
		wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Install(h) }), hosts.Unchanged, "")
	}
}

// TestHostsFilesStayTheirs installs, installs again, upgrades and uninstalls: the person's text stays, byte for byte, and
// in the end the file is as it was before.
func TestHostsFilesStayTheirs(t *testing.T) {
	absent := "absent"
	for _, host := range []string{"claude-desktop", "cursor", "vscode", "gemini"} {
		for _, before := range []string{
			absent, "", "{}", "{}\n", "{ }", "{\n}\n", "{\r\n}\r\n", "\t{\n\t\n}",
			`{"KEY": {}}`, "{\n  \"KEY\": {}\n}\n", "{\n\t\"KEY\": {\n\t}\n}", "{\r\n  \"KEY\": { }\r\n}\r\n", `{"KEY":{},"a":{"KEY":{"bmad":1}}}`, `{"a":1,"KEY":{}, "b":2}`,
			`{"a":1,"a":2,"KEY":{"other":{"command":"x","env":{"K":"v"}}}}`, "{\n  \"KEY\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}", "{\"n\": 12345678901234567890123, \"s\": \"\xff\"}",
			"// mine\n{\n  \"KEY\": { /* none */ }, // yet\n}\n", "\xef\xbb\xbf{\"KEY\": {},}", "\xef\xbb\xbf", " \r\n",
		} {
			t.Run(host+" "+before, func(t *testing.T) {
				p, h := planned(t, host)
				p.Folder = t.TempDir()
				a := hosts.Applier{Folder: p.Folder, Now: time.Now}
				before = strings.ReplaceAll(before, "KEY", serverKey(h))
				path := h.File(p.Machine, hosts.User)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				write := func(text string) {
					if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
						t.Fatal(err)
					}
				}
				if before != absent {
					write(before)
				}
				read := func() string {
					text, err := os.ReadFile(path)
					if os.IsNotExist(err) {
						return absent
					}
					return string(text)
				}
				apply := func(plan func(hosts.Host) hosts.Change, want string) string {
					c := a.Apply(t.Context(), func() hosts.Change { return plan(h) })
					if wantStatus(t, c, want, ""); read() == absent && want == hosts.Added {
						t.Fatal("nothing was written")
					}
					return read()
				}
				if c := p.Install(h); c.Status == hosts.Failed {
					if apply(p.Install, hosts.Failed) != before {
						t.Error("a file that was refused has changed")
					}
					return
				}
				installed := apply(p.Install, hosts.Added)
				if apply(p.Install, hosts.Unchanged) != installed {
					t.Error("a second install changes the file")
				}
				const tuned = `, "args": ["--toolsets", "task"], "env": {"A": "b"}, "disabled": false, "autoApprove": [], "timeout": 60}`
				byHand := regexp.MustCompile(`("command": "/[^"]*")\s*\}`).ReplaceAllString(installed, "$1"+tuned)
				write(byHand)
				apply(p.Install, hosts.Unchanged)
				old := p.Entry.Command
				p.Entry.Command = "/opt/v2/bmad-mcp"
				write(strings.ReplaceAll(byHand, strconv.Quote(old), `"/opt/v1/bmad-mcp"`))
				if got, want := apply(p.Install, hosts.Updated), strings.ReplaceAll(byHand, strconv.Quote(old), `"/opt/v2/bmad-mcp"`); got != want {
					t.Errorf("an upgrade made\n%q\nof\n%q", got, want)
				}
				if got := apply(p.Uninstall, hosts.Removed); got != before {
					t.Errorf("in the end the file is\n%q\nand was\n%q", got, before)
				}
				if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o640 {
					t.Errorf("the mode is %v", info.Mode())
				}
			})
		}
	}
}

// TestUninstallAfterWork takes the entry out of files in which the person has changed something since.
func TestUninstallAfterWork(t *testing.T) {
	for _, tt := range []struct{ before, from, to, want string }{
		{`{"mcpServers": {}, "a": 1}`, `"a": 1`, `"a": 2`, `{"mcpServers": {}, "a": 2}`},
		{`{"a": 1}`, `"a": 1`, `"a": 2`, `{"a": 2}`},
		{`{"mcpServers": {}}`, `{"mcp`, `{ // mine` + "\n" + `"mcp`, "{ // mine\n" + `"mcpServers": {}}`},
		{`{}`, `{"mcp`, `{"a": 1, "mcp`, "{\"a\": 1\n}"},
	} {
		p, h := planned(t, "cursor")
		p.Folder = t.TempDir()
		a := hosts.Applier{Folder: p.Folder, Now: time.Now}
		path := h.File(p.Machine, hosts.User)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, a.Apply(t.Context(), func() hosts.Change { return p.Install(h) }), hosts.Added, "")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := regexp.MustCompile(`^\{\s+"mcp`).ReplaceAllString(string(text), `{"mcp`)
		if err := os.WriteFile(path, []byte(strings.Replace(changed, tt.from, tt.to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, a.Apply(t.Context(), func() hosts.Change { return p.Uninstall(h) }), hosts.Removed, "")
		if got, err := os.ReadFile(path); err != nil || string(got) != tt.want {
			t.Errorf("got %q, %v, want %q", got, err, tt.want)
		}
	}
}

// TestOtherEntries names the other entries for the server that a host would start too.
func TestOtherEntries(t *testing.T) {
	local := `{"mcpServers": {%s}, "projects": {"%s": {"mcpServers": {"bmad": {"command": "bmad-mcp"}}}, "/other": {"mcpServers": {"b": {"command": "bmad-mcp"}}}}}`
	for _, tt := range []struct {
		name, host     string
		scope          hosts.Scope
		user, project  string // texts of the two files, "" for none
		install, after string // in the notes; "" for no note
	}{
		{"one", "cursor", hosts.User, "", "", "", ""},
		{"the other scope", "cursor", hosts.User, "", `{"mcpServers": {"bmad": {"command": "bmad-mcp"}}}`, `has "bmad" in PROJECT too, and takes only one`, `still in PROJECT, as "bmad"`},
		{"again", "cursor", hosts.User, `{"mcpServers": {"bmad": {"command": "SELF"}}}`, `{"mcpServers": {"bmad": {"command": "bmad-mcp"}}}`, `has "bmad" in PROJECT too`, `still in PROJECT`},
		{"another name in the file", "cursor", hosts.User, `{"mcpServers": {"flow": {"command": "bmad-mcp"}}}`, "", `in USER too, as "flow", and shows each tool twice`, `still in USER, as "flow"`},
		{"from the project", "vscode", hosts.Project, `{"servers": {"flow": {"command": "/opt/bmad-mcp"}}}`, "", `in USER too, as "flow"`, `still in USER, as "flow"`},
		{"one project of Claude Code", "claude-code", hosts.Project, local, "", `has "bmad" in USER (PLACE) too`, `still in USER (PLACE), as "bmad"`},
		{"two more", "claude-code", hosts.Project, strings.Replace(local, "%s", `"bmad": {"command": "bmad-mcp"}`, 1), "", `has "bmad" in USER too, and takes only one of them; Claude Code has "bmad" in USER (PLACE) too`, ""},
		{"another program", "cursor", hosts.User, "", `{"mcpServers": {"docs": {"command": "docs-mcp"}}}`, "", ""},
		{"a broken file", "cursor", hosts.User, "", `{`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, h := planned(t, tt.host)
			p.Scope, p.Machine.Folder = tt.scope, t.TempDir()
			words := strings.NewReplacer("PROJECT", h.File(p.Machine, hosts.Project), "USER", h.File(p.Machine, hosts.User), "PLACE", p.Machine.Folder, "SELF", os.Args[0])
			for scope, text := range map[hosts.Scope]string{hosts.User: tt.user, hosts.Project: tt.project} {
				path := h.File(p.Machine, scope)
				if strings.HasPrefix(text, `{"mcpServers": {%s`) {
					text = fmt.Sprintf(text, "", p.Machine.Folder)
				} else if strings.Contains(text, "%s") {
					text = fmt.Sprintf(text, p.Machine.Folder)
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(words.Replace(text)), 0o600); text != "" && err != nil {
					t.Fatal(err)
				} else if text == "" {
					_ = os.Remove(path)
				}
			}
			a := hosts.Applier{Now: time.Now}
			for _, step := range []struct {
				plan func(hosts.Host) hosts.Change
				want string
			}{{p.Install, tt.install}, {p.Uninstall, tt.after}} {
				c := a.Apply(t.Context(), func() hosts.Change { return step.plan(h) })
				if want := words.Replace(step.want); c.Status == hosts.Failed || !strings.Contains(c.Why, want) || want == "" && strings.Contains(c.Why, " too") {
					t.Errorf("%s: got %q, want %q", c.Status, c.Why, want)
				}
			}
		})
	}
}
