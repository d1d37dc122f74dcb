package engine

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// start makes a session at the first stage.
func (e *Engine) start(ctx context.Context, req request.Request) (Outcome, error) {
	p, err := e.Projects().At(req.Address)
	if err != nil {
		return Outcome{}, err
	}
	defer p.Close()
	// Before anything is created: with a broken prompt file the session would have no briefing.
	guard := e.person.In(p)
	w, err := guard.Chosen(req.Workflow)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.CheckPrompts(w); err != nil {
		return Outcome{}, err
	}
	id := e.options.NewID()
	s := w.NewSession(id, strings.TrimSpace(req.Objective), p.Dir.Path(), req.By, e.Now())
	s.History[0].Person = e.personOf(p)
	s.Policy = policiesOf(p.Config.Under(w)) // the session keeps the definition without the settings
	s.History[0].Rules = maps.Clone(s.Policy)
	guard.KeepVerify(s)
	settings := config.ProjectFile
	if p.Dir.Exists(workflow.ProjectFile) { // which the first run makes
		settings = ""
	}
	if err := e.keeper.maySign(ctx); err != nil {
		return Outcome{}, err
	}
	if w.KeepsTree(w.First(), true) {
		s.History[0].Tree = documents.On(p).Tree(ctx, s)
		s.History[0].Dirty = documents.On(p).Dirty(ctx, s)
		s.History[0].Commit, _ = git.Head(p.Dir.Path()) // doctor names the trouble of a repository
	}
	signer := e.keeper.historySigner(ctx)
	projectID := e.keeper.projectID(ctx, p, signer, "")
	names := store.Names{
		Candidate: func(n int) string {
			return artifact.Name(cmp.Or(strings.TrimSpace(req.TaskName), req.Objective), id, n)
		},
		// Documents of an earlier run whose sessions are gone must not be written over.
		Taken: func(name string) bool {
			hasBranch := req.Apart && p.HasBranch(name)
			isBlocked := req.Apart && git.HasBranchBelow(p.Home.Path(), workflow.BranchFor(name))
			return hasBranch || isBlocked || p.Dir.Exists(artifact.TaskFolder(name)) || p.Dir.Exists(artifact.WorkTask(name))
		},
		Named: func(s *workflow.Session) error {
			if req.Apart {
				s.Branch = workflow.BranchFor(s.TaskName)
			}
			return s.SignNew(signer, projectID)
		},
	}
	if err := p.Backend.Create(ctx, s, names); err != nil {
		return Outcome{}, err
	}
	if err := e.Projects().Remember(ctx, p); err != nil { // the session itself is stored
		e.options.Log.Warn("the list of known projects was not updated", "error", err)
	}
	r := e.newRun(p, id, req, 0)
	r.check.recordSession(ctx, s)
	r.caller.noteShown(s.Revision)
	where := ""
	if elsewhere, ok := p.Backend.(store.Named); ok {
		where = elsewhere.Name()
	}
	if req.Client != "" && req.Cwd == "" { // one of several callers: the person may think of another project
		where = p.Dir.Path()
	}
	st := r.gatherAll(ctx, s)
	return r.buildReply(ctx, st, reply.Whole, words.Started(st, where, settings))
}
