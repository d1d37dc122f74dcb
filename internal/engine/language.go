package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Translated returns an error in the language of the person behind a request, unless code closer to
// a session has chosen one.
func (e *Engine) Translated(ctx context.Context, req request.Request, err error) *fault.Error {
	f := fault.From(err)
	switch {
	case f.Language != "":
		return f
	case f.Code == fault.Internal: // a bug: its cause must not be called again
		return f.Translated(e.Projects().Language(""))
	}
	return f.Translated(e.Language(context.WithoutCancel(ctx), req))
}

// Language returns the one for a request that is refused: that of the session that it is for,
// else of the project and its newest session, else of callers without a project. It reads one
// session at most.
func (e *Engine) Language(ctx context.Context, req request.Request) lang.Language {
	at := req.Address
	if at.Session != "" && req.Action != workflow.ActionStart {
		if p, id, err := e.Projects().Find(ctx, at); err == nil {
			defer p.Close()
			return p.Language(objective(ctx, p, id))
		}
		at.Session = ""
	}
	p, err := e.Projects().At(at)
	if err != nil { // the project that the request names is wrong; another may be at work
		p, err = e.Projects().At(project.Address{Places: at.Places})
	}
	if err != nil {
		return e.Projects().Language(req.Objective)
	}
	defer p.Close()
	if p.Config.Language != lang.Auto {
		return p.Language("")
	}
	return lang.Choose(lang.Auto, req.Objective, p.Language(objective(ctx, p, "")))
}

// objective returns that of a session; without an id, of the one that has changed last.
func objective(ctx context.Context, p *project.Project, id string) string {
	if id != "" {
		if s, err := p.Backend.Get(ctx, id); err == nil {
			return s.Objective
		}
	}
	if newest, err := p.Backend.Latest(ctx, 1); err == nil && len(newest.Sessions) > 0 {
		return newest.Sessions[0].Objective
	}
	return ""
}
