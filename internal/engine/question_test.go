package engine_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestGateIsWhatIsAsked checks that the question that Gate returns is the one that a channel puts
// to the person in the call that follows, and Gate changes nothing.
func TestGateIsWhatIsAsked(t *testing.T) {
	b := newBench(t)
	silent := gate.Response{Silence: gate.Silence{Why: lang.T("they are away")}}
	same := func(name string, req request.Request) gate.Question {
		t.Helper()
		req.Cwd, req.Session = b.dir, b.session
		before := b.snapshot()
		q, err := b.engine.Gate(ctx, req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b.snapshot() != before {
			t.Errorf("%s: Gate changed something", name)
		}
		person := &answers{Response: silent}
		req.Ask = person
		b.do(req)
		if len(person.asked) != 1 || !reflect.DeepEqual(person.asked[0], q) {
			t.Errorf("%s: asked\n%+v\nGate says\n%+v", name, person.asked, q)
		}
		return q
	}
	b.do(start("x"))
	_, err := b.engine.Gate(ctx, request.Request{Address: project.Address{Cwd: b.dir}})
	if f := fault.From(err); f.Code != fault.NotAllowed || !strings.Contains(f.Message, "nothing waits for a decision") {
		t.Errorf("nothing waits: %+v", f)
	}
	b.do(submit(workflow.PO, `{"prd_draft":"# P","quality_score":95,"questions":["Who?"]}`))
	if q := same("questions", request.Request{Action: workflow.ActionAnswer}); len(q.Questions) != 1 || len(q.Choices) != 1 {
		t.Errorf("%+v", q)
	}
	b.do(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}})
	b.do(submit(workflow.PO, commentedPRD))
	if q := same("a gate", request.Request{Action: workflow.ActionConfirm}); q.Choices[0].Decision != workflow.DecisionApprove || q.SHA256 == "" {
		t.Errorf("%+v", q)
	}
	b.do(confirm(true))
	if q := same("a reopen", request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "again"}}); q.Target != workflow.PO || q.Choices[0].Decision != workflow.DecisionReopen {
		t.Errorf("%+v", q)
	}
	same("a cancel", request.Request{Action: workflow.ActionCancel})

	q, err := b.engine.Gate(ctx, request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}, Action: workflow.ActionCancel, Caller: request.Caller{Language: lang.Language("zh")}})
	if err != nil || q.Language != lang.Language("zh") || q.Choices[0].Label != "取消本次运行" {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err = b.engine.Gate(ctx, request.Request{Address: project.Address{Cwd: b.dir, Session: "nobody"}}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	revision := b.stored().Revision - 1
	if _, err = b.engine.Gate(ctx, request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}, Action: workflow.ActionCancel, Revision: &revision}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}
