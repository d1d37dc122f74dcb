package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Language returns the one of a caller about whom only a request is known: that of the session
// that it is for, else of its project, else of callers without either.
func (e *Engine) Language(ctx context.Context, req Request) lang.Language {
	at := req.Address()
	at.Optional = true
	if req.Action == workflow.ActionStart {
		at.Session = ""
	}
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		if p, err = e.Projects().At(project.Address{Cwd: at.Cwd, Places: at.Places}); err != nil {
			return e.Projects().Language(req.Objective)
		}
	}
	defer p.Close()
	if id == "" || req.Action == workflow.ActionStart {
		return p.Language(req.Objective)
	}
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return p.Language(req.Objective)
	}
	return p.Language(s.Objective)
}
