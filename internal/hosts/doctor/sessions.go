package doctor

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// CheckSessions checks the sessions of a project, and the texts of them, in any store.
func CheckSessions(ctx context.Context, l lang.Language, sessions store.Backend) ([]Check, error) {
	all, err := sessions.All(ctx)
	if err != nil {
		return nil, err
	}
	readable, texts, rows, n := newOK("sessions", ""), newOK("contents", ""), newOK("rows", ""), 0
	broken := func(path string, err error) {
		f := fault.From(err).Translated(l)
		readable.addDefect(Problem, path, f.Message)
		readable.Remedy = f.Hint
	}
	for _, b := range all.Broken {
		if !b.Listed {
			broken(b.Path, b.Err)
			continue
		}
		f := fault.From(b.Err).Translated(l)
		rows.addDefect(Problem, b.Path, f.Message)
		rows.Remedy = f.Hint
	}
	for _, sum := range all.Sessions {
		s, err := sessions.Get(ctx, sum.SessionID)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			broken(store.SessionPath(sum.SessionID), err)
			continue
		}
		seen := map[string]bool{}
		for _, ref := range referencesOf(s) {
			if seen[ref.path] {
				continue
			}
			seen[ref.path] = true
			n++
			body, err := sessions.Read(ctx, workflow.ContentRef{FilePath: ref.path, Size: ref.size})
			switch {
			case errors.Is(err, fs.ErrNotExist):
				texts.addDefect(Problem, ref.path, l.Say("missing"))
			case err != nil:
				return nil, err
			case ref.sum != "" && workflow.Hash([]byte(body)) != ref.sum:
				texts.addDefect(Problem, ref.path, l.Say("changed since it was stored"))
			}
		}
	}
	readable.Detail = l.Say("%d readable, %d not", len(all.Sessions), len(readable.Items))
	texts.Detail = l.Say("%d texts, %d missing or changed", n, len(texts.Items))
	if len(rows.Items) == 0 {
		return []Check{readable, texts}, nil
	}
	rows.Detail = l.Say("%d are not as their runs say", len(rows.Items))
	return []Check{readable, texts, rows}, nil
}
