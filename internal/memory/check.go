package memory

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
)

// Check lists what cannot be used of the notes, with its place.
func (b *Book) Check(ctx context.Context) ([]Problem, error) {
	if err := b.allowed(); err != nil {
		return nil, err
	}
	b.notes.mu.Lock()
	defer b.notes.mu.Unlock()
	if err := b.current(ctx); err != nil {
		return nil, err
	}
	if _, err := b.look(ctx, &b.notes.runs, grimoire.RunSources); err != nil {
		return nil, err
	}
	return append(b.problems(), spoken(b.p.Language(""), slices.Clone(b.notes.runs.problems))...), nil
}
