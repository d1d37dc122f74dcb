package memory

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// Forget deletes a note for by, in a way that a merge does not bring it back. Its text stays in
// the file, so that it can be restored. It returns the note.
func (b *Book) Forget(ctx context.Context, kind notes.Type, ref, by string) (notes.Note, error) {
	return b.amend(ctx, kind, ref, func(w *writing, e *notes.Entry) error { return w.Forget(e, by, w.Now()) })
}

// Restore brings back a deleted note, and returns it.
func (b *Book) Restore(ctx context.Context, kind notes.Type, ref string) (notes.Note, error) {
	return b.amend(ctx, kind, ref, func(w *writing, e *notes.Entry) error { return w.Restore(e, w.Now()) })
}

// Purge deletes a note and removes its text from the files. The history of git keeps it.
func (b *Book) Purge(ctx context.Context, kind notes.Type, ref, by string) (notes.Note, error) {
	return b.amend(ctx, kind, ref, func(w *writing, e *notes.Entry) error { return w.Purge(e, by, w.Now()) })
}

// amend runs a plan on the note of an id, and returns the note.
func (b *Book) amend(ctx context.Context, kind notes.Type, ref string, plan func(*writing, *notes.Entry) error) (out notes.Note, err error) {
	w, err := b.write()
	if err != nil {
		return out, err
	}
	err = w.ChangeKnown(ctx, true, func() error {
		e, err := w.Find(kind, ref)
		if err != nil {
			return err
		}
		if n := e.Last(); n != nil {
			out = *n
		}
		return plan(w, e)
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
	w, err := b.write()
	if err != nil {
		return out, err
	}
	out.Files = []string{}
	// Lines go before the ones that hide them: cut between two parts, nothing that was hidden comes
	// back.
	for _, hiding := range []bool{false, true} {
		before := out
		if err := w.ChangeKnown(ctx, apply, func() error {
			out = before
			files, err := w.Sweep(&out.Swept, hiding, w.Now())
			for _, name := range files {
				if file := w.File(name); !slices.Contains(out.Files, file) {
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
