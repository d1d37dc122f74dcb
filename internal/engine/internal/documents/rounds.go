package documents

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// Saved stands for the saved artifact in place of an iteration.
const Saved = -1

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

// ReadRound reads a submission of a stage by its iteration, or the saved artifact as it is now. A
// draft that was edited at its gate has the number that comes next.
func (d *Disk) ReadRound(ctx context.Context, s *workflow.Session, stage workflow.StageID, iteration int) (Round, error) {
	if iteration == Saved {
		return d.savedRound(s, stage)
	}
	rounds := Rounds(s, stage)
	for _, r := range rounds {
		if r.Iteration == iteration {
			hash := recordedHash(s, stage, r.Path)
			text, err := d.readScored(ctx, artifact.WorkPath(s.TaskName, stage), workflow.ContentRef{FilePath: r.Path, SHA256: hash})
			r.Text, r.Edited = text, hash != "" && hash != workflow.Hash([]byte(text))
			return r, err
		}
	}
	if r, ok := d.editedRound(ctx, s, rounds); ok && stage == s.CurrentStage && r.Iteration == iteration {
		return r, nil
	}
	numbers := make([]int, len(rounds))
	for i, r := range rounds {
		numbers[i] = r.Iteration
	}
	return Round{}, fault.New(fault.NotFound, "stage %q has no submission %d", stage, iteration).
		WithHint("its submissions are: %s", words.Numbers(numbers))
}

// editedRound returns the draft that was edited at its gate, as the round that a decision makes of it.
func (d *Disk) editedRound(ctx context.Context, s *workflow.Session, rounds []Round) (r Round, ok bool) {
	st := s.Definition().Current(s)
	if len(rounds) == 0 || !s.CurrentState.Gated() && !s.GateMet() || st.Gate == workflow.GateVerdict {
		return r, false
	}
	last := rounds[len(rounds)-1]
	scored, err := d.text(ctx, workflow.ContentRef{FilePath: last.Path})
	if hash := recordedHash(s, st.ID, last.Path); err != nil || hash != "" && hash != workflow.Hash([]byte(scored)) {
		return r, false
	}
	name := artifact.WorkPath(s.TaskName, st.ID)
	work := d.read(name, 0)
	r = Round{Iteration: last.Iteration + 1, At: s.UpdatedAt, Path: name, Text: handedIn(st, string(work.data))}
	return r, work.err == nil && r.Text != scored
}

// handedIn returns the text of a working copy as its round would have it: without front matter,
// and without the block of facts at its end.
func handedIn(st workflow.Stage, text string) string { return intake.Read(st, text).Document + "\n" }

// recordedHash returns the hash of a submission as it was scored; "" if an older server kept none.
func recordedHash(s *workflow.Session, stage workflow.StageID, path string) string {
	for _, e := range s.History {
		if e.Path == path && e.SHA256 != "" {
			return e.SHA256
		}
	}
	if ref := s.Record(stage).FinalResultRef; ref != nil && ref.FilePath == path {
		return ref.SHA256
	}
	return ""
}

func (d *Disk) savedRound(s *workflow.Session, stage workflow.StageID) (Round, error) {
	a := s.Record(stage).Artifact
	if a == nil {
		return Round{}, fault.New(fault.NotFound, "stage %q has no saved artifact", stage).
			WithHint("name two submissions by their numbers")
	}
	saved := d.read(a.Path, a.Size)
	if saved.err != nil {
		return Round{}, fault.New(fault.NotFound, "the artifact %s cannot be read: %w", a.Path, saved.err).
			WithHint("restore it from version control, or name two submissions by their numbers")
	}
	return Round{Iteration: Saved, At: a.SavedAt, Path: a.Path, Text: string(saved.data), Edited: saved.state(a.SHA256).Modified}, nil
}
