//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// event is the event that Claude Code reports when the person types a command.
func (w world) event(t *testing.T, command, arguments, cwd string) string {
	t.Helper()
	data, err := json.Marshal(map[string]string{
		"session_id": "s1", "prompt_id": "p1", "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
		"command_name": command, "command_args": arguments, "command_source": "plugin", "prompt": "/" + command, "cwd": cwd,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// confirms is the assistant's call, over MCP.
func (w world) confirms(t *testing.T) string {
	t.Helper()
	return w.run(t, strings.Replace(greeting, `{"action":"status"}`, `{"action":"confirm","confirmed":true,"session_id":"x"}`, 1)).out
}

// TestTypedThroughTheHook plays it from the event of the host to the log.
func TestTypedThroughTheHook(t *testing.T) {
	for name, c := range map[string]struct {
		command, arguments, below, want string
	}{
		"typed":                      {"bmad:confirm", "", ".", "typed in the host"},
		"typed, with the task":       {"bmad:confirm", "x", ".", "typed in the host"},
		"typed in a folder below":    {"bmad:confirm", "", "docs", "typed in the host"},
		"another task":               {"bmad:confirm", "y", ".", "passed on by the assistant"},
		"another command":            {"bmad:status", "", ".", "passed on by the assistant"},
		"a no":                       {"bmad:reject", "", ".", "passed on by the assistant"},
		"for what waits elsewhere":   {"bmad:approve", "", ".", "passed on by the assistant"},
		"another plugin's":           {"other:confirm", "", ".", "passed on by the assistant"},
		"somewhere else":             {"bmad:confirm", "", "../home", "passed on by the assistant"},
		"a folder that is not named": {"bmad:confirm", "", "", "passed on by the assistant"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if err := os.Mkdir(filepath.Join(w.project, "docs"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.must(t, "task", "start", "x")
			w.must(t, "task", "submit", "--stage", "po", "--claude-result", "# Requirements\n\nQuality Score: 95")
			cwd := ""
			if c.below != "" {
				cwd = filepath.Join(w.project, c.below)
			}
			if r := w.run(t, w.event(t, c.command, c.arguments, cwd), "hook", "claude-code"); r.out != "" || r.code != 0 {
				t.Fatalf("%d %s", r.code, r.out)
			}
			if got := w.confirms(t); !strings.Contains(got, "architect") {
				t.Fatal(got)
			}
			log := w.run(t, "", "log", "x").out
			if !strings.Contains(log, c.want) || (c.want == "passed on by the assistant") == strings.Contains(log, "typed") {
				t.Errorf("the log does not say %q:\n%s", c.want, log)
			}
		})
	}
}
