package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// TestConfirmToolIsListedForHostsThatAsk, and cannot be called by others.
func TestConfirmToolIsListedForHostsThatAsk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, version, setting string
		listed                 bool
	}{
		{"claude-code", "2.1.199", "", true},
		{"claude-code", "2.1.329", "", true},
		{"claude-code", "3.0.0-beta.1", "", true},
		{"claude-code", "2.1.198", "", false},
		{"claude-code", "2.1", "", false},
		{"claude-code", "", "", false},
		{"codex", "9.9.9", "", false},
		{"codex", "0.1", alwaysAsks, true},
		{"claude-code", "2.1.329", "BMAD_HOST_CONFIRM=never", false},
	} {
		for _, protocol := range protocols {
			t.Run(fmt.Sprint(tt.name, tt.version, tt.setting, protocol), func(t *testing.T) {
				t.Parallel()
				c := launch(t, t.TempDir(), mcpserver.Launch{Protocol: protocol, Name: tt.name, Version: tt.version}, tt.setting)
				tools, err := c.Tools(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if got := slices.Contains(tools, mcpserver.ConfirmTool); got != tt.listed || !slices.Contains(tools, mcpserver.TaskTool) {
					t.Errorf("tools %v", tools)
				}
				gateOf(t, c)
				_, _, err = c.Call(context.Background(), mcpserver.ConfirmTool, object{"session_id": "x"})
				if called := err == nil; called != tt.listed {
					t.Errorf("called: %v", err)
				}
			})
		}
	}
}

func confirmCall(t *testing.T, c *mcpserver.Client, args object) (object, bool) {
	t.Helper()
	text, refused, err := c.Call(context.Background(), mcpserver.ConfirmTool, args)
	if err != nil {
		t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out, refused
}

// TestHostConfirmed decides at a strict gate by the tool that the host asks about.
func TestHostConfirmed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := launch(t, dir, mcpserver.Launch{Name: "claude-code", Version: "2.1.329"}, "BMAD_GATE=strict")
	reply := gateOf(t, c)
	draft := reply["draft"].(object)
	if !strings.Contains(fmt.Sprint(reply["user_message"]), "bmad-confirm") {
		t.Errorf("the way is not named: %v", reply["user_message"])
	}
	good := object{"session_id": "x", "stage": "po", "decision": "approve", "sha256": draft["sha256"]}
	with := func(key string, value any) object {
		out := object{}
		for k, v := range good {
			out[k] = v
		}
		if out[key] = value; value == nil {
			delete(out, key)
		}
		return out
	}
	for _, tt := range []struct {
		args       object
		code, want string
	}{
		{with("sha256", strings.Repeat("0", 64)), "conflict", "not the one this decision is for"},
		{with("sha256", nil), "invalid_argument", "sha256 is missing"},
		{with("decision", "yes"), "invalid_argument", "none of approve, request_changes"},
		{with("decision", true), "invalid_argument", "decision must be a text, not true or false"},
		{with("stage", "architect"), "wrong_stage", ""},
		{with("more", 1), "invalid_argument", `unknown argument "more"`},
		{with("session_id", "nobody"), "not_found", ""},
	} {
		if reply, refused := confirmCall(t, c, tt.args); !refused || reply["code"] != tt.code || !strings.Contains(fmt.Sprint(reply["error"]), tt.want) {
			t.Errorf("%v: %v", tt.args, reply)
		}
	}
	if reply, refused := call(t, c, object{"action": "confirm", "confirmed": true}); !refused || reply["code"] != "gate_pending" || !strings.Contains(fmt.Sprint(reply["hint"]), "bmad-confirm") {
		t.Errorf("the assistant's word counted: %v", reply)
	}
	reply, refused := confirmCall(t, c, good)
	if refused || reply["stage"] != "architect" {
		t.Fatalf("%v", reply)
	}
	grant := lastEntry(t, dir)["grant"].(object)
	if grant["channel"] != "host_confirmed" || grant["assurance"] != "medium" || grant["policy"] != "strict" || grant["took_ms"] != nil {
		t.Errorf("%v", grant)
	}
	if reply, refused := confirmCall(t, c, good); !refused || reply["code"] != "not_allowed" {
		t.Errorf("a second time: %v", reply)
	}
	call(t, c, object{"action": "submit", "stage": "architect", "claude_result": "# A\nQuality Score: 99"})
	reply, _ = call(t, c, object{"action": "status"})
	back := object{"session_id": "x", "stage": "architect", "decision": "request_changes", "sha256": reply["draft"].(object)["sha256"], "feedback": "smaller"}
	if reply, refused := confirmCall(t, c, back); refused || reply["state"] != "refining" || reply["context"].(object)["feedback"] != "smaller" {
		t.Errorf("%v", reply)
	}
}

// TestConfirmToolOverHTTP checks that over a network a program's word for its name lists nothing; a
// person who knows their hosts can say always.
func TestConfirmToolOverHTTP(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		setting string
		listed  bool
	}{{"", false}, {"auto", false}, {"never", false}, {"always", true}} {
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,modern=%v", tt.setting, modern), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				setting := "BMAD_HOST_CONFIRM=" + tt.setting
				if tt.setting == "always" {
					setting = alwaysAsks
				}
				s := serveInside(t, dir, []string{"BMAD_GATE=strict", setting})
				p := (&speaker{s: s, modern: modern}).greet()
				p.waiting()
				before := sessionFile(t, dir)
				reply := p.task(object{"action": "status"}) // it has forms, which go first
				if gate, _ := reply["gate"].(object); gate["ask_by_host"] == true {
					t.Errorf("gate %v", gate)
				}
				m, _ := p.call("bmad-confirm", object{"session_id": "build-a-clock", "stage": "po", "decision": "approve", "sha256": draftHash(t, dir)}, nil)
				if done := replyIn(m)["current_stage"] == "architect"; done != tt.listed {
					t.Errorf("decided: %v, %v", done, m)
				}
				if changed := sessionFile(t, dir) != before; changed != tt.listed {
					t.Errorf("changed: %v", changed)
				}
			})
		}
	}
}
