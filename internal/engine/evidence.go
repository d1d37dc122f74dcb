package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// evidence runs the verify command for the work that a stage hands in or judges, before any
// lock is taken. It returns nil if there is none, or if the evidence that was handed in with
// the work is enough.
func (r run) evidence(ctx context.Context, s *workflow.Session, st workflow.Stage) *workflow.Evidence {
	stage := verifiedBy(st)
	if checked, _ := r.workflow(s).Stage(stage); !checked.Verify {
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
func (r run) verify(ctx context.Context, kept workflow.VerifyCommand) *workflow.Evidence {
	allowed := r.permitsVerify(kept)
	if allowed == nil {
		return &workflow.Evidence{Command: kept.Command, SetBy: kept.SetBy, At: r.Now(), NotRun: r.notAllowed(kept)}
	}
	notes := r.scriptNotes(kept, *allowed)
	r.bindVerify(ctx, kept, *allowed)
	timeout := r.project.Config.VerifyTimeout
	defer r.telling(ctx, "running `"+clip(kept.Command, 120)+"`", timeout)()
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
		e.Notes = append(e.Notes, insteadText(*kept.Instead)+", which you have accepted")
	default:
		e.Changed, e.ChangedTo = insteadText(*kept.Instead), kept.Instead
	}
	return e
}

// opposes returns how the evidence contradicts a pass of the current stage: that of its own
// command, or of the one that was run when the work was handed in. A command that was not run
// proves nothing, so it opposes a pass as well.
func opposes(s *workflow.Session, st workflow.Stage, now *workflow.Evidence, verdict workflow.Verdict) []string {
	if !verdict.Passes() {
		return nil
	}
	if now == nil && verifiedBy(st) != st.ID {
		now = s.Record(verifiedBy(st)).Evidence
	}
	if now == nil {
		return nil
	}
	var out []string
	switch {
	case now.NotRun != "":
		out = append(out, "nothing shows it: the verify command "+resultText(now))
	case now.Failed():
		out = append(out, "the verify command says no: "+resultText(now))
	}
	if now.Changed != "" {
		out = append(out, fmt.Sprintf("the verify command was changed during the run: %s; `%s` was checked with", now.Changed, clip(now.Command, 120)))
	}
	return out
}

// evidenceFor returns the evidence for the work that the current stage judges.
func evidenceFor(s *workflow.Session) *workflow.Evidence {
	if e := s.Current().Evidence; e != nil {
		return e
	}
	st, _ := s.Definition().Stage(s.CurrentStage)
	return s.Record(verifiedBy(st)).Evidence
}

// verifiedBy returns the stage whose verify command checks the work that a stage hands in or
// judges: its own, or that of the stage whose work it judges.
func verifiedBy(st workflow.Stage) workflow.StageID {
	if st.Kind == workflow.KindVerdict && !st.Verify {
		return st.SendsBackTo
	}
	return st.ID
}
