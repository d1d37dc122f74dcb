package engine

import (
	"context"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// run is one action on one session.
type run struct {
	engine  *Engine
	project *project.Project
	id      string
	req     request.Request
	// call is when the call came in, by the engine's memory.
	call   int64
	caller caller
	check  *check
	disk   *documents.Disk
	// viewed is the document of a question left unanswered to read the document.
	viewed string
	// accepted is the offer taken by the person with a yes; nil if there is none.
	accepted *permission.Want
}

func (e *Engine) newRun(p *project.Project, id string, req request.Request, call int64) *run {
	return &run{
		engine: e, project: p, id: id, req: req, call: call,
		caller: e.memory.callerOf(p, id, req.Client), check: e.keeper.newCheck(p, id), disk: documents.On(p),
	}
}

func (r *run) fireEvent(ctx context.Context, s *standing.Standing, event workflow.Event, note workflow.Transition) error {
	note.Event, note.Action, note.By, note.At = event, r.req.Action, r.req.By, r.engine.Now()
	note.Person, note.Commit = r.engine.personOf(r.project), r.headCommit(s.Stage)
	if note.GoesOn(s.Stage.Kind) && note.Path != "" {
		if note.Named = r.disk.NamedIn(ctx, note); len(note.Named) > 0 {
			note.Commit = r.checkedOut()
		}
	}
	return s.Workflow.Fire(ctx, s.Session, note, workflow.StageID(r.req.Stage))
}

// gatherAll gathers all facts about a session, for the reply.
func (r *run) gatherAll(ctx context.Context, s *workflow.Session) *standing.Standing {
	ctx = context.WithoutCancel(ctx)
	st := r.gatherFacts(s)
	r.disk.Gather(ctx, st)
	r.markOthers(st.Since)
	st.Unwritten = r.disk.Unwritten
	st.Named = r.foundByName(ctx, s)
	return st
}

// markOthers marks the documents that somebody else let go on.
func (r *run) markOthers(all []standing.Since) []standing.Since {
	for i, me := 0, r.engine.personSeen(r.project); i < len(all); i++ {
		all[i].Others = !all[i].Is(me)
	}
	return all
}

// foundByName reports whether the next call finds the session by its task name: in the folder searched first, and
// before any other of the same name.
func (r *run) foundByName(ctx context.Context, s *workflow.Session) bool {
	q := &r.req
	if s.CurrentState.WaitsForHuman() { // their word goes by the id
		return false
	}
	if q.Cwd != "" || q.Several || len(q.Places) == 0 || filepath.Clean(q.Places[0]) != r.project.Dir.Path() {
		return false
	}
	id, err := r.project.Backend.Find(ctx, s.TaskName)
	return err == nil && id == s.SessionID
}

// gatherNeeded gathers the facts on which the possibility of an action depends. It reads only the files for them;
// for a question to the person it gathers all facts.
func (r *run) gatherNeeded(ctx context.Context, s *workflow.Session) *standing.Standing {
	if r.req.Ask != nil {
		return r.gatherAll(ctx, s)
	}
	ctx = context.WithoutCancel(ctx)
	st := r.gatherFacts(s)
	if r.req.Action == workflow.ActionSubmit || st.Strict {
		r.disk.GatherSaved(ctx, st)
	}
	a := s.Current().Artifact
	isStale := a != nil && a.Stale
	if s.CurrentState.Gated() || s.GateMet() || isStale {
		r.disk.GatherDraft(ctx, st)
	}
	return st
}

// gatherFacts gathers the facts that need no file.
func (r *run) gatherFacts(s *workflow.Session) *standing.Standing {
	c := r.project.Config
	settings := c.Under(s.Definition())
	w := r.engine.keeper.withKeptRules(settings, r.check.found)
	spoken := r.project.Language(s.Objective)
	st := &standing.Standing{
		Session: s, Language: spoken, Documents: r.project.DocumentLanguage(s.Objective, spoken), Workflow: w,
		Stage: w.Current(s), Folder: r.project.Dir.Path(), SessionFile: store.SessionPath(s.SessionID),
		Tasks: artifact.TaskFolder(s.TaskName) + "/", Integrity: r.check.found, Settings: settings, Strict: r.check.strict, Trusting: r.engine.keeper.records != nil,
		Sparing: c.Replies == config.RepliesLean, Names: r.engine.options.Names,
		Call: standing.Call{
			Action: r.req.Action, Stage: r.req.Stage, Asks: r.req.Ask != nil, Forms: r.req.Forms, NoForms: r.req.NoForms, HostConfirm: r.req.HostConfirm, Inline: r.req.Inline,
			Waits: r.req.Hold != nil, Chat: r.req.Chat,
		},
	}
	if r.project.Home != r.project.Dir {
		st.Draft.Worktree, st.SessionFile = st.Folder, r.project.Home.Join(st.SessionFile)
	}
	st.Homeless = r.project.MissingWorktree(s)
	if elsewhere, ok := r.project.Backend.(store.Named); ok {
		st.SessionFile = elsewhere.Name()
	}
	if r.req.Page != nil && s.CurrentState.WaitsForHuman() {
		st.Call.Page = r.req.Page(st.Folder, s.TaskName, string(s.CurrentStage))
	}
	st.MaxIterations, st.MaxRework = c.Rounds()
	st.Policy = st.Stage.Policy()
	isAtGate := s.CurrentState.Gated() || s.GateMet()
	if at := s.Current().Policy; at != nil && isAtGate {
		st.Policy = st.Policy.Stricter(*at)
	}
	if isRuled := st.Policy.Ruled(); isRuled || r.project.IsShared() && s.CurrentState.WaitsForHuman() {
		who := r.engine.personSeen(r.project)
		st.Call.Untold = who.Account != "" && who.Subject == ""
		if isRuled {
			st.Call.Person = who
		}
	}
	st.Draft.Work = artifact.WorkPath(s.TaskName, s.CurrentStage)
	st.Draft.Path = st.Draft.Work
	return st
}

// putQuestion puts a question to the person, who may edit the draft before they answer.
func (r *run) putQuestion(ctx context.Context, s *standing.Standing, q gate.Question) (gate.Response, error) {
	r.project.Dir.ForgetFolders() // the person may take their time
	a, err := r.req.Ask.Ask(ctx, q)
	r.disk.Forget(s)
	if workflow.HasAnsweredIn(s.Session.History, r.req.By) { // this host shows forms, whatever became of this one
		a.Silence.Unasked = false
	}
	if a.Silence.View {
		r.viewed = q.Document
	}
	return a, err
}
