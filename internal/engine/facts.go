package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// standing gathers the facts about a session for the reply that describes it.
func (r *run) standing(ctx context.Context, s *workflow.Session) *standing.Standing {
	ctx = context.WithoutCancel(ctx)
	st := r.known(s)
	r.disk.Gather(ctx, st)
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
		r.disk.GatherSaved(st)
	}
	if a := s.Current().Artifact; s.CurrentState.Gated() || a != nil && a.Stale {
		r.disk.GatherDraft(ctx, st)
	}
	return st
}

// known gathers the facts that need no file.
func (r *run) known(s *workflow.Session) *standing.Standing {
	c := r.project.Config
	w := c.Under(s.Definition())
	st := &standing.Standing{
		Session: s, Workflow: w, Stage: w.Current(s), Folder: r.project.Dir.Path(), SessionFile: store.SessionPath(s.SessionID),
		Tasks: artifact.TaskFolder(s.TaskName) + "/", Integrity: r.check.Found, Stopped: r.check.Stops, Trusting: r.keeper.Trusting(),
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
