package memory

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// Check lists what cannot be used of the notes, with its place, and notes that another hides.
func (b *Book) Check(ctx context.Context) ([]Problem, error) {
	done, err := b.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, err := b.look(ctx, &b.notes.runs, grimoire.RunSources); err != nil {
		return nil, err
	}
	out := append(b.problems(), spoken(b.p.Language(""), slices.Clone(b.notes.runs.problems))...)
	for _, e := range b.notes.entries {
		for _, l := range e.hidden {
			out = append(out, Problem{Path: b.own() + "/" + l.part.name, Line: l.number, Why: lang.T("the note has the id of another one, which hides it: bmad-mcp memory gc --apply gives it its own")})
		}
	}
	return out, nil
}
