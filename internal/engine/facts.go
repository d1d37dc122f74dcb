package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// standing gathers the facts about a session for the reply that describes it.
func (r *run) standing(ctx context.Context, s *workflow.Session) *standing.Standing {
	ctx = context.WithoutCancel(ctx)
	st := r.known(s)
	r.gatherSaved(st)
	r.gatherDraft(ctx, st)
	st.Draft.Changes = r.changes(ctx, st)
	return st
}

// before gathers the facts that decide whether an action is possible. It reads no file that
// has no say in it; a question to the person describes them all.
func (r *run) before(ctx context.Context, s *workflow.Session) *standing.Standing {
	if r.req.Ask != nil {
		return r.standing(ctx, s)
	}
	ctx = context.WithoutCancel(ctx)
	st := r.known(s)
	if r.req.Action == workflow.ActionSubmit {
		r.gatherSaved(st)
	}
	if a := s.Current().Artifact; s.CurrentState.Gated() || a != nil && a.Stale {
		r.gatherDraft(ctx, st)
	}
	return st
}

// known gathers the facts that need no file.
func (r *run) known(s *workflow.Session) *standing.Standing {
	w, c := r.definition(s), r.project.Config
	st := &standing.Standing{
		Session: s, Workflow: w, Stage: w.Current(s), Folder: r.project.Dir.Path(), SessionFile: store.SessionPath(s.SessionID),
		Tasks: artifact.TaskFolder(s.TaskName) + "/", Integrity: r.found.Verification, Stopped: r.found.stops, Trusting: r.trust != nil,
		MaxRework: c.MaxRework, MaxIterations: c.MaxIterations, FormTimeout: c.FormTimeout, Names: r.names,
		Call: standing.Call{
			Action: r.req.Action, Stage: r.req.Stage, Asks: r.req.Ask != nil, Forms: r.req.Forms, NoForms: r.req.NoForms, HostConfirm: r.req.HostConfirm,
		},
	}
	st.Policy = st.Stage.Policy()
	if at := s.Current().Policy; s.CurrentState.Gated() && at != nil {
		st.Policy = st.Policy.Stricter(*at)
	}
	st.Draft.Work = artifact.WorkPath(s.TaskName, s.CurrentStage)
	st.Draft.Path = st.Draft.Work
	return st
}

// gatherSaved compares the saved artifacts with their files.
func (r *run) gatherSaved(s *standing.Standing) {
	s.Saved = map[string]standing.File{}
	for _, st := range s.Workflow.Stages {
		if a := s.Record(st.ID).Artifact; a != nil {
			s.Saved[a.Path] = r.disk.read(a.Path, a.Size).state(a.SHA256)
		}
	}
	for _, name := range s.Artifacts {
		if _, known := s.Saved[name]; !known {
			s.Saved[name] = standing.File{Missing: !r.project.Dir.Exists(name)}
		}
	}
}

// gatherDraft finds the draft of the current stage. Without a working copy it is the record of
// the round that counts.
func (r *run) gatherDraft(ctx context.Context, s *standing.Standing) {
	d, ref := &s.Draft, s.Current().FinalResultRef
	if !s.CurrentState.Active() {
		return
	}
	d.SHA256 = r.draftHash(ctx, s)
	if ref == nil {
		return
	}
	if f := r.disk.read(d.Work, 0); f.there {
		state := f.state(d.SHA256)
		d.Missing, d.Edited, d.Size = state.Missing, state.Modified, state.Size
		return
	}
	d.Path, d.Size = ref.FilePath, ref.Size
	stat, err := r.project.Texts.Stat(ctx, *ref)
	if err != nil {
		return
	}
	d.Missing, d.Edited = !stat.Exists, stat.Exists && d.SHA256 != "" && stat.SHA256 != d.SHA256
	if stat.Exists {
		d.Size = stat.Size
	}
}

// draftHash returns the hash of the document that waits, as it was handed in. A session of an
// older server may know none; it is that of the text then.
func (r *run) draftHash(ctx context.Context, s *standing.Standing) string {
	rec := s.Current()
	if rec.FinalResultRef != nil && rec.FinalResultRef.SHA256 != "" {
		return rec.FinalResultRef.SHA256
	}
	for _, e := range slices.Backward(s.History) {
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.CurrentStage && e.SHA256 != "" {
			return e.SHA256
		}
	}
	text := r.handedIn(ctx, rec)
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
func (r *run) changes(ctx context.Context, s *standing.Standing) *standing.Changes {
	ref := s.Current().FinalResultRef
	if !s.CurrentState.Gated() || s.Stage.Gate == workflow.GateVerdict || ref == nil {
		return nil
	}
	rounds := Rounds(s.Session, s.CurrentStage)
	if len(rounds) < 2 {
		return nil
	}
	last := rounds[len(rounds)-2]
	before, err := r.disk.text(ctx, r.project.Texts, workflow.ContentRef{FilePath: last.Path})
	if err != nil {
		return nil
	}
	after, err := r.disk.text(ctx, r.project.Texts, *ref)
	if err != nil {
		return nil
	}
	out := standing.Compare(before, after)
	out.Round = last.Iteration
	return &out
}

// handedIn returns the text of a stage that an older server kept, if any.
func (r *run) handedIn(ctx context.Context, rec *workflow.Record) string {
	for _, ref := range rec.Refs() {
		if body, err := r.disk.text(ctx, r.project.Texts, *ref); err == nil {
			return body
		}
	}
	return rec.InlineDraft()
}
