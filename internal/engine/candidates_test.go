package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// both hands in the texts of two engines.
func both(stage workflow.StageID, claude, codex string) request.Request {
	return request.Request{Action: workflow.ActionSubmit, Stage: string(stage), Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: claude}, {Engine: workflow.Codex, Text: codex}}}}
}

// TestTwoEngines checks that with two engines the person is told both scores of each draft, which
// one was taken and why, and where the other is: in the reply, the message, the form, the history
// and the run.
func TestTwoEngines(t *testing.T) {
	full := sample(t, "webhook-relay", "03-po-second.json")
	for _, tt := range []struct {
		name, settings, claude, codex string
		taken                         workflow.Engine
		because                       string
	}{
		{"the second is better", "", "# Short\nQuality Score: 91", strings.Replace(full, `"quality_score": 93`, `"quality_score": 96`, 1), workflow.Codex, "its score is higher"},
		{"the first is better", "", "# Short\nQuality Score: 97", full, workflow.Claude, "its score is higher"},
		{"the audit decides a tie", "", "# Short\nQuality Score: 93", full, workflow.Codex, "the scores are equal, and our check of it gives more"},
		{"the audit counts", "stages: {po: {gate_score: 60}}\n", "# Short\nQuality Score: 97", full, workflow.Codex, "the lower of its two scores is higher"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.settings(tt.settings)
			if tt.settings != "" {
				b.scoreBy(workflow.ScoringAudited)
			}
			b.do(start("build a relay with codex"))
			person := &answers{Response: gate.Response{Silence: gate.Silence{Unasked: true}}}
			r := b.do(both(workflow.PO, tt.claude, tt.codex))
			if len(r.Candidates) != 2 {
				t.Fatalf("%s: %+v", r.UserMessage, r.Candidates)
			}
			taken, other := r.Candidates[0], r.Candidates[1]
			if other.Taken {
				taken, other = other, taken
			}
			if taken.Engine != tt.taken || !taken.Taken || taken.Because != tt.because || other.Taken || taken.AuditScore == other.AuditScore || *taken.Score == 0 {
				t.Errorf("taken %+v, not taken %+v", taken, other)
			}
			if taken.AuditScore != r.Audit.Score || *taken.Score != *r.Score {
				t.Errorf("the stage has %v and %v, the draft %+v", *r.Score, r.Audit.Score, taken)
			}
			theirs := tt.claude
			if other.Engine == workflow.Codex {
				theirs = tt.codex
			}
			data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(other.Path)))
			if err != nil || strings.TrimSpace(string(data)) != strings.TrimSpace(theirs) {
				t.Errorf("the other draft: %.80q, %v", data, err)
			}
			ask := confirm(true)
			ask.Ask, ask.Via = person, workflow.ChannelRelayed
			_, _ = b.try(ask) // shows the form
			said := "because " + tt.because + ". Not taken: "
			entry := b.stored().History[1]
			if len(person.asked) == 1 && !strings.Contains(person.asked[0].Text, said) {
				t.Errorf("the form: %s", person.asked[0].Text)
			}
			if r.State == workflow.AwaitingConfirmation && len(person.asked) != 1 {
				t.Errorf("no form was shown")
			}
			if !strings.Contains(r.UserMessage, said) || !strings.Contains(r.UserMessage, "`"+other.Path+"`") || !strings.Contains(entry.Candidates, said) {
				t.Errorf("message:\n%s\nhistory: %s", r.UserMessage, entry.Candidates)
			}
			if stored := b.stored().Record(workflow.PO).Candidates; len(stored) != 2 || stored[0].Path == "" {
				t.Errorf("session: %+v", stored)
			}
		})
	}
}

// TestOneEngineOfTwo checks that the reply names a draft that was asked for and is missing.
func TestOneEngineOfTwo(t *testing.T) {
	b := newBench(t)
	b.do(start("build a relay with codex"))
	r := b.do(submit(workflow.PO, "# P\nQuality Score: 70"))
	if want := "Only Claude handed in a draft, though two workers were asked."; !strings.Contains(r.UserMessage, want) || len(r.Candidates) != 1 {
		t.Errorf("%s\n%+v", r.UserMessage, r.Candidates)
	}
	r = b.do(both(workflow.PO, "# P\nQuality Score: 70", "# Q\nQuality Score: 60"))
	if len(r.Candidates) != 2 {
		t.Errorf("%+v", r.Candidates)
	}
	alone := newBench(t)
	alone.do(start("build a relay"))
	if r := alone.do(submit(workflow.PO, "# P\nQuality Score: 70")); len(r.Candidates) != 0 || strings.Contains(r.UserMessage, "engines were asked") {
		t.Errorf("%s\n%+v", r.UserMessage, r.Candidates)
	}
}

// TestTwoReports checks that of two reports the worse one counts, with the findings of both.
func TestTwoReports(t *testing.T) {
	b := newBench(t)
	b.to(workflow.QA, workflow.Generating)
	r := b.at("qa/awaiting_approval", both(workflow.QA, passes("# QA"), "# QA\nStatus: fail"))
	if len(r.Candidates) != 2 || r.Candidates[0].Verdict != workflow.Pass || !r.Candidates[1].Taken || !strings.Contains(r.UserMessage, "because its verdict is the worse one") {
		t.Errorf("%s\n%+v", r.UserMessage, r.Candidates)
	}
}
