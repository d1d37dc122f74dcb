package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Sessions returns every readable session of a project in short, the oldest first, and
// an error text for each that is not.
func (e *Engine) Sessions(ctx context.Context, req Request) (sessions []workflow.Summary, unreadable []string, cwd string, err error) {
	page, cwd, err := e.List(ctx, req, store.Query{})
	for _, b := range page.Broken {
		unreadable = append(unreadable, b.Err.Error())
	}
	store.SortByAge(page.Sessions)
	return page.Sessions, unreadable, cwd, err
}

// List returns the sessions of a project that a query asks for, and the project's folder.
func (e *Engine) List(ctx context.Context, req Request, q store.Query) (page store.Page, cwd string, err error) {
	p, err := e.projects.At(req.Address())
	if err != nil {
		return page, "", err
	}
	defer p.Close()
	page, err = p.Backend.List(ctx, q)
	return page, p.Dir.Path(), err
}

// Session returns one session in full, and its project folder.
func (e *Engine) Session(ctx context.Context, req Request) (s *workflow.Session, cwd string, err error) {
	p, id, err := e.projects.Find(ctx, req.Address())
	if err != nil {
		return nil, "", err
	}
	defer p.Close()
	s, err = p.Backend.Get(ctx, id)
	return s, p.Dir.Path(), err
}

// GateAction returns the action by which the session of a request is decided on where it
// stands, and the revision that it stands at.
func (e *Engine) GateAction(ctx context.Context, req Request) (workflow.Action, *workflow.Session, error) {
	s, _, err := e.Session(ctx, req)
	if err != nil {
		return "", nil, err
	}
	if !s.CurrentState.Gated() {
		return "", nil, words.NothingWaits(s)
	}
	return standing.GateAction(s.CurrentState), s, nil
}

// Inspect returns one session in full, the result of checking it, and its project folder.
func (e *Engine) Inspect(ctx context.Context, req Request) (s *workflow.Session, v workflow.Verification, cwd string, err error) {
	p, id, err := e.projects.Find(ctx, req.Address())
	if err != nil {
		return nil, v, "", err
	}
	defer p.Close()
	check := e.keeper.Of(p, id)
	s, err = check.Get(ctx)
	return s, check.Found, p.Dir.Path(), err
}

// Changed returns those of a project's sessions that were changed by other hands, by their
// ids. Unless all are asked for, only some of those without a record are verified.
func (e *Engine) Changed(ctx context.Context, req Request, ids []string, all bool) (map[string]workflow.Verification, error) {
	p, err := e.projects.At(req.Address())
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return e.keeper.Changed(ctx, p, ids, all), ctx.Err()
}
