package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// leanKeys are the keys of a reply as a model gets it.
func leanKeys(t *testing.T, r *engine.Reply) (keys map[string]json.RawMessage) {
	t.Helper()
	data, err := r.Lean().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

// always are the keys that every reply about a session has.
var always = []string{"session_id", "stage", "current_stage", "state", "current_state", "requires_user_confirmation", "interaction_type", "user_message", "pending_user_actions", "revision"}

// TestLeanReplies: a model gets once what stays the same, and never what it has just written; a
// program gets the whole reply; the person reads the same message either way.
func TestLeanReplies(t *testing.T) {
	b := newBench(t)
	whole := func(r *engine.Reply) string {
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := b.do(start("build a thing"))
	for _, key := range append([]string{"task_name", "cwd", "stage_description", "role_prompt", "engines", "gate_score", "next_call", "context"}, always...) {
		if _, has := leanKeys(t, first)[key]; !has {
			t.Errorf("the start lacks %s", key)
		}
	}
	asked := b.do(asking(70))
	keys := leanKeys(t, asked)
	for _, key := range []string{"task_name", "cwd", "stage_description", "iteration", "session_file"} {
		if _, has := keys[key]; has {
			t.Errorf("a submission is answered with %s", key)
		}
		if key != "session_file" && !strings.Contains(whole(asked), `"`+key+`"`) {
			t.Errorf("a program lacks %s", key)
		}
	}
	for _, key := range append([]string{"questions", "draft", "score", "audit", "gaps"}, always...) {
		if _, has := keys[key]; !has {
			t.Errorf("the reply to a submission lacks %s", key)
		}
	}
	if asked.Lean().UserMessage != asked.UserMessage || string(keys["draft"]) != `{"path":".bmad-task/work/build-a-thing/po.md"}` {
		t.Errorf("draft %s", keys["draft"])
	}
	answered := b.do(answered("us", "now", "retry"))
	if keys := leanKeys(t, answered); keys["gaps"] != nil || len(answered.Gaps) == 0 {
		t.Errorf("gaps come twice: %s", keys["gaps"])
	}
	if answered.NextCall["session_id"] != "build-a-thing" {
		t.Errorf("next_call names the session by %v", answered.NextCall["session_id"])
	}
	status := leanKeys(t, b.do(engine.Request{Action: workflow.ActionStatus, SessionID: "build-a-thing"}))
	for _, key := range append([]string{"task_name", "cwd", "stage_description", "gaps", "stages", "session_file", "iteration"}, always...) {
		if _, has := status[key]; !has {
			t.Errorf("the status lacks %s", key)
		}
	}
}

// TestGateShowsTheWholeAudit: where the person decides, the reply has every finding of the audit.
func TestGateShowsTheWholeAudit(t *testing.T) {
	b := newBench(t)
	b.do(start("build a thing"))
	r := b.at("po/awaiting_confirmation", submit(workflow.PO, "# P\n\nTBD, maybe fast.\n\nQuality Score: 95"))
	found := b.stored().Record(workflow.PO).Audit.Findings
	if len(found) < 3 || len(r.Lean().Audit.Findings) != len(found) {
		t.Fatalf("%d findings, shown %q", len(found), r.Audit.Findings)
	}
	for _, f := range found {
		if !slices.ContainsFunc(r.Audit.Findings, func(line string) bool { return strings.Contains(line, f.Problem[:min(len(f.Problem), 100)]) }) {
			t.Errorf("%q is not shown: %q", f.Problem, r.Audit.Findings)
		}
	}
}
