package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// TestOnlyThePersonNamesTheStore: a repository must not send documents to a stranger's database, and nothing says
// the password.
func TestOnlyThePersonNamesTheStore(t *testing.T) {
	load := func(user, own string, environ ...string) (config.Config, error) {
		t.Helper()
		folder := t.TempDir()
		for name, text := range map[string]string{filepath.Join("user", filepath.FromSlash(config.UserFile)): user, filepath.Join("p", config.ProjectFile): own} {
			name = filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dir, err := durable.OpenDir(filepath.Join(folder, "p"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = dir.Close() }()
		return config.Source{UserFolder: filepath.Join(folder, "user"), Environ: environ}.Load(dir)
	}
	const address = "postgres://me:s3cret@h1:5432,h2:5433/bmad"
	for name, tt := range map[string]struct {
		user, own, environ string
		want, project      string
	}{
		"the person's file": {user: "store: " + address + "\nproject: tracker\n", want: address, project: "tracker"},
		"a variable":        {environ: "BMAD_STORE=" + address, want: address},
		"the project's":     {own: "store: " + address + "\nproject: tracker\n"},
		"both":              {user: "store: " + address + "\n", own: "store: postgres://evil/x\n", want: address},
	} {
		c, err := load(tt.user, tt.own, tt.environ)
		if err != nil || c.Store != (config.Store{Address: tt.want, Project: tt.project}) {
			t.Errorf("%s: got %+v, %v", name, c.Store, err)
		}
		if tt.own != "" && len(c.Ignored) == 0 {
			t.Errorf("%s: nothing says that it does not count", name)
		}
		if said := fmt.Sprint(c.Ignored, c.Effective()); strings.Contains(said, "s3cret") {
			t.Errorf("%s: it says %s", name, said)
		}
	}
	for own, want := range map[string]config.Store{
		"store: required\n": {Required: true}, "store: Required\n": {Required: true}, `store: "required"` + "\n": {Required: true}, "gate: auto\n": {},
	} {
		if c, err := load("", own); err != nil || c.Store != want || len(c.Ignored) > 0 {
			t.Errorf("%q: %+v, %v, %v", own, c.Store, c.Ignored, err)
		}
		c, err := load("", own, "BMAD_STORE="+address)
		if want.Address = address; err != nil || c.Store != want || c.Origin("store").Kind != config.FromVariable {
			t.Errorf("%q, with a variable: %+v of %v, %v", own, c.Store, c.Origin("store"), err)
		}
	}
	for _, typing := range []string{"requierd", "true", "no", "s3cret"} {
		if _, err := load("", "store: "+typing+"\n"); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), `"required"`) {
			t.Errorf("%s: %v", typing, err)
		}
	}
	for _, wrong := range []string{"store: required\n", "store: s3cret\n", "store: mysql://me:s3cret@h/x\n", "project: \"a b\"\n"} {
		if _, err := load(wrong, ""); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
}
