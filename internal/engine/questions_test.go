package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// asking returns a document of a score that asks three questions.
func asking(score int) request.Request {
	return submit(workflow.PO, fmt.Sprintf(`{"prd_draft":"# P","quality_score":%d,"questions":["Who?","When?",{"id":"q3","question":"Retry?","options":["skip","retry"]}]}`, score))
}

func answerTexts(texts ...string) request.Request {
	given := map[string]string{}
	for i, text := range texts {
		if text != "" {
			given[fmt.Sprintf("q%d", i+1)] = text
		}
	}
	return request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: given}}
}

// statuses returns the statuses of the questions of the first stage, in order.
func (b *bench) statuses() string {
	var out []string
	for _, q := range b.stored().Record(workflow.PO).Questions {
		out = append(out, string(q.Status))
	}
	return strings.Join(out, " ")
}

// TestQuestionsKeepTheirStatus checks that questions stay in the run with their outcome.
func TestQuestionsKeepTheirStatus(t *testing.T) {
	for _, tt := range []struct {
		name     string
		score    int
		answers  []string
		place    string
		statuses string
		said     string
	}{
		{"answered", 70, []string{"us", "now", "retry"}, "po/refining", "answered answered answered", "3 answers recorded."},
		{"one left open", 70, []string{"us", "", "retry"}, "po/refining", "answered left_open answered", "2 answers recorded, 1 left open."},
		{"one skipped", 70, []string{"us", "skip", "retry"}, "po/refining", "answered skipped answered", "2 answers recorded, 1 skipped."},
		{"the word as an offered answer", 70, []string{"us", "Skip.", "skip"}, "po/refining", "answered skipped answered", "2 answers recorded, 1 skipped."},
		{"in Chinese", 70, []string{"跳过", "跳过。", "retry"}, "po/refining", "skipped skipped answered", "1 answer recorded, 2 skipped."},
		{"a sentence with the word", 70, []string{"skip the weekend", "now", "retry"}, "po/refining", "answered answered answered", "3 answers recorded."},
		{"all skipped, below the gate", 70, []string{"skip", "skip", "skip it"}, "po/refining", "skipped skipped skipped", "3 questions skipped."},
		{"all skipped, at the gate", 95, []string{"skip", "skip", "skip it"}, "po/awaiting_confirmation", "skipped skipped skipped", "3 questions skipped."},
		{"one left open, at the gate", 95, []string{"skip", "", "skip it"}, "po/refining", "skipped left_open skipped", "2 questions skipped, 1 left open."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.do(start("x"))
			b.at("po/clarifying", asking(tt.score))
			r := b.at(tt.place, answerTexts(tt.answers...))
			if got := b.statuses(); got != tt.statuses {
				t.Errorf("got %s, want %s", got, tt.statuses)
			}
			if !strings.Contains(r.UserMessage, tt.said) {
				t.Errorf("got %s, want %s", r.UserMessage, tt.said)
			}
			last := b.stored().Last()
			if skipped := strings.Count(tt.statuses, "skipped"); len(last.Skipped) != skipped || last.Grant == nil || last.Grant.Decision != workflow.DecisionAnswer {
				t.Errorf("the history has %+v", last)
			}
			if r.Context != nil {
				for i, a := range r.Context.Answers {
					if status := strings.Fields(tt.statuses)[i]; a.Skipped != (status == "skipped") || (a.Answer != "") != (status == "answered") {
						t.Errorf("%s: the briefing has %+v", status, a)
					}
				}
			}
		})
	}
}

// TestConfirmedWithQuestionsOpen checks that a document that has reached its gate can be confirmed
// although it asks; its questions are then skipped, and the grant is for the document.
func TestConfirmedWithQuestionsOpen(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	r := b.at("po/clarifying", asking(95))
	if got := strings.Join(r.PendingUserActions, " "); got != "answer_questions confirm" || !strings.Contains(r.UserMessage, "or say **confirm**, since it has reached its gate: it is saved as `01-product-requirements.md` without the answers") {
		t.Errorf("%s, %s", got, r.UserMessage)
	}
	if allowed := b.do(request.Request{Action: workflow.ActionStatus}).Allowed; !slices.Contains(allowed, "confirm") {
		t.Errorf("allowed: %v", allowed)
	}
	b.at("architect/generating", confirm(true))
	s := b.stored()
	if got := b.statuses(); got != "skipped skipped skipped" {
		t.Errorf("questions: %s", got)
	}
	skipped, confirmed := s.History[len(s.History)-2], s.Last()
	if skipped.Event != workflow.EventSkipped || !slices.Equal(skipped.Skipped, []string{"q1", "q2", "q3"}) || confirmed.Event != workflow.EventConfirmed ||
		confirmed.Grant == nil || confirmed.Grant.Decision != workflow.DecisionApprove || confirmed.Grant.SHA256 != s.Record(workflow.PO).FinalResultRef.SHA256 {
		t.Errorf("%+v\n%+v", skipped, confirmed)
	}
}

// TestQuestionsAreNotSkippedByAccident checks that confirm needs a gate that is met by the policy
// in force, and by an act that the policy takes; refused, it changes nothing.
func TestQuestionsAreNotSkippedByAccident(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings string
		score    int
		then     func(b *bench)
		refused  fault.Code
	}{
		{"below the gate", "", 89, nil, fault.NotAllowed},
		{"the audit counts", "", 95, func(b *bench) { b.scoreBy(workflow.ScoringAudited) }, fault.NotAllowed},
		{"tightened since", "", 95, func(b *bench) { b.settings("stages: {po: {gate_score: 99}}\n") }, fault.NotAllowed},
		{"strict", "gate: strict\n", 95, nil, fault.GatePending},
		{"strict when it came", "gate: strict\n", 95, func(b *bench) { b.settings("") }, fault.GatePending},
		{"an edited draft", "", 95, func(b *bench) { put(b.t, b.dir+"/.bmad-task/work/x/po.md", "# mine\n") }, fault.Conflict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.settings(tt.settings)
			b.do(start("x"))
			b.at("po/clarifying", asking(tt.score))
			if tt.then != nil {
				tt.then(b)
			}
			before := b.stored()
			_, err := b.try(confirm(true))
			if !fault.Is(err, tt.refused) {
				t.Errorf("got %v, want %s", err, tt.refused)
			}
			if after := b.stored(); after.Revision != before.Revision || after.Place() != "po/clarifying" || b.statuses() != "  " {
				t.Errorf("the run has changed: %s, %q", after.Place(), b.statuses())
			}
		})
	}
}

// TestChangesInsteadOfAnswers checks that the person may ask for changes instead of answering.
func TestChangesInsteadOfAnswers(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(asking(95))
	no := confirm(false)
	no.Feedback = "shorter"
	if r := b.at("po/refining", no); r.Context.Feedback != "shorter" || b.statuses() != "skipped skipped skipped" {
		t.Errorf("%+v, %s", r.Context, b.statuses())
	}
}

// TestFormOfQuestions checks that the form that asks can skip the rest, or take the document if its
// gate is met; below it, nothing offers or takes that.
func TestFormOfQuestions(t *testing.T) {
	for _, tt := range []struct {
		name     string
		score    int
		response gate.Response
		offered  int
		place    string
		statuses string
	}{
		{"skip the rest", 70, gate.Response{Answers: map[string]string{"q1": "us"}, SkipRest: true}, 0, "po/refining", "answered skipped skipped"},
		{"skip all", 70, gate.Response{SkipRest: true}, 0, "po/refining", "skipped skipped skipped"},
		{"skip all at the gate", 95, gate.Response{SkipRest: true}, 1, "po/awaiting_confirmation", "skipped skipped skipped"},
		{"take it", 95, gate.Response{Decision: workflow.DecisionApprove}, 1, "architect/generating", "skipped skipped skipped"},
		{"taken below the gate", 70, gate.Response{Decision: workflow.DecisionApprove}, 0, "po/clarifying", "  "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.do(start("x"))
			tt.response.Channel, tt.response.Took = workflow.ChannelElicited, 3*time.Second
			person := &answers{Response: tt.response}
			req := asking(tt.score)
			req.Ask, req.Forms = person, true
			b.at(tt.place, req)
			if got := b.statuses(); got != tt.statuses || len(person.asked) != 1 || len(person.asked[0].Choices) != tt.offered {
				t.Errorf("%s, asked %+v", got, person.asked)
			}
			if tt.place == "architect/generating" {
				if g := b.stored().Last().Grant; g.Channel != workflow.ChannelElicited || g.SHA256 == "" {
					t.Errorf("the grant is %+v", g)
				}
			}
		})
	}
}

// TestSettledQuestionsTakeNoAnswer checks that an answer to a question of an earlier round is
// refused, and closes none of those that are open.
func TestSettledQuestionsTakeNoAnswer(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(asking(70))
	b.do(answerTexts("us", "now", "retry"))
	b.at("po/clarifying", submit(workflow.PO, `{"prd_updated":"# P2","quality_score":80,"questions":[{"id":"q4","question":"Where?"}]}`))
	if hint := b.refused(answerTexts("them"), fault.InvalidArgument, `question "q1" is not open`); !strings.Contains(hint, "the open questions are: q4") {
		t.Errorf("hint %q", hint)
	}
	if got := b.statuses(); got != "answered answered answered " {
		t.Errorf("statuses %q", got)
	}
}

// TestSkippingTheRestChecksTheAnswers checks that what is answered beside skipped questions has the
// limits of every answer.
func TestSkippingTheRestChecksTheAnswers(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", request.MaxAnswer+1), "a\x00b", "\xff"} {
		b := newBench(t)
		b.do(start("x"))
		b.do(asking(70))
		person := &answers{Response: gate.Response{Channel: workflow.ChannelElicited, Answers: map[string]string{"q1": text}, SkipRest: true, Took: 3 * time.Second}}
		if _, err := b.try(request.Request{Action: workflow.ActionAnswer, Caller: request.Caller{Ask: person}}); !fault.Is(err, fault.InvalidArgument) || b.statuses() != "  " {
			t.Errorf("%.10q: %v, %q", text, err, b.statuses())
		}
	}
}

// TestFormAnswersReachTheModelWhole: the conversation has never seen the answers of a form.
func TestFormAnswersReachTheModelWhole(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(asking(70))
	long := strings.Repeat("the person's own words, ", 40)
	person := &answers{Response: gate.Response{Channel: workflow.ChannelElicited, Answers: map[string]string{"q1": long}, Took: 3 * time.Second}}
	r := b.do(request.Request{Action: workflow.ActionAnswer, Caller: request.Caller{Ask: person, Forms: true}})
	if got := r.Lean().Context.Answers[0].Answer; got != strings.TrimSpace(long) {
		t.Errorf("got %d of %d bytes", len(got), len(long))
	}
	relayed := newBench(t)
	relayed.do(start("x"))
	relayed.do(asking(70))
	if got := relayed.do(answerTexts(long)).Lean().Context.Answers[0].Answer; len(got) > 110 {
		t.Errorf("the conversation has these words, and gets %d bytes of them again", len(got))
	}
}
