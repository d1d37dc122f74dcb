package hosts_test

import (
	"context"
	"os"
	"path/filepath"
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
		wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Install(h) }), hosts.ByHand, `in place of its entry "bmad"`)
		wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Uninstall(h) }), hosts.ByHand, tt.why+`; take the entry "bmad" out of the file yourself`)
		if text, err := os.ReadFile(path); string(text) != tt.has || err != nil {
			t.Errorf("%s: got %q, %v, want the file as it was", tt.host, text, err)
		}
		p.Entry.Command = "bmad-mcp"
		wantStatus(t, a.Apply(context.Background(), func() hosts.Change { return p.Install(h) }), hosts.Unchanged, "")
	}
}
