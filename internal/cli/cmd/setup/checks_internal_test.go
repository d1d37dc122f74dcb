package setup

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
)

// TestDashboardHealth: the dashboard shows the findings of doctor and projects, in its reader's
// language; files of the project are checked only when asked for, and nothing is repaired.
func TestDashboardHealth(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, home)
	}
	t.Chdir(folder)
	broken := filepath.Join(folder, ".bmad-task", "session-00000001-0000-4000-8000-000000000000.json")
	if err := os.MkdirAll(filepath.Dir(broken), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := app.New(terminal.New(strings.NewReader(""), io.Discard, io.Discard))
	if err := a.SetUp(); err != nil {
		t.Fatal(err)
	}
	before := filesIn(t, folder)
	health := Health(func(folder string, l lang.Language) Upkeep {
		there := a.For(folder, l)
		return Upkeep{Term: there.Terminal, Tasks: there.Tasks, Databases: there.Databases, Parts: there.Parts, WithBook: there.WithBook}
	})
	quick, err := health(t.Context(), lang.English, folder, false)
	if err != nil {
		t.Fatal(err)
	}
	names := func(h web.Health) (out []string) {
		for _, c := range h.Checks {
			out = append(out, c.Name)
		}
		return out
	}
	if got := names(quick); !slices.Equal(got, []string{"program", "hosts", "account", "folders"}) || !strings.HasPrefix(quick.UserFile, home) {
		t.Errorf("got %q, %s", got, quick.UserFile)
	}
	whole, err := health(t.Context(), lang.Language("zh"), folder, true)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(whole.Checks, func(c web.Check) bool { return c.Status == "problem" })
	if i < 0 || whole.Checks[i].Name != "sessions" || len(whole.Checks[i].Items) != 1 || !strings.Contains(whole.Checks[i].Items[0], "会话") {
		t.Errorf("got %+v", whole.Checks)
	}
	if after := filesIn(t, folder); !slices.Equal(before, after) {
		t.Errorf("the files were %q, and are %q", before, after)
	}
	if a.Terminal.Lang != lang.English || a.Tasks.Cwd != "" {
		t.Errorf("the program now speaks %s, in %q", a.Terminal.Lang, a.Tasks.Cwd)
	}
}

// filesIn lists the files below a folder.
func filesIn(t *testing.T, folder string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
