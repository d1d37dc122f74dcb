package memory

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// Check lists what cannot be used of the notes, with its place.
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
	return append(out, elsewhere(b)...), nil
}

// elsewhere names folders with notes of ours that are not read, because another one is.
func elsewhere(b *Book) (out []Problem) {
	for _, name := range usualFolders() {
		if info, err := b.p.Dir.Stat(name + "/" + Subfolder); name != b.folder && err == nil && info.IsDir() {
			out = append(out, Problem{Path: name + "/" + Subfolder, Why: lang.T("the notes in this folder are not read, because those in %s are: bmad-mcp memory import FILE takes them in", b.own())})
		}
	}
	return out
}
