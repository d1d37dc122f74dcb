package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts/hook"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// TestHookReadsAsTheServer checks that the hook of Claude Code holds up a call in the turn of its
// draft if, and only if, the server would open the gate by it.
func TestHookReadsAsTheServer(t *testing.T) {
	c := launch(t, t.TempDir(), mcpserver.Launch{Protocol: "2025-06-18"})
	turn := hook.Turn{}.After(hook.Event{Name: "PostToolUse", Tool: "mcp__bmad__bmad-task", Input: json.RawMessage(`{"action":"submit","stage":"po"}`)})
	opened := 0
	for i, args := range []string{
		`{"action":"confirm"}`, `{"action":"confirm_save"}`, `{"action":"confirm","confirmed":true}`, `{"action":"confirm","confirmed":"true"}`, `{"action":"confirm_save","confirmed":"true"}`,
		`{"action":"confirm","confirmed":false,"confirmed":true}`, `{"action":"status","action":"confirm"}`, `"{\"action\":\"confirm\"}"`, `"{\"action\":\"confirm\",\"confirmed\":\"true\"}"`, `{"action":"\u0063onfirm"}`,
		`{"action":"confirm","confirmed":"true","feedback":null}`, `{"action":"confirm","sprints":null}`, `{ "confirmed" : "true" , "action" : "confirm" , "stage" : "po" }`,
		`{"action":"confirm","confirmed":false}`, `{"action":"confirm","confirmed":"false"}`, `{"action":"confirm","confirmed":true,"confirmed":false}`, `{"action":"confirm","action":"status"}`,
		`{"action":"confirm","confirmed":"True"}`, `{"action":"confirm","confirmed":"yes"}`, `{"action":"confirm","confirmed":1}`, `{"action":"confirm","confirmed":"1"}`, `{"action":"confirm","confirmed":[true]}`,
		`{"action":"confirm","confirmed":{"confirmed":true}}`, `{"action":"confirm","confirmed":null}`, `{"action":"confirm","Confirmed":true}`, `{"Action":"confirm"}`, `{"action":"Confirm"}`, `{"action":" confirm"}`,
		`{"action":["confirm"]}`, `{"action":"confirm","approved":true}`, `{"action":"confirm","wait":5}`, `{"action":"confirm","decision":"approve"}`, `[{"action":"confirm"}]`, `{"args":{"action":"confirm"}}`, `{}`,
	} {
		task := fmt.Sprintf("clock-%d", i)
		call(t, c, object{"action": "start", "objective": "Build a clock", "task_name": task})
		if reply, refused := call(t, c, object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# Clock","quality_score":95}`}); refused || reply["state"] != "awaiting_confirmation" {
			t.Fatalf("%s: no gate: %v", args, reply)
		}
		held := turn.Refuse(hook.Event{Name: "PreToolUse", Tool: "mcp__bmad__bmad-task", Input: json.RawMessage(args)}) != ""
		call(t, c, json.RawMessage(args))
		now, _ := call(t, c, object{"action": "status"})
		opens := now["stage"] == "architect"
		if opens != held {
			t.Errorf("%s: opens the gate: %v, is held up: %v", args, opens, held)
		}
		if opens {
			opened++
		}
		if reply, refused := call(t, c, object{"action": "cancel"}); refused {
			t.Fatalf("%s: %v", args, reply)
		}
	}
	if opened < 10 {
		t.Errorf("only %d of the calls open a gate", opened)
	}
}
