package permission

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Evidence runs the verify command for the work that a stage hands in or judges, before any
// lock is taken. It returns nil if there is none, or if the evidence that was handed in with
// the work is enough.
func (g *Guard) Evidence(ctx context.Context, tell func(verify.Notice), s *standing.Standing) *workflow.Evidence {
	stage := standing.VerifiedBy(s.Stage)
	if checked, _ := s.Workflow.Stage(stage); !checked.Verify {
		return nil
	}
	kept := g.plans(s.Workflow, s.KeptVerify(), g.at())[stage].Keep
	if kept.Command == "" {
		return nil
	}
	if e := s.Record(stage).Evidence; stage != s.Stage.ID && e != nil && e.NotRun == "" {
		if kept.Instead == nil && e.ChangedTo == nil {
			return nil
		}
		seen := *e // of the time when the work was handed in, compared with the present configuration
		seen.Notes = nil
		if allowed := g.permit(kept); allowed != nil {
			seen.Notes = g.scriptNotes(kept, *allowed)
		}
		return differing(&seen, kept)
	}
	return differing(g.verify(ctx, tell, kept), kept)
}

// verify runs a command, if the person has allowed it here.
func (g *Guard) verify(ctx context.Context, tell func(verify.Notice), kept workflow.VerifyCommand) *workflow.Evidence {
	allowed := g.permit(kept)
	if allowed == nil {
		return &workflow.Evidence{Command: kept.Command, SetBy: kept.SetBy, At: g.at(), NotRun: g.notAllowed(kept)}
	}
	notes := g.scriptNotes(kept, *allowed)
	g.bind(ctx, kept, *allowed)
	timeout := g.project.Config.VerifyTimeout
	defer verify.Tell(ctx, tell, "running `"+words.Clip(kept.Command, 120)+"`", g.Now, timeout)()
	e := verify.Run(ctx, g.project.Dir.Path(), kept.Command, g.Now, verify.Limits{Timeout: timeout, Tail: g.project.Config.VerifyOutput})
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

// Opposes returns how the evidence contradicts a pass of the current stage: that of its own
// command, or of the one that was run when the work was handed in.
func Opposes(s *standing.Standing, now *workflow.Evidence, verdict workflow.Verdict) []string {
	by := standing.VerifiedBy(s.Stage)
	if now == nil && by != s.Stage.ID {
		now = s.Record(by).Evidence
	}
	if now == nil || !verdict.Passes() {
		return nil
	}
	return words.Opposes(now)
}
