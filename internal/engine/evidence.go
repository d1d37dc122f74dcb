package engine

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// evidence runs the verify command for the work that a stage hands in or judges, before any
// lock is taken. It returns nil if there is none, or if the evidence that was handed in with
// the work is enough.
func (r *run) evidence(ctx context.Context, s *standing.Standing, st workflow.Stage) *workflow.Evidence {
	stage := standing.VerifiedBy(st)
	if checked, _ := s.Workflow.Stage(stage); !checked.Verify {
		return nil
	}
	kept := r.verifyPlans(s)[stage].Keep
	if kept.Command == "" {
		return nil
	}
	if e := s.Record(stage).Evidence; stage != st.ID && e != nil && e.NotRun == "" {
		if kept.Instead == nil && e.ChangedTo == nil {
			return nil
		}
		seen := *e // of the time when the work was handed in, compared with the present configuration
		seen.Notes = nil
		if allowed := r.permitsVerify(kept); allowed != nil {
			seen.Notes = r.scriptNotes(kept, *allowed)
		}
		return differing(&seen, kept)
	}
	return differing(r.verify(ctx, kept), kept)
}

// verify runs a command, if the person has allowed it here.
func (r *run) verify(ctx context.Context, kept workflow.VerifyCommand) *workflow.Evidence {
	allowed := r.permitsVerify(kept)
	if allowed == nil {
		return &workflow.Evidence{Command: kept.Command, SetBy: kept.SetBy, At: r.Now(), NotRun: r.notAllowed(kept)}
	}
	notes := r.scriptNotes(kept, *allowed)
	r.bindVerify(ctx, kept, *allowed)
	timeout := r.project.Config.VerifyTimeout
	defer r.telling(ctx, "running `"+words.Clip(kept.Command, 120)+"`", timeout)()
	e := verify.Run(ctx, r.project.Dir.Path(), kept.Command, r.now, verify.Limits{Timeout: timeout, Tail: r.project.Config.VerifyOutput})
	e.At, e.SetBy, e.Notes = e.At.UTC().Truncate(time.Millisecond), kept.SetBy, notes
	return &e
}

// differing adds to the evidence how the configuration differs from the session's command,
// which is an objection until the person has accepted it.
func differing(e *workflow.Evidence, kept workflow.VerifyCommand) *workflow.Evidence {
	e.Changed, e.ChangedTo = "", nil
	switch {
	case kept.Instead == nil:
	case kept.Accepted:
		e.Notes = append(e.Notes, words.Accepted(*kept.Instead))
	default:
		e.Changed, e.ChangedTo = words.Instead(*kept.Instead), kept.Instead
	}
	return e
}

// opposes returns how the evidence contradicts a pass of the current stage: that of its own
// command, or of the one that was run when the work was handed in.
func opposes(s *standing.Standing, now *workflow.Evidence, verdict workflow.Verdict) []string {
	by := standing.VerifiedBy(s.Stage)
	if now == nil && by != s.Stage.ID {
		now = s.Record(by).Evidence
	}
	if now == nil || !verdict.Passes() {
		return nil
	}
	return words.Opposes(now)
}
