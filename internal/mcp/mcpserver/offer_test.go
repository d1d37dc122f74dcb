package mcpserver_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// TestOfferByForm checks that the form at a plan's gate offers to run the project's tests, and what takes the offer: the
// person's choice of it alone, while the project is as it was shown.
func TestOfferByForm(t *testing.T) {
	t.Parallel()
	const shown, other = `{"scripts": {"test": "node --test"}}`, `{"scripts": {"test": "rm -rf ."}}`
	for name, tt := range map[string]struct {
		host    string
		title   string // the choice by its text
		written string // package.json, while the form is open
		said    object
		after   time.Duration
		state   string // "" if the call is refused
		command string // that of the run, afterwards
	}{
		"taken":                {title: "Approve, and let the server run `npm test` at Dev and QA", after: person, state: "generating", command: "npm test"},
		"taken, little room":   {host: "claude-code", title: "Approve, and run `npm test`", after: person, state: "generating", command: "npm test"},
		"a plain yes":          {title: "Approve: save it and go on", after: person, state: "generating"},
		"a no":                 {title: "Not now: leave it as it is", after: person, state: "awaiting_approval"},
		"changed meanwhile":    {title: "Approve, and let the server run `npm test` at Dev and QA", written: other, after: person},
		"gone meanwhile":       {title: "Approve, and let the server run `npm test` at Dev and QA", written: "{}", after: person},
		"a yes, and a change":  {title: "Approve: save it and go on", written: other, after: person, state: "generating"},
		"at once, by the host": {title: "Approve, and let the server run `npm test` at Dev and QA", said: object{"approved": true}, after: soon, state: "generating"},
	} {
		inBubble(t, name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(text string) {
				if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			server := insideServer{project: dir, state: t.TempDir()}
			c := server.connect(t, mcpserver.Launch{Name: cmp.Or(tt.host, "host"), Form: func(_ context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
				if tt.written != "" {
					write(tt.written)
				}
				time.Sleep(tt.after)
				return mcpserver.FormAnswer{Action: "accept", Content: object{"decision": valueOf(t, f, tt.title)}}, nil
			}})
			planGate(t, server.connect(t, mcpserver.Launch{}))
			write(shown)
			args := object{"action": "approve"}
			for k, v := range tt.said {
				args[k] = v
			}
			before := sessionFile(t, dir)
			reply, refused := call(t, c, args)
			if tt.state == "" {
				if !refused || reply["code"] != "conflict" || !strings.Contains(fmt.Sprint(reply["error"]), "what `npm test` runs has changed") || sessionFile(t, dir) != before {
					t.Fatalf("not refused: %v", reply)
				}
				return
			}
			if refused || reply["state"] != tt.state {
				t.Fatalf("got %v, want %s", reply, tt.state)
			}
			var got []string
			verify, _ := lastEntry(t, dir)["verify"].(object)
			for _, stage := range []string{"dev", "qa"} {
				if kept, ok := verify[stage].(object); ok {
					got = append(got, fmt.Sprint(kept["command"], " ", kept["set_by"]))
				}
			}
			want := ""
			if tt.command != "" {
				want = tt.command + " gate, " + tt.command + " gate"
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("the commands of the run are %q, want %q", got, want)
			}
		})
	}
}

// planGate takes a new session to the gate of the plan.
func planGate(t testing.TB, c *mcpserver.Client) {
	t.Helper()
	call(t, c, object{"action": "start", "objective": "x"})
	for _, stage := range []string{"po", "architect"} {
		call(t, c, object{"action": "submit", "stage": stage, "claude_result": "# D\nQuality Score: 95"})
		call(t, c, object{"action": "confirm", "confirmed": true})
	}
	if reply, refused := call(t, c, object{"action": "submit", "stage": "sm", "claude_result": "# S\n## Sprint 1: one"}); refused || reply["state"] != "awaiting_approval" {
		t.Fatalf("no gate: %v", reply)
	}
}

// valueOf returns the value of the choice with a text.
func valueOf(t testing.TB, f mcpserver.Form, title string) string {
	t.Helper()
	field := f.Schema["properties"].(object)["decision"].(object)
	choices, _ := field["oneOf"].([]any)
	for _, c := range choices {
		if c.(object)["title"] == title {
			return fmt.Sprint(c.(object)["const"])
		}
	}
	t.Errorf("the form does not offer %q: %v", title, field)
	return ""
}
