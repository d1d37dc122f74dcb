package engine

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/learn"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// maxNoting bounds an action's wait for the notes of the project: another process may hold them, and the action is
// done without them.
const maxNoting = 2 * time.Second

// withNotesTimeout returns the context for the notes of an action, which may be stored already.
func withNotesTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), maxNoting)
}

// addNotes adds the lessons of earlier runs to a briefing, at the beginning of a stage and when work comes back. A
// failure costs the notes, not the action.
func (r *run) addNotes(ctx context.Context, s *standing.Standing, d reply.Depth, out *reply.Reply) {
	again := d == reply.Short && s.Stage.Kind == workflow.KindBuild && !s.Continuing()
	isBriefing := d == reply.Whole || again
	if r.engine.options.Notes == nil || out.Context == nil || !isBriefing {
		return
	}
	ctx, cancel := withNotesTimeout(ctx)
	defer cancel()
	found, err := r.engine.options.Notes.Relevant(ctx, r.project, learn.Ask(s))
	if err != nil {
		r.engine.options.Log.Warn("the briefing goes without notes of earlier runs", "error", err)
	}
	if out.Context.Memory = found; len(found) > 0 {
		out.RolePrompt += prompts.Notes
	}
}

// keepLessons keeps the lessons of a change of the session. The session is stored by then: a failure
// costs the lesson, not the action.
func (r *run) keepLessons(ctx context.Context, s *standing.Standing, entries []workflow.Transition) {
	if r.engine.options.Notes == nil {
		return
	}
	ctx, cancel := withNotesTimeout(ctx)
	defer cancel()
	lessons := learn.Of(s, entries, func(st workflow.Stage) string { return r.confirmedText(ctx, s, st) })
	if len(lessons) == 0 {
		return
	}
	if err := r.engine.options.Notes.Learn(ctx, r.project, lessons); err != nil {
		r.engine.options.Log.Warn("the lessons of the run were not kept", "session", s.Session.SessionID, "error", err)
	}
}

// confirmedText returns the document of a stage as the person has confirmed it, or "".
func (r *run) confirmedText(ctx context.Context, s *standing.Standing, st workflow.Stage) string {
	ref := s.Session.Record(st.ID).FinalResultRef
	if ref == nil {
		return ""
	}
	text, err := r.disk.Text(ctx, s, standing.Document{Stage: st.ID, Path: ref.FilePath})
	if err != nil {
		r.engine.options.Log.Warn("the decisions of a document were not kept", "document", ref.FilePath, "error", err)
	}
	return text
}
