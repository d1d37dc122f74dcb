package memory

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// Forget deletes a note for by, in a way that a merge does not bring it back. Its text stays in
// the file, so that it can be restored. It returns the note.
func (b *Book) Forget(ctx context.Context, kind notes.Type, ref, by string) (notes.Note, error) {
	return b.amend(ctx, kind, ref, func(e *notes.Entry) error { return b.notes.Forget(e, by, b.m.Now()) })
}

// Restore brings back a deleted note, and returns it.
func (b *Book) Restore(ctx context.Context, kind notes.Type, ref string) (notes.Note, error) {
	return b.amend(ctx, kind, ref, func(e *notes.Entry) error { return b.notes.Restore(e, b.m.Now()) })
}

// Purge deletes a note and removes its text from the files. The history of git keeps it.
func (b *Book) Purge(ctx context.Context, kind notes.Type, ref, by string) (notes.Note, error) {
	return b.amend(ctx, kind, ref, func(e *notes.Entry) error { return b.notes.Purge(e, by, b.m.Now()) })
}

// amend runs a plan on the note of an id, and returns the note.
func (b *Book) amend(ctx context.Context, kind notes.Type, ref string, plan func(*notes.Entry) error) (out notes.Note, err error) {
	if err := b.Usable(); err != nil {
		return out, err
	}
	err = b.notes.ChangeKnown(ctx, true, func() error {
		e, err := b.notes.Find(kind, ref)
		if err != nil {
			return err
		}
		if n := e.Last(); n != nil {
			out = *n
		}
		return plan(e)
	})
	return out, err
}

// Collected counts the lines that gc removes.
type Collected struct {
	notes.Swept
	Files   []string `json:"files"`
	Applied bool     `json:"applied"`
}

// Collect finds, and with apply removes, lines that do not count: those of expired and deleted
// notes, those that a later line replaces, and old deletions. Lines that cannot be read stay.
func (b *Book) Collect(ctx context.Context, apply bool) (out Collected, err error) {
	if err := b.Usable(); err != nil {
		return out, err
	}
	out.Files = []string{}
	// Lines go before the ones that hide them: cut between two parts, nothing that was hidden comes
	// back.
	for _, hiding := range []bool{false, true} {
		before := out
		if err := b.notes.ChangeKnown(ctx, apply, func() error {
			out = before
			files, err := b.notes.Sweep(&out.Swept, hiding, b.m.Now())
			for _, name := range files {
				if file := b.notes.File(name); !slices.Contains(out.Files, file) {
					out.Files = append(slices.Clip(out.Files), file)
				}
			}
			return err
		}); err != nil {
			return out, err
		}
	}
	out.Applied = apply
	return out, nil
}
