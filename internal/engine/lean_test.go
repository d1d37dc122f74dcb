package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// leanKeys returns the keys of a reply as a model gets it.
func leanKeys(t *testing.T, r *reply.Reply) (keys map[string]json.RawMessage) {
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

// TestLeanReplies checks that a model gets constant texts once, and never the text that it has just
// written; a program gets the whole reply; the person reads the same message either way.
func TestLeanReplies(t *testing.T) {
	b := newBench(t)
	whole := func(r *reply.Reply) string {
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
	answered := b.do(answerTexts("us", "now", "retry"))
	if keys := leanKeys(t, answered); keys["gaps"] != nil || len(answered.Gaps) == 0 {
		t.Errorf("gaps come twice: %s", keys["gaps"])
	}
	status := leanKeys(t, b.do(request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "build-a-thing"}}))
	for _, key := range append([]string{"task_name", "cwd", "stage_description", "gaps", "stages", "session_file", "iteration"}, always...) {
		if _, has := status[key]; !has {
			t.Errorf("the status lacks %s", key)
		}
	}
}

// TestSparingReplies takes a run of a client that has declared that it needs nothing twice: what it lacks,
// the other keys say; a program gets the whole reply.
func TestSparingReplies(t *testing.T) {
	b := newBench(t)
	b.settings("replies: lean")
	dropped := []string{"current_stage", "current_state", "interaction_type", "stage_description", "engines"}
	ask := request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "x"}}
	failed := "# R\n\n```json\n" + `{"no_checks": "none", "findings": [{"id": "R1", "severity": "critical", "problem": "data is lost", "status": "open"}]}` + "\n```"
	for i, step := range []struct {
		req   request.Request
		place string
		waits bool
		has   string // keys that this reply keeps, and another may not
		lacks string
	}{
		{start("x"), "po/generating", false, "session_id task_name", ""},
		{submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"questions":["Who?"]}`), "po/clarifying", true, "gaps", "questions draft session_id"},
		{ask, "po/clarifying", true, "questions draft task_name", "session_id"},
		{answerTexts("us"), "po/refining", false, "draft role_prompt", ""},
		{submit(workflow.PO, `{"prd_draft":"# P, again","quality_score":95}`), "po/awaiting_confirmation", true, "score", "pending_user_actions"},
		{confirm(true), "architect/generating", false, "role_prompt", "artifact_path"},
		{submit(workflow.Architect, "# A\n\nQuality Score: 95"), "architect/awaiting_confirmation", true, "audit", "draft"},
		{confirm(true), "sm/generating", false, "role_prompt", ""},
		{submit(workflow.SM, "# S\n\n## Sprint 1: one"), "sm/awaiting_approval", true, "revision", ""},
		{approve(true, ""), "dev/generating", true, "role_prompt sprints", ""},
		{submit(workflow.Dev, "# D"), "review/generating", false, "", ""},
		{submit(workflow.Review, failed), "review/awaiting_approval", true, "findings verdict", ""},
		{approve(false, "mend it"), "dev/refining", false, "findings draft", ""},
	} {
		r := b.at(step.place, step.req)
		keys, next := leanKeys(t, r), r.NextCall
		stage, state, _ := strings.Cut(step.place, "/")
		if string(keys["stage"]) != `"`+stage+`"` || string(keys["state"]) != `"`+state+`"` {
			t.Errorf("step %d: got %s, %s, want %s", i, keys["stage"], keys["state"], step.place)
		}
		if waits := string(keys["requires_user_confirmation"]) == "true"; waits != step.waits || !waits && keys["requires_user_confirmation"] != nil {
			t.Errorf("step %d, %s: waits is %s, want %v", i, step.place, keys["requires_user_confirmation"], step.waits)
		}
		if next["session_id"] != b.session || keys["user_message"] == nil || keys["next_call"] == nil {
			t.Errorf("step %d, %s: cannot go on: %v", i, step.place, keys)
		}
		for _, key := range append(strings.Fields(step.lacks), dropped...) {
			if keys[key] != nil {
				t.Errorf("step %d, %s: it has %s", i, step.place, key)
			}
		}
		for _, key := range strings.Fields(step.has) {
			if keys[key] == nil {
				t.Errorf("step %d, %s: it lacks %s", i, step.place, key)
			}
		}
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range always {
			if !strings.Contains(string(data), `"`+key+`":`) {
				t.Errorf("step %d, %s: a program lacks %s", i, step.place, key)
			}
		}
	}
	other := newBench(t)
	other.settings("replies: lean")
	other.do(start("x"))
	if got := string(leanKeys(t, other.at("po/clarifying", asking(95)))["pending_user_actions"]); got != `["answer_questions","confirm"]` {
		t.Errorf("a choice that the state does not have: %s", got)
	}
}

// TestGateShowsTheWholeAudit checks that if the person decides, the reply has every finding of the
// audit.
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

// TestHandle checks that the next call names a session by its task name if nothing else can have
// it; a person's word goes by the id.
func TestHandle(t *testing.T) {
	here, there := newBench(t), newBench(t)
	there.state, there.ids = here.state, 50
	there.restart()
	first := here.do(start("build a thing"))
	second := there.do(start("build a thing"))
	places := []string{here.dir, there.dir}
	handle := func(r *reply.Reply) any { return r.NextCall["session_id"] }
	at := func(b *bench, req request.Request, id string, places ...string) *reply.Reply {
		t.Helper()
		req.Places, req.Session = places, id
		r, err := b.try(req)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	status := request.Request{Action: workflow.ActionStatus}
	if got := handle(first); got != first.SessionID {
		t.Errorf("a call with a folder of its own: %v", got)
	}
	if got := handle(at(here, status, first.SessionID, here.dir)); got != "build-a-thing" {
		t.Errorf("the only folder: %v", got)
	}
	if got := handle(at(here, status, second.SessionID, places...)); got != second.SessionID {
		t.Errorf("the second of two folders: %v", got)
	}
	several := status
	several.Several = true
	if got := handle(at(here, several, first.SessionID, here.dir)); got != first.SessionID {
		t.Errorf("a caller with several folders: %v", got)
	}
	gate := at(here, submit(workflow.PO, "# P\nQuality Score: 95"), first.SessionID, here.dir)
	if got := handle(gate); got != first.SessionID {
		t.Errorf("at a gate: %v", got)
	}
	// Names that lead nowhere, or to another session.
	for _, name := range []string{"11111111-1111-4111-8111-111111111111", "feature second"} {
		odd := here.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x", TaskName: name}})
		r := at(here, status, odd.SessionID, here.dir)
		if got := handle(r); got != odd.SessionID && got != r.TaskName {
			t.Errorf("%q: %v", name, got)
		}
		at(here, status, handle(r).(string), here.dir)
	}
}

// TestListKeepsItsFolder checks that a list tells whose sessions it has, and a shortened reply
// where the rest is.
func TestListKeepsItsFolder(t *testing.T) {
	b := newBench(t)
	if keys := leanKeys(t, b.do(request.Request{Action: workflow.ActionStatus})); keys["cwd"] == nil {
		t.Errorf("the list lacks its folder: %v", keys)
	}
	b.do(start("x"))
	questions := make([]string, 60)
	for i := range questions {
		questions[i] = fmt.Sprintf("%d %s?", i, strings.Repeat("long question ", 30))
	}
	text, err := json.Marshal(map[string]any{"prd_draft": "# P", "quality_score": 60, "questions": questions, "gaps": questions})
	if err != nil {
		t.Fatal(err)
	}
	if keys := leanKeys(t, b.do(submit(workflow.PO, string(text)))); keys["session_file"] == nil {
		t.Error("a shortened reply does not name the session file")
	}
}
