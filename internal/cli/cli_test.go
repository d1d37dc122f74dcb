package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"bmad-mcp/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bmad-mcp": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script/*.txtar against the program. -update rewrites
// what the scripts compare with.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("TZ", "UTC")
			// Submissions stand in the scripts' project, as paths must be inside it.
			from := filepath.Join("..", "..", "testdata", "submissions", "webhook-relay")
			entries, err := os.ReadDir(from)
			if err != nil {
				return err
			}
			to := filepath.Join(env.WorkDir, "project", "drafts")
			if err := os.MkdirAll(to, 0o750); err != nil {
				return err
			}
			for _, e := range entries {
				data, err := os.ReadFile(filepath.Join(from, e.Name()))
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
