package mcpserver_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRecipeWithClaudeCode follows docs/http.md:
// a server for a folder of projects, Claude Code in one of them, and a model that passes no cwd.
func TestRecipeWithClaudeCode(t *testing.T) {
	t.Parallel()
	claude := claudeBinary(t, "the recipe of docs/http.md was not run with it")
	root := team(t, "p1", "p2")
	s := serve(t, root, nil, "--root", root)
	for _, project := range []string{"p1", "p2"} {
		home := t.TempDir()
		model := newStandIn(t,
			standInCall{"mcp__bmad__bmad-task", object{"action": "start", "objective": "Build a clock"}},
			standInCall{"mcp__bmad__bmad-task", object{"action": "status"}})
		run := func(args ...string) string {
			t.Helper()
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, claude, args...)
			cmd.Dir = filepath.Join(root, project)
			cmd.Env = standInEnv(model, home)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("claude %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		run("mcp", "add", "--transport", "http", "bmad", s.url)
		if out := run("mcp", "list"); !strings.Contains(out, "bmad: "+s.url) || !strings.Contains(out, "Connected") {
			t.Fatalf("claude mcp list: %s", out)
		}
		run("-p", "Use bmad-task to build a clock.", "--allowedTools", "mcp__bmad__bmad-task")
		if model.done != 2 || len(model.results) == 0 || !strings.Contains(model.results[0], filepath.Join(root, project)) {
			t.Fatalf("%d calls made, offered %v, results %.600q", model.done, model.offered, model.results)
		}
		if slices.Contains(model.offered, "mcp__bmad__bmad-confirm") {
			t.Error("bmad-confirm is offered over HTTP")
		}
		if got := holders(t, root); !slices.Contains(got, project) || slices.Contains(got, ".") {
			t.Errorf("it landed in %v", got)
		}
	}
}
