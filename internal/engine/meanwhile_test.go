package engine_test

import (
	"context"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// occupied is a person who answers once something has happened.
type occupied struct {
	meanwhile func()
	gate.Response
}

func (o *occupied) Ask(context.Context, gate.Question) (gate.Response, error) {
	o.meanwhile()
	return o.Response, nil
}

// TestSameTextOfALaterRound checks that an answer is for the revision that the person was asked about: another round
// with the same text is not what they have seen the findings of.
func TestSameTextOfALaterRound(t *testing.T) {
	t.Parallel()
	const text = "# D\nQuality Score: 95"
	b := newBench(t)
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, text))
	other := newBench(t)
	other.dir, other.session, other.clock = b.dir, b.session, b.clock
	asked := confirm(true)
	asked.Yes, asked.Ask = nil, &occupied{func() {
		other.at("po/refining", confirm(false))
		other.at("po/awaiting_confirmation", submit(workflow.PO, text))
	}, gate.Response{Channel: workflow.ChannelElicited, Decision: workflow.DecisionApprove}}
	b.refused(asked, fault.Conflict, "another call came first: submit by test")
	if s := b.stored(); s.Place() != "po/awaiting_confirmation" || s.Current().Iteration != 2 {
		t.Errorf("at %s in round %d", s.Place(), s.Current().Iteration)
	}
}

// TestStrictAnswers checks by which channels answers to questions count under a strict policy.
func TestStrictAnswers(t *testing.T) {
	t.Parallel()
	for via, want := range map[workflow.Channel]string{"": "this call is the assistant's", workflow.ChannelRelayed: "this call is the assistant's", workflow.ChannelScript: "this call is a script's", workflow.ChannelTerminal: ""} {
		b := newBench(t)
		b.settings("gate: strict\n")
		b.do(start("x"))
		b.at("po/clarifying", submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"questions":["Who?"]}`))
		answer := request.Request{Action: workflow.ActionAnswer, Caller: request.Caller{Via: via}, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}}
		if want == "" {
			b.at("po/refining", answer)
			continue
		}
		b.refused(answer, fault.GatePending, want)
	}
}

// TestChineseHistory checks that the notes in the history of a run are in its language.
func TestChineseHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.settings("language: zh\n")
	b.do(start("做一个时钟"))
	b.settings("language: zh\ngate: strict\nverify: make\n")
	b.do(submit(workflow.PO, "# 时钟\n\n质量评分：60"))
	notes := 0
	for _, e := range b.stored().History {
		if e.Policy == "" {
			continue
		}
		notes++
		if found := langtest.English(e.Policy); len(found) > 0 {
			t.Errorf("English in a Chinese history: %q of %s", found, e.Policy)
		}
	}
	if notes != 2 {
		t.Errorf("%d notes; want one of the policy and one of the verify command", notes)
	}
}
