package engine

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// evidence runs the verify command for the work that a stage hands in or judges, before any
// lock is taken. It returns nil if there is none, or if the evidence that was handed in with
// the work is enough.
func (v *verifier) evidence(ctx context.Context, tell func(Notice), s *standing.Standing) *workflow.Evidence {
	stage := standing.VerifiedBy(s.Stage)
	if checked, _ := s.Workflow.Stage(stage); !checked.Verify {
		return nil
	}
	kept := v.plans(s)[stage].Keep
	if kept.Command == "" {
		return nil
	}
	if e := s.Record(stage).Evidence; stage != s.Stage.ID && e != nil && e.NotRun == "" {
		if kept.Instead == nil && e.ChangedTo == nil {
			return nil
		}
		seen := *e // of the time when the work was handed in, compared with the present configuration
		seen.Notes = nil
		if allowed := v.permitsVerify(kept); allowed != nil {
			seen.Notes = v.scriptNotes(s.Language, kept, *allowed)
		}
		return differing(s.Language, &seen, kept)
	}
	return differing(s.Language, v.verify(ctx, s.Language, tell, kept), kept)
}

// verify runs a command, if the person has allowed it here.
func (v *verifier) verify(ctx context.Context, l lang.Language, tell func(Notice), kept workflow.VerifyCommand) *workflow.Evidence {
	allowed := v.permitsVerify(kept)
	if allowed == nil {
		return &workflow.Evidence{Command: kept.Command, SetBy: kept.SetBy, At: v.Now(), NotRun: v.notAllowed(kept).In(l)}
	}
	notes := v.scriptNotes(l, kept, *allowed)
	v.bindVerify(ctx, kept, *allowed)
	timeout := v.project.Config.VerifyTimeout
	defer v.telling(ctx, l, tell, l.Say("running `%s`", words.Clip(kept.Command, 120)), timeout)()
	e := verify.Run(ctx, v.project.Dir.Path(), kept.Command, v.now, verify.Limits{Timeout: timeout, Tail: v.project.Config.VerifyOutput, Language: l})
	e.At, e.SetBy, e.Notes = e.At.UTC().Truncate(time.Millisecond), kept.SetBy, notes
	return &e
}

// differing adds to the evidence how the configuration differs from the session's command,
// which is an objection until the person has accepted it.
func differing(l lang.Language, e *workflow.Evidence, kept workflow.VerifyCommand) *workflow.Evidence {
	e.Changed, e.ChangedTo = "", nil
	switch {
	case kept.Instead == nil:
	case kept.Accepted:
		e.Notes = append(e.Notes, words.Accepted(*kept.Instead).In(l))
	default:
		e.Changed, e.ChangedTo = words.Instead(*kept.Instead).In(l), kept.Instead
	}
	return e
}

// opposes returns how the evidence contradicts a pass of the current stage: that of its own
// command, or of the one that was run when the work was handed in.
func opposes(s *standing.Standing, now *workflow.Evidence, verdict workflow.Verdict) []lang.Text {
	by := standing.VerifiedBy(s.Stage)
	if now == nil && by != s.Stage.ID {
		now = s.Record(by).Evidence
	}
	if now == nil || !verdict.Passes() {
		return nil
	}
	return words.Opposes(now)
}
