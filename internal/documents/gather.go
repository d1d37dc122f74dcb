package documents

import (
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Gather compares all documents of a session with their files.
func (d *Disk) Gather(ctx context.Context, s *standing.Standing) {
	d.GatherSaved(s)
	d.GatherDraft(ctx, s)
	s.Draft.Changes = d.changes(ctx, s)
}

// GatherSaved compares the saved artifacts with their files.
func (d *Disk) GatherSaved(s *standing.Standing) {
	s.Saved = map[string]standing.File{}
	for _, st := range s.Workflow.Stages {
		if a := s.Record(st.ID).Artifact; a != nil {
			s.Saved[a.Path] = d.read(a.Path, a.Size).state(a.SHA256)
		}
	}
	for _, name := range s.Artifacts {
		if _, known := s.Saved[name]; !known {
			s.Saved[name] = standing.File{Missing: !d.project.Dir.Exists(name)}
		}
	}
}

// GatherDraft finds the draft of the current stage. Without a working copy it is the record of
// the round that counts.
func (d *Disk) GatherDraft(ctx context.Context, s *standing.Standing) {
	draft, ref := &s.Draft, s.Current().FinalResultRef
	if !s.CurrentState.Active() {
		return
	}
	draft.SHA256 = d.draftHash(ctx, s)
	if ref == nil {
		return
	}
	if f := d.read(draft.Work, 0); f.there {
		state := f.state(draft.SHA256)
		draft.Missing, draft.Edited, draft.Size = state.Missing, state.Modified, state.Size
		return
	}
	draft.Path, draft.Size = ref.FilePath, ref.Size
	stat, err := d.project.Texts.Stat(ctx, *ref)
	if err != nil {
		return
	}
	draft.Missing, draft.Edited = !stat.Exists, stat.Exists && draft.SHA256 != "" && stat.SHA256 != draft.SHA256
	if stat.Exists {
		draft.Size = stat.Size
	}
}

// draftHash returns the hash of the document that waits, as it was handed in. A session of an
// older server may know none; it is that of the text then.
func (d *Disk) draftHash(ctx context.Context, s *standing.Standing) string {
	rec := s.Current()
	if rec.FinalResultRef != nil && rec.FinalResultRef.SHA256 != "" {
		return rec.FinalResultRef.SHA256
	}
	for _, e := range slices.Backward(s.History) {
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.CurrentStage && e.SHA256 != "" {
			return e.SHA256
		}
	}
	text := d.handedIn(ctx, rec)
	switch {
	case text == "":
		return ""
	case rec.FinalResultRef != nil:
		return workflow.Hash([]byte(text))
	}
	return workflow.Hash([]byte(score.Read(s.Stage, text).Document + "\n"))
}

// changes compares the document at a gate with that of the round before; nil where there is
// none, or where it is gone.
func (d *Disk) changes(ctx context.Context, s *standing.Standing) *standing.Changes {
	ref := s.Current().FinalResultRef
	if !s.CurrentState.Gated() || s.Stage.Gate == workflow.GateVerdict || ref == nil {
		return nil
	}
	rounds := Rounds(s.Session, s.CurrentStage)
	if len(rounds) < 2 {
		return nil
	}
	last := rounds[len(rounds)-2]
	before, err := d.text(ctx, workflow.ContentRef{FilePath: last.Path})
	if err != nil {
		return nil
	}
	after, err := d.text(ctx, *ref)
	if err != nil {
		return nil
	}
	out := standing.Compare(before, after)
	out.Round = last.Iteration
	return &out
}

// handedIn returns the text of a stage that an older server kept, if any.
func (d *Disk) handedIn(ctx context.Context, rec *workflow.Record) string {
	for _, ref := range rec.Refs() {
		if body, err := d.text(ctx, *ref); err == nil {
			return body
		}
	}
	return rec.InlineDraft()
}

// Adopt gives the current stage of a session that an older server wrote its document as a
// reference: that server kept what an engine handed in, or a draft in the session itself.
func (d *Disk) Adopt(ctx context.Context, tx store.Tx, s *standing.Standing) error {
	rec := s.Current()
	if rec.FinalResultRef != nil {
		return nil
	}
	document := score.Read(s.Stage, d.handedIn(ctx, rec)).Document
	if strings.TrimSpace(document) == "" {
		return nil
	}
	refs, err := tx.Put(ctx, []store.Text{{Stage: s.CurrentStage, Kind: "final_result", Body: document + "\n", At: s.UpdatedAt}})
	if err != nil {
		return err
	}
	rec.FinalResultRef = &refs[0]
	return nil
}

// AdoptSprints reads the sprints from the plan of a session without history, which an older
// server did not.
func (d *Disk) AdoptSprints(ctx context.Context, s *standing.Standing) {
	w := s.Workflow
	plan, planned := w.OfKind(workflow.KindPlan)
	if len(s.History) > 0 || len(s.Sprints) > 0 || !planned || w.Index(s.CurrentStage) < w.Index(plan.ID) {
		return
	}
	s.SetSprints(score.Read(plan, d.handedIn(ctx, s.Record(plan.ID))).Sprints)
}
