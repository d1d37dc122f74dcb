package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// TestRunOfAHostThatSendsTexts takes a run whose host sends each value as text. What can mean one
// thing only is taken; everything else is refused, and decides nothing.
func TestRunOfAHostThatSendsTexts(t *testing.T) {
	c := connect(t, t.TempDir(), "2025-06-18")
	for i, step := range []struct {
		args any
		// place is that of the session afterwards; refused is the error of a refusal.
		place, refused string
	}{
		{args: object{"action": "start", "objective": "Build a sign-in service"}, place: "po/generating"},
		{args: object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# P","quality_score":70,"questions":["Who?","Why?"]}`}, place: "po/clarifying"},
		{args: object{"action": "answer", "answers": "q1: us"}, refused: "answers must be an object"},
		{args: object{"action": "answer", "answers": `{"q1": 1}`}, refused: "answers must be an object"},
		{args: object{"action": "answer", "answers": "{\"q1\": \"us\", \"q2\": \"{\\\"a\\\": 1}\"}", "revision": "2"}, place: "po/refining"},
		{args: object{"action": "submit", "stage": "po", "claude_result": `{"prd_updated":"# P","quality_score":95}`}, place: "po/awaiting_confirmation"},
		{args: object{"action": "confirm", "confirmed": "yes"}, refused: "confirmed must be true or false, not a text"},
		{args: object{"action": "confirm", "confirmed": " true"}, refused: "confirmed must be true or false, not a text"},
		{args: object{"action": "confirm", "confirmed": "true", "revision": "1"}, refused: "another call came first"},
		{args: object{"action": "confirm", "confirmed": "true", "revision": "4"}, place: "architect/generating"},
		{args: object{"action": "submit", "stage": "architect", "codex_result": "# A\nQuality Score: 91/100"}, place: "architect/awaiting_confirmation"},
		{args: object{"action": "confirm", "confirmed": "false", "feedback": "again"}, place: "architect/refining"},
		{args: object{"action": "submit", "stage": "architect", "codex_result": "# A 2\nQuality Score: 92/100"}, place: "architect/awaiting_confirmation"},
		{args: object{"action": "confirm"}, place: "sm/generating"},
		{args: object{"action": "submit", "stage": "sm", "claude_result": "## Sprint 1: one\n\n## Sprint 2: two"}, place: "sm/awaiting_approval"},
		{args: object{"action": "approve", "approved": "1"}, refused: "approved must be true or false, not a text"},
		{args: object{"action": "approve", "approved": "true"}, place: "dev/generating"},
		{args: object{"action": "submit", "stage": "dev", "codex_result": "# D", "sprints": "Sprint 1"}, refused: "sprints must be a list of whole numbers"},
		{args: object{"action": "submit", "stage": "dev", "codex_result": "# D", "sprints": []any{"1.0"}}, refused: "sprints must be a list of whole numbers"},
		{args: object{"action": "submit", "stage": "dev", "codex_result": "# D", "sprints": `["1", 2]`}, place: "review/generating"},
		{args: `{"action": "status"}`, place: "review/generating"},
	} {
		reply, refused := call(t, c, step.args)
		at, why := fmt.Sprint(reply["stage"], "/", reply["state"]), fmt.Sprint(reply["error"])
		if refused != (step.refused != "") || !refused && at != step.place || refused && (!strings.Contains(why, step.refused) || reply["hint"] == "") {
			t.Fatalf("step %d, %v: at %s, %v", i, step.args, at, reply)
		}
	}
}

// TestMethodTakesTexts checks that the tools of the method read an object that comes as text like
// the object.
func TestMethodTakesTexts(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	c, err := mcpserver.Connect(context.Background(), mcpserver.Launch{Command: binary, Dir: dir, Env: isolatedEnv(t, "BMAD_TOOLSETS=method,method-classic,agents")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ask := func(tool string, args any) string {
		text, refused, err := c.Call(context.Background(), tool, args)
		if err != nil || refused {
			t.Fatalf("%s %v: %v, %s", tool, args, err, text)
		}
		return text
	}
	for tool, item := range map[string]string{"execute_workflow": "workflow_name", "bmad-workflow": "workflow"} {
		words := map[string]string{"execute_workflow": "params", "bmad-workflow": "context"}[tool]
		as := func(v any) string { return ask(tool, object{item: "dev-story", words: v}) }
		if want := as(object{"story": "1.2"}); as(`{"story":"1.2"}`) != want || !strings.Contains(want, `{"story":"1.2"}`) {
			t.Errorf("%s reads an object in another way than its text:\n%s", tool, want)
		}
	}
	if got := ask("execute_workflow", object{"workflow_name": "dev-story", "params": "story 1.2"}); !strings.Contains(got, "story 1.2") {
		t.Errorf("words are not taken as they are:\n%s", got)
	}
	if got := ask("bmm-analyst", `{"message": "half an idea"}`); !strings.Contains(got, "half an idea") {
		t.Error(got)
	}
	if got := ask("list_workflows", `{"module": "cis"}`); !strings.Contains(got, "cis") {
		t.Error(got)
	}
}
