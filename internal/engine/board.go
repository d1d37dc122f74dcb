package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Board is the sessions of a project that were changed last.
type Board struct {
	// Cwd is the project's folder.
	Cwd string
	// rows are the sessions, changed last first.
	Rows []Row
	// More is true if older ones were left out.
	More bool
	// Broken has an error text for each session that cannot be read.
	Broken []string
}

// Row is a session on a board.
type Row struct {
	workflow.Summary
	// Changed is true if other hands have changed the session.
	Changed bool
}

// Board returns at most n sessions of a project, at a cost that hardly grows with how many there
// are. Broken sessions are described in the language l.
func (e *Engine) Board(ctx context.Context, at project.Address, n int, l lang.Language) (Board, error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return Board{}, err
	}
	defer p.Close()
	all, err := p.Backend.Latest(ctx, n)
	if err != nil {
		return Board{}, err
	}
	listed := all.Sessions[:min(n, len(all.Sessions))]
	board := Board{Cwd: p.Dir.Path(), More: all.Unread > 0 || len(all.Sessions) > n}
	for _, b := range all.Broken {
		board.Broken = append(board.Broken, lang.Of(b.Err).In(l))
	}
	changed := e.keeper.findChanged(ctx, p, listed, false)
	for _, s := range listed {
		_, other := changed[s.SessionID]
		board.Rows = append(board.Rows, Row{Summary: s, Changed: other})
	}
	return board, ctx.Err()
}
