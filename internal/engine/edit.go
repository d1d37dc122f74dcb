package engine

import (
	"context"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/submission"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// findEdit reads and audits the draft that a decision is about, if it was edited since it was
// scored; nil if it was not. A text that cannot be taken keeps nobody from asking for another
// round.
func (r *run) findEdit(ctx context.Context, s *standing.Standing, g workflow.Grant) (*submission.Submission, error) {
	if s.Draft.Edit == nil {
		return nil, nil
	}
	sub, err := r.readEdit(ctx, s, g)
	if err != nil && g.Decision == workflow.DecisionChanges && ctx.Err() == nil {
		return nil, nil //nolint:nilerr // the draft stays where it is
	}
	return sub, err
}

func (r *run) readEdit(ctx context.Context, s *standing.Standing, g workflow.Grant) (*submission.Submission, error) {
	sub, err := submission.OfEdit(ctx, r.project, r.disk, s)
	if err != nil {
		return nil, err
	}
	if sub.SHA256(s) != g.SHA256 { // edited once more, since the person was asked
		return nil, words.EditedDraft(s)
	}
	if s.Stage.Gate == workflow.GateVerdict {
		return sub, nil
	}
	r.disk.GatherSaved(ctx, s)
	if err := sub.AuditDocuments(ctx, s, r.disk, r.person.In(r.project)); err != nil {
		return nil, err
	}
	p := s.Policy
	opens := s.Overrides() || p.GateScore == nil || p.Met(sub.Assessment.Claimed, &sub.Audit.Score)
	if g.Decision != workflow.DecisionChanges && !opens {
		return nil, fault.New(fault.GatePending, "as it was edited, the audit of the draft is %s, and the gate asks for %s",
			words.Points(sub.Audit.Score), words.Points(*p.GateScore)).
			WithHint("change the draft once more and decide again, or ask for another round; nothing was changed")
	}
	return sub, nil
}

// enterEdit makes a round of an edited draft, at the gate at which it waits.
func (r *run) enterEdit(ctx context.Context, tx store.Tx, s *standing.Standing, sub *submission.Submission) error {
	rec := s.Current()
	if err := sub.Keep(ctx, tx, r.disk, s, r.Now()); err != nil {
		return err
	}
	sub.EnterEdit(s.Language, rec)
	rec.Iteration++
	if s.Stage.Kind == workflow.KindPlan {
		s.SetSprints(sub.Assessment.Sprints)
	}
	audited, findings, _ := measure(s.Stage, rec)
	s.Note(workflow.Transition{
		At: r.Now(), Action: workflow.ActionSubmit, Event: workflow.EventEdited, By: r.req.By,
		Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Judged: rec.Judged(), AuditScore: audited,
		FindingsOpen: findings, Rows: words.Rows(s.Language, rec.Criteria),
		Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256, Sources: []string{s.Draft.Work}, Kept: sub.Edits,
		Edit: words.Edit(s.Language, s.Draft.Edit),
	})
	return nil
}

// measure returns the server's own findings about a submission, as the history keeps them.
func measure(st workflow.Stage, rec *workflow.Record) (audited *float64, findings, exit *int) {
	if rec.Audit != nil {
		score := rec.Audit.Score
		audited = &score
	}
	if st.Kind == workflow.KindVerdict {
		open := len(workflow.OpenFindings(rec.Findings))
		findings = &open
	}
	if e := rec.Evidence; e != nil && e.NotRun == "" {
		code := e.ExitCode
		exit = &code
	}
	return audited, findings, exit
}
