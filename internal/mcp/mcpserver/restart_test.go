package mcpserver_test

import (
	"fmt"
	"testing"
)

// TestRunGoesOnAfterARestart ends the server after every step: the next one finds the session as
// it was, by its task name or as the only one.
func TestRunGoesOnAfterARestart(t *testing.T) {
	dir := t.TempDir()
	for i, step := range []struct {
		args  object
		place string
	}{
		{object{"action": "start", "objective": "Build a sign-in service"}, "po/generating"},
		{object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# P","quality_score":70,"questions":["Who?"]}`}, "po/clarifying"},
		{object{"action": "answer", "answers": object{"q1": "us"}, "session_id": "build-a-sign-in-service"}, "po/refining"},
		{object{"action": "submit", "stage": "po", "claude_result": `{"prd_updated":"# P","quality_score":95}`}, "po/awaiting_confirmation"},
		{object{"action": "status"}, "po/awaiting_confirmation"},
		{object{"action": "confirm"}, "architect/generating"},
		{object{"action": "resume"}, "architect/generating"},
	} {
		c := connect(t, dir, "2025-06-18")
		reply, refused := call(t, c, step.args)
		if at := fmt.Sprint(reply["stage"], "/", reply["state"]); refused || at != step.place {
			t.Fatalf("step %d, %v: at %s, want %s: %v", i, step.args["action"], at, step.place, reply)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
