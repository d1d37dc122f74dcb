package engine

import (
	"context"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Spoken is the language of callers whose project and objective name none.
func (e *Engine) Spoken() lang.Language { return e.spoken }

// Language returns the one for a request that is refused: that of the session that it is for,
// else of the project and its newest session, else of callers without a project.
func (e *Engine) Language(ctx context.Context, req Request) lang.Language {
	at := req.Address()
	at.Optional = true
	if req.Action == workflow.ActionStart {
		at.Session = ""
	}
	p, id, err := e.projects.Find(ctx, at)
	if err != nil {
		p, err = e.projects.At(project.Address{Cwd: at.Cwd, Places: at.Places})
	}
	if err != nil { // the project that the request names is wrong; another may be at work
		p, err = e.projects.At(project.Address{Places: at.Places})
	}
	if err != nil {
		return e.language(nil, req.Objective)
	}
	defer p.Close()
	if strings.TrimSpace(req.Objective) != "" {
		return e.language(p, req.Objective)
	}
	return e.language(p, objective(ctx, p, id))
}

// objective returns that of a session; without an id, of the one that has changed last.
func objective(ctx context.Context, p *project.Project, id string) string {
	if id != "" {
		if s, err := p.Backend.Get(ctx, id); err == nil {
			return s.Objective
		}
	}
	page, err := p.Backend.List(ctx, store.Query{Limit: 1})
	if err != nil || len(page.Sessions) == 0 {
		return ""
	}
	return page.Sessions[0].Objective
}
