package web

import (
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestWaitOf: failed work is told from a decision, and a headless run that has stopped waits until an assistant goes
// on with it.
func TestWaitOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	kept := func(working bool) *headless.Kept { return &headless.Kept{At: at, Working: working} }
	for _, tt := range []struct {
		state workflow.State
		gate  workflow.GateKind
		kept  *headless.Kept
		later time.Duration
		want  wait
	}{
		{workflow.Clarifying, workflow.GateScore, nil, 0, waitQuestions},
		{workflow.AwaitingApproval, workflow.GateVerdict, nil, 0, waitFailed},
		{workflow.AwaitingApproval, workflow.GateScore, nil, 0, waitDecision},
		{workflow.AwaitingApproval, "", nil, 0, waitDecision},
		{workflow.AwaitingConfirmation, workflow.GateScore, kept(false), 0, waitDecision},
		{workflow.Generating, workflow.GateScore, nil, 0, ""},
		{workflow.Generating, workflow.GateScore, kept(true), 0, ""},
		{workflow.Refining, workflow.GateScore, kept(false), 0, waitStopped},
		{workflow.Refining, workflow.GateScore, kept(false), time.Second, waitStopped},
		{workflow.Refining, workflow.GateScore, kept(false), time.Minute, ""},
		{workflow.Completed, workflow.GateVerdict, kept(false), 0, ""},
		{workflow.Cancelled, workflow.GateVerdict, nil, 0, ""},
	} {
		s := workflow.Summary{CurrentState: tt.state, UpdatedAt: at.Add(tt.later), Position: workflow.Position{Gate: tt.gate}}
		if got := waitOf(&s, tt.kept, nil); got != tt.want {
			t.Errorf("%s at %q, %+v: got %q, want %q", tt.state, tt.gate, tt.kept, got, tt.want)
		}
	}
}

// TestSplitLead: the first clause of a lead stands out, in both languages.
func TestSplitLead(t *testing.T) {
	t.Parallel()
	for lead, want := range map[string][2]string{
		"Approve the system architecture? Score 91, form 86.5; 90 needed": {"Approve the system architecture?", "Score 91, form 86.5; 90 needed"},
		"4 questions from the Product Owner. Score 74":                    {"4 questions from the Product Owner", "Score 74"},
		"The Reviewer failed the work: 1 critical, 2 major":               {"The Reviewer failed the work", "1 critical, 2 major"},
		"批准系统架构？评分 95":                                                    {"批准系统架构？", "评分 95"},
		"产品负责人提出 4 个问题。评分 74":                                             {"产品负责人提出 4 个问题", "评分 74"},
		"The report is still incomplete":                                  {"The report is still incomplete", ""},
		"":                                                                {"", ""},
	} {
		if head, reason := splitLead(lead); head != want[0] || reason != want[1] {
			t.Errorf("%q: got %q and %q", lead, head, reason)
		}
	}
}

// TestShortAge: an age has one unit, and none below zero.
func TestShortAge(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		-time.Hour: "now", 0: "now", 59 * time.Second: "now", time.Minute: "1 min", 59 * time.Minute: "59 min", time.Hour: "1 h", 23*time.Hour + 59*time.Minute: "23 h",
		24 * time.Hour: "1 d", 400 * 24 * time.Hour: "400 d",
	} {
		if got := shortAge(lang.English, age); got != want {
			t.Errorf("%s: got %q, want %q", age, got, want)
		}
	}
}
