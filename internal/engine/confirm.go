package engine

import (
	"context"
	"fmt"
	"strings"

	"bmad-mcp/internal/workflow"
)

// confirm carries out the human's decision on a document that reached its gate.
func (r run) confirm(ctx context.Context) (*Reply, error) {
	return r.decide(ctx)
}

// decide opens the gate, saving the document and going on in one step, or sends
// the work back with the human's feedback.
func (r run) decide(ctx context.Context) (*Reply, error) {
	yes, from, kept := !r.refuses(), workflow.Stage{}, ""
	s, err := r.change(ctx, func(s *workflow.Session) error {
		from = r.stage(s)
		return nil
	}, func(s *workflow.Session) (err error) {
		rec := s.Current()
		note := workflow.Transition{
			Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Feedback: strings.TrimSpace(r.req.Feedback),
		}
		if rec.FinalResultRef != nil {
			note.Path, note.SHA256 = rec.FinalResultRef.FilePath, rec.FinalResultRef.SHA256
		}
		event := r.project.cfg.Workflow.Decision(from, s.CurrentState, rec.Verdict, yes)
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
