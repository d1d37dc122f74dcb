package engine

import (
	"context"
	"fmt"
	"strings"

	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
)

// confirm carries out the human's decision on a document that reached its gate.
func (r run) confirm(ctx context.Context) (*Reply, error) {
	return r.decide(ctx, r.req.Confirmed == nil || *r.req.Confirmed)
}

// decide opens the gate, saving the document and going on in one step, or sends
// the work back with the human's feedback.
func (r run) decide(ctx context.Context, yes bool) (*Reply, error) {
	from, kept := workflow.Stage{}, ""
	s, err := r.change(ctx, func(s *workflow.Session) error {
		from = r.stage(s)
		if yes {
			return r.unchanged(ctx, s)
		}
		return nil
	}, func(s *workflow.Session) (err error) {
		rec := s.Current()
		note := workflow.Transition{
			Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Feedback: strings.TrimSpace(r.req.Feedback),
		}
		if rec.FinalResultRef != nil {
			note.Path, note.SHA256 = rec.FinalResultRef.FilePath, rec.FinalResultRef.SHA256
		}
		event := r.project.cfg.Workflow.Decision(from, s.CurrentState, yes)
		if yes {
			if kept, err = r.saveArtifact(ctx, s, from); err != nil {
				return err
			}
			rec.Approved = true
			return r.fire(ctx, s, event, note)
		}
		if err := r.fire(ctx, s, event, note); err != nil {
			return err
		}
		// After the transition: a failed review has moved the session to dev.
		s.Current().Feedback = note.Feedback
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !yes {
		return r.reply(s, short, r.message(s))
	}
	rec := s.Record(from.ID)
	said := ""
	if rec.Artifact != nil {
		said = fmt.Sprintf("Saved: `%s` (%d bytes).", rec.Artifact.Path, rec.Artifact.Size)
	}
	if from.Gate == workflow.GateVerdict {
		said = "The risk is accepted and recorded. " + said
	}
	out, err := r.reply(s, depthFor(s, from), said+keptNote(kept)+"\n\n"+r.message(s))
	if out != nil && rec.Artifact != nil {
		out.Artifact = rec.Artifact.Path
	}
	return out, err
}

// unchanged refuses a decision on a draft that is no longer the one that was scored.
func (r run) unchanged(ctx context.Context, s *workflow.Session) error {
	ref := s.Current().FinalResultRef
	if ref == nil || ref.SHA256 == "" {
		return nil
	}
	body, err := r.project.backend.Read(ctx, *ref)
	if err != nil {
		return err
	}
	if workflow.Hash([]byte(body)) != ref.SHA256 {
		return fault.New(fault.Conflict, "the draft %s was changed after it was scored", ref.FilePath).
			WithHint("copy the edited text elsewhere, restore the draft or call %s with false, then submit the edited text", r.req.Action)
	}
	return nil
}
