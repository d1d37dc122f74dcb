package engine

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
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

// Round is one submission of a stage.
type Round struct {
	Iteration int
	At        time.Time
	Path      string
	Text      string
	// Edited is true if the file was changed after it was submitted.
	Edited bool
}

// Rounds returns the submissions of a stage, the oldest first, without their texts.
func Rounds(s *workflow.Session, stage workflow.StageID) []Round {
	var out []Round
	for _, e := range s.History {
		if e.Action == workflow.ActionSubmit && e.FromStage() == stage && e.Path != "" && e.Event != workflow.EventChangesRequested {
			out = append(out, Round{Iteration: e.Iteration, At: e.At, Path: e.Path})
		}
	}
	ref := s.Record(stage).FinalResultRef
	if len(out) == 0 && ref != nil { // an older server kept only the latest
		out = append(out, Round{Iteration: max(s.Record(stage).Iteration, 1), At: ref.LastUpdated, Path: ref.FilePath})
	}
	return out
}

// Saved stands for the saved artifact in Submissions.
const Saved = -1

// Submissions returns the texts of some submissions of a stage, by iteration, or of
// its saved artifact as it is now.
func (e *Engine) Submissions(ctx context.Context, req Request, stage workflow.StageID, iterations ...int) ([]Round, error) {
	p, id, err := e.projects.Find(ctx, req.Address())
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	rounds := Rounds(s, stage)
	out := make([]Round, len(iterations))
	for i, n := range iterations {
		if n == Saved {
			out[i], err = savedRound(p, s, stage)
		} else {
			out[i], err = roundOf(ctx, p, s, stage, rounds, n)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func roundOf(ctx context.Context, p *project.Project, s *workflow.Session, stage workflow.StageID, rounds []Round, iteration int) (Round, error) {
	for _, r := range rounds {
		if r.Iteration != iteration {
			continue
		}
		text, err := p.Backend.Read(ctx, workflow.ContentRef{FilePath: r.Path})
		if err != nil {
			return r, err
		}
		r.Text = text
		for _, e := range s.History {
			r.Edited = r.Edited || e.Path == r.Path && e.SHA256 != "" && e.SHA256 != workflow.Hash([]byte(text))
		}
		return r, nil
	}
	numbers := make([]int, len(rounds))
	for i, r := range rounds {
		numbers[i] = r.Iteration
	}
	return Round{}, fault.New(fault.NotFound, "stage %q has no submission %d", stage, iteration).
		WithHint("its submissions are: %s", words.Numbers(numbers))
}

func savedRound(p *project.Project, s *workflow.Session, stage workflow.StageID) (Round, error) {
	a := s.Record(stage).Artifact
	if a == nil {
		return Round{}, fault.New(fault.NotFound, "stage %q has no saved artifact", stage).
			WithHint("name two submissions by their numbers")
	}
	data, err := p.Dir.ReadFile(a.Path, durable.TextLimit(a.Size))
	if err != nil {
		return Round{}, fault.New(fault.NotFound, "the artifact %s cannot be read: %w", a.Path, err).
			WithHint("restore it from version control, or name two submissions by their numbers")
	}
	return Round{Iteration: Saved, At: a.SavedAt, Path: a.Path, Text: string(data), Edited: a.SHA256 != "" && workflow.Hash(data) != a.SHA256}, nil
}
