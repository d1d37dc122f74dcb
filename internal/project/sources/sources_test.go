package sources_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/project/sources"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// TestRepositories: each repository that the person has added or configured is listed once, and a
// project's own only after they have allowed it.
func TestRepositories(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const added, own = "git+https://example.org/a/method.git", "git+https://example.org/b/method.git"
	write(filepath.Join(home, "config", filepath.FromSlash(config.UserFile)), "sources:\n  - "+added+"\n")
	write(filepath.Join(project, filepath.FromSlash(config.ProjectFile)), "sources:\n  - "+own+"\n")
	state := trust.UserState(filepath.Join(home, "state"))
	r := sources.Repositories{
		Settings: config.Source{UserFolder: filepath.Join(home, "config")}, State: state,
		Open: durable.OpenDir, Now: func() time.Time { return time.Unix(0, 0).UTC() },
	}
	ctx := context.Background()
	if _, err := state.AddSource(ctx, trust.Source{URL: added, AddedAt: r.Now()}, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	list := func() (out []string, problems string) {
		remotes, left := r.Of(project)
		for n, name := range sources.Names(remotes) {
			out = append(out, name+" "+remotes[n].From)
		}
		return out, lang.Join(left, "\n").String()
	}
	got, problems := list()
	if want := []string{"git-method added"}; !reflect.DeepEqual(got, want) || !strings.Contains(problems, "once you have allowed it") {
		t.Errorf("before it is allowed: got %q, problems %q, want %q and one problem", got, problems, want)
	}
	if _, err := r.Find(project, "git-method-2"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a repository that does not count: got %v, want not_found", err)
	}
	if err := state.Allow(ctx, trust.Allowance{Project: project, Kind: trust.KindSource, Text: own}); err != nil {
		t.Fatal(err)
	}
	got, problems = list()
	if want := []string{"git-method added", "git-method-2 project"}; !reflect.DeepEqual(got, want) || problems != "" {
		t.Errorf("once allowed: got %q, problems %q, want %q", got, problems, want)
	}
	one, err := r.Select(project, "git-method-2")
	if err != nil || len(one) != 1 || one[0].Spec.String() != own {
		t.Errorf("selected by name: got %v, %v, want %s", one, err, own)
	}
	if _, err := r.Remove(ctx, project, "git-method-2"); !fault.Is(err, fault.NotFound) {
		t.Errorf("removing one that the project names: got %v, want not_found", err)
	}
	if spec, err := r.Remove(ctx, project, added); err != nil || spec.String() != added {
		t.Errorf("removing an added one: got %v, %v, want %s", spec, err, added)
	}
	if got, _ := list(); !reflect.DeepEqual(got, []string{"git-method settings", "git-method-2 project"}) {
		t.Errorf("after it was removed: got %q, want that of the settings to count", got)
	}
	// The folder of the project's settings is missing: the nearest above it is watched.
	if got := r.SettingsFolders(filepath.Join(project, "none")); len(got) != 3 || got[2] != project {
		t.Errorf("folders of settings: got %q, want the last to be %s", got, project)
	}
}
