package engine

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Step is one entry of a session's history.
type Step struct {
	workflow.Transition
	// Waited is how long the session had waited for the human; nil where it had not.
	Waited *time.Duration
	// Unvouched is true for a decision in an entry that nothing vouches for.
	Unvouched bool
}

// History returns what happened to a session, the oldest first. v is what was found of it.
func History(s *workflow.Session, v workflow.Verification) []Step {
	steps := make([]Step, len(s.History))
	for i, e := range s.History {
		steps[i].Transition = e
		steps[i].Unvouched = e.Grant != nil && !v.Vouches(i+1)
		if from := before(s.History, i); from >= 0 && decision(e) {
			// A clock that was set back shows no wait rather than a negative one.
			waited := max(e.At.Sub(s.History[from].At), 0)
			steps[i].Waited = &waited
		}
	}
	return steps
}

// before returns the index of the move before an entry; -1 if there is none.
func before(history []workflow.Transition, i int) int {
	for i--; i >= 0 && !moves(history[i]); i-- {
	}
	return i
}

// moves reports whether an entry is more than a note.
func moves(e workflow.Transition) bool {
	return e.Event != workflow.EventPolicyChanged && e.Event != workflow.EventAdopted
}

// decision reports whether a transition was the human's answer to a session that waited.
func decision(e workflow.Transition) bool {
	if !moves(e) {
		return false
	}
	switch e.Action {
	case workflow.ActionAnswer, workflow.ActionConfirm, workflow.ActionApprove:
		return true
	}
	return false
}

// Submissions returns the texts of some submissions of a stage, by iteration, or of
// its saved artifact as it is now.
func (e *Engine) Submissions(ctx context.Context, req Request, stage workflow.StageID, iterations ...int) ([]documents.Round, error) {
	p, id, err := e.projects.Find(ctx, req.Address())
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make([]documents.Round, len(iterations))
	for i, n := range iterations {
		if out[i], err = documents.ReadRound(ctx, p, s, stage, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}
