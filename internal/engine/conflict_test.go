package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestLosersAreToldWhatTheyLostTo repeats steps that were just taken, and takes
// steps that another call took while this one was under way.
func TestLosersAreToldWhatTheyLostTo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		stage workflow.StageID
		state workflow.State
		step  request.Request
		now   string
	}{
		{"answer", workflow.PO, workflow.Clarifying, request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "a"}}}, "po/refining"},
		{"confirm", workflow.PO, workflow.AwaitingConfirmation, confirm(true), "architect/generating"},
		{"confirm with stage", workflow.PO, workflow.AwaitingConfirmation, request.Request{Action: workflow.ActionConfirm, Stage: "po"}, "architect/generating"},
		{"approve", workflow.SM, workflow.AwaitingApproval, approve(true, ""), "dev/generating"},
		{"submit that went on", workflow.Dev, workflow.Generating, submit(workflow.Dev, "# D"), "review/generating"},
		{"submit that ended it", workflow.QA, workflow.Generating, submit(workflow.QA, passes("")), "qa/completed"},
		{"cancel", workflow.PO, workflow.Generating, request.Request{Action: workflow.ActionCancel}, "po/cancelled"},
		{"reopen", workflow.SM, workflow.AwaitingApproval, request.Request{Action: workflow.ActionReopen, Stage: "po"}, "po/refining"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.to(tt.stage, tt.state)
			b.at(tt.now, tt.step)
			before := b.snapshot()
			_, err := b.try(tt.step)
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != fault.Conflict {
				t.Fatalf("got %v", err)
			}
			if f.Stage+"/"+f.State != tt.now || f.Revision != b.stored().Revision || !strings.Contains(f.Message, "to "+tt.now) || !strings.Contains(f.Message, "by test") {
				t.Errorf("the loser is told %+v", f)
			}
			if b.snapshot() != before {
				t.Error("the disk changed")
			}
		})
	}
}

func TestRevision(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	shown := b.do(request.Request{Action: workflow.ActionStatus})
	if shown.NextCall["revision"] != shown.Revision {
		t.Errorf("the next call is %v at revision %d", shown.NextCall, shown.Revision)
	}
	b.do(confirm(false))
	b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_updated":"# Other","quality_score":99}`))
	late := confirm(true)
	late.Revision = &shown.Revision
	if _, err := b.try(late); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "submit by test") {
		t.Errorf("a decision on an older draft gives %v", err)
	}
	now := b.stored().Revision
	late.Revision = &now
	b.at("architect/generating", late)
}

// TestWhoHasNotBeenToldLoses has two programs on one project: a submission at the gate
// is for the gate to refuse if its program knows of the gate, else it has lost to
// the submission that came first.
func TestWhoHasNotBeenToldLoses(t *testing.T) {
	b := newBench(t)
	b.do(start("build a thing"))
	other := newBench(t)
	other.dir, other.session, other.clock = b.dir, b.session, b.clock
	other.do(request.Request{Action: workflow.ActionStatus})
	other.clock = other.clock.Add(time.Minute)
	other.at("po/awaiting_confirmation", submit(workflow.PO, "# P\nQuality Score: 95/100"))

	b.clock = other.clock.Add(time.Minute) // long after it, so that the calls did not overlap
	again := submit(workflow.PO, "# Other\nQuality Score: 99/100")
	if _, err := b.try(again); !fault.Is(err, fault.Conflict) || !strings.Contains(fault.From(err).Hint, "let them decide") {
		t.Errorf("the first program's submission: %v", err)
	}
	if _, err := b.try(again); !fault.Is(err, fault.GatePending) {
		t.Errorf("its next one: %v", err)
	}
	later := newBench(t)
	later.dir, later.session, later.clock = b.dir, b.session, b.clock.Add(time.Minute)
	later.restart()
	if _, err := later.try(again); !fault.Is(err, fault.GatePending) {
		t.Errorf("a program that was started after it: %v", err)
	}
}

// TestDecisionIsForWhatWasShown has two programs: in one the human saw a draft, in the
// other it was sent back and replaced. The first must not open the gate for the new one.
func TestDecisionIsForWhatWasShown(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	other := newBench(t)
	other.dir, other.session, other.clock = b.dir, b.session, b.clock
	other.at("po/refining", confirm(false))
	other.at("po/awaiting_confirmation", submit(workflow.PO, "# Another thing\nQuality Score: 95/100"))
	before := b.snapshot()
	if _, err := b.try(confirm(true)); !fault.Is(err, fault.Conflict) || !strings.Contains(fault.From(err).Hint, "show the human") || b.snapshot() != before {
		t.Errorf("got %v", err)
	}
	b.at("po/awaiting_confirmation", request.Request{Action: workflow.ActionStatus})
	b.at("architect/generating", confirm(true))

	if _, err := b.try(confirm(false)); !fault.Is(err, fault.NotAllowed) || !strings.Contains(fault.From(err).Hint, "reopen po") {
		t.Errorf("a decision taken back: %v (%s)", err, fault.From(err).Hint)
	}
	never := confirm(true)
	never.Revision = new(int)
	*never.Revision = 999
	if _, err := b.try(never); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "no revision 999") {
		t.Errorf("a revision that never was: %v", err)
	}
}

// TestToldIsNotShown has a caller learn that something changed, by a refusal or from a
// list: to open the gate takes having been shown what waits there.
func TestToldIsNotShown(t *testing.T) {
	for name, learn := range map[string]func(b *bench){
		"the same call again": func(b *bench) { _, _ = b.try(confirm(true)) },
		"another refusal": func(b *bench) {
			_, _ = b.try(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "a"}}})
		},
		"a list": func(b *bench) {
			here := b.session
			b.do(start("another thing"))
			b.session = ""
			if list := b.do(request.Request{Action: workflow.ActionStatus}); len(list.Sessions) != 2 {
				b.t.Fatalf("%+v", list)
			}
			b.session = here
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.to(workflow.PO, workflow.AwaitingConfirmation)
			other := newBench(t)
			other.dir, other.session, other.clock = b.dir, b.session, b.clock
			other.at("po/refining", confirm(false))
			other.at("po/awaiting_confirmation", submit(workflow.PO, "# Another thing\nQuality Score: 95/100"))
			learn(b)
			if _, err := b.try(confirm(true)); !fault.Is(err, fault.Conflict) {
				t.Errorf("got %v", err)
			}
			sure := confirm(true) // whoever names the revision has seen it
			now := b.stored().Revision
			sure.Revision = &now
			b.at("architect/generating", sure)
		})
	}
}

// TestOldRevisionLoses by its number 0, which runs of older servers have.
func TestOldRevisionLoses(t *testing.T) {
	b := newBench(t)
	b.install("v0", "0b6f9b1e-3d55-4c0e-9a4e-5b8c8f0a7d22", map[string]string{})
	shown := b.do(request.Request{Action: workflow.ActionStatus})
	other := newBench(t)
	other.dir, other.session = b.dir, b.session
	other.at("po/refining", confirm(false))
	late := confirm(true)
	late.Revision = &shown.Revision
	if _, err := b.try(late); !fault.Is(err, fault.Conflict) {
		t.Errorf("revision %d: %v", shown.Revision, err)
	}
}
