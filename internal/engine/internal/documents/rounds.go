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
	// SHA256 is the hash of the text as it was submitted; "" if an older server kept none.
	SHA256 string
	Text   string
	// Edited is true if the file was changed after it was submitted: the submission then has no text.
	Edited bool
}

func (r Round) contentRef() workflow.ContentRef {
	return workflow.ContentRef{FilePath: r.Path, SHA256: r.SHA256}
}

// Rounds returns the submissions of a stage, the oldest first, without their texts.
func Rounds(s *workflow.Session, stage workflow.StageID) []Round {
	var out []Round
	ref := s.Record(stage).FinalResultRef
	for _, e := range s.History {
		if e.Action == workflow.ActionSubmit && e.FromStage() == stage && e.Path != "" && e.Event != workflow.EventChangesRequested {
			r := Round{Iteration: e.Iteration, At: e.At, Path: e.Path, SHA256: e.SHA256}
			if r.SHA256 == "" && ref != nil && ref.FilePath == e.Path {
				r.SHA256 = ref.SHA256
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 && ref != nil { // an older server kept only the latest
		out = append(out, Round{Iteration: max(s.Record(stage).Iteration, 1), At: ref.LastUpdated, Path: ref.FilePath, SHA256: ref.SHA256})
	}
	return out
}

// ReadRound reads a submission of a stage by iteration, or the saved artifact as it is now. A draft edited at the
// gate has the next number.
func (d *Disk) ReadRound(ctx context.Context, s *workflow.Session, stage workflow.StageID, iteration int) (Round, error) {
	if iteration == Saved {
		return d.savedRound(s, stage)
	}
	rounds := Rounds(s, stage)
	for _, r := range rounds {
		if r.Iteration == iteration {
			text, err := d.readScored(ctx, artifact.WorkPath(s.TaskName, stage), r.contentRef())
			if r.Text = text; fault.Is(err, fault.Conflict) {
				r.Edited, err = true, nil
			}
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

// editedRound returns the draft edited at the gate, as the round to be made of it by a decision.
func (d *Disk) editedRound(ctx context.Context, s *workflow.Session, rounds []Round) (r Round, ok bool) {
	st := s.Definition().Current(s)
	isAtGate := s.CurrentState.Gated() || s.GateMet()
	if len(rounds) == 0 || !isAtGate || st.Gate == workflow.GateVerdict {
		return r, false
	}
	last := rounds[len(rounds)-1]
	name := artifact.WorkPath(s.TaskName, st.ID)
	scored, err := d.readScored(ctx, name, last.contentRef())
	work := d.readFile(name, 0)
	if err != nil || work.err != nil {
		return r, false
	}
	r = Round{Iteration: last.Iteration + 1, At: s.UpdatedAt, Path: name, Text: readEdit(st, scored, string(work.data))}
	return r, r.Text != "" && r.Text != scored
}

// handedIn returns the text of a working copy in the form of a round: without the block of facts at the end.
func handedIn(st workflow.Stage, text string) string { return intake.Read(st, text).Document + "\n" }

func (d *Disk) savedRound(s *workflow.Session, stage workflow.StageID) (Round, error) {
	a := s.Record(stage).Artifact
	if a == nil {
		return Round{}, fault.New(fault.NotFound, "stage %q has no saved artifact", stage).
			WithHint("name two submissions by their numbers")
	}
	saved := d.readFile(a.Path, a.Size)
	if saved.err != nil {
		return Round{}, fault.New(fault.NotFound, "the artifact %s cannot be read: %w", a.Path, saved.err).
			WithHint("restore it from version control, or name two submissions by their numbers")
	}
	return Round{Iteration: Saved, At: a.SavedAt, Path: a.Path, Text: string(saved.data), Edited: saved.state(a.SHA256).Modified}, nil
}
