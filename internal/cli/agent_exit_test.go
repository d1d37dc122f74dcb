//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// TestAgentExitCodes holds the codes of work by a model.
func TestAgentExitCodes(t *testing.T) {
	ask := []string{"agent", "ask", "pm", "hello"}
	for name, c := range map[string]struct {
		steps []sdktest.Step
		args  []string
		code  int
		keys  []string
	}{
		"done":             {[]sdktest.Step{sdktest.Text("hi")}, ask, 0, []string{"costs", "documents", "id", "status", "text"}},
		"a question":       {[]sdktest.Step{sdktest.Call("ask_user", map[string]string{"question": "Who?"})}, ask, 6, []string{"costs", "documents", "id", "questions", "status"}},
		"no such agent":    {nil, []string{"agent", "ask", "nobody", "hello"}, 3, nil},
		"no such session":  {nil, []string{"agent", "resume", "nothing"}, 3, nil},
		"a bad limit":      {nil, append(ask, "--limit", "-1"), 2, nil},
		"too dear":         {nil, append(ask, "--limit", "0.0001"), 8, []string{"costs", "documents", "id", "problem", "status"}},
		"the server fails": {[]sdktest.Step{sdktest.Fail(400, "invalid_request_error", "\x1b[2Jno")}, ask, 9, []string{"costs", "documents", "id", "problem", "status"}},
		"it refuses":       {[]sdktest.Step{sdktest.Stop("refusal", "I will not.")}, ask, 9, []string{"costs", "documents", "id", "problem", "status"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			layout, err := txtar.ParseFile(filepath.Join("..", "method", "catalog", "testdata", "layouts", "v4.txtar"))
			if err == nil {
				err = txtar.Write(layout, w.project)
			}
			if err != nil {
				t.Fatal(err)
			}
			s := sdktest.New(t, c.steps...)
			t.Setenv("ANTHROPIC_API_KEY", testKey)
			t.Setenv("ANTHROPIC_BASE_URL", s.URL)
			r := w.run(t, "", append(c.args, "--json")...)
			if r.code != c.code || strings.ContainsRune(r.out, '\x1b') || strings.Contains(r.out, testKey) {
				t.Fatalf("%d, want %d: %s", r.code, c.code, r.out)
			}
			first, _, _ := strings.Cut(r.out, "\n")
			var out map[string]any
			if err := json.Unmarshal([]byte(first), &out); err != nil {
				t.Fatalf("%v in %s", err, first)
			}
			for _, key := range c.keys {
				if _, ok := out[key]; !ok {
					t.Errorf("no %q in %s", key, first)
				}
			}
			if c.keys != nil && len(out) != len(c.keys) {
				t.Errorf("%d keys in %s", len(out), first)
			}
			_, err = os.Stat(filepath.Join(w.project, ".bmad-task", "conversations"))
			if begun := err == nil; begun != (c.keys != nil) {
				t.Errorf("sessions saved: %t", begun)
			}
		})
	}
}
