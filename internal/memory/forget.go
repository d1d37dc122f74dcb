package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// minRef is how much of an id names a note.
const minRef = 8

// find returns the entry of an id or of the beginning of one; kind may be "". The caller holds the
// lock of the notes.
func (b *Book) find(kind Type, ref string) (Key, *entry, error) {
	if kind != "" {
		if err := kind.check(); err != nil {
			return Key{}, nil, err
		}
	}
	ref = strings.ToLower(strings.TrimSpace(ref))
	var found []Key
	for key := range b.notes.entries {
		id := strings.ToLower(key.ID)
		if (kind == "" || kind == key.Type) && (id == ref || len(ref) >= minRef && strings.HasPrefix(id, ref)) {
			found = append(found, key)
		}
	}
	switch len(found) {
	case 0:
		return Key{}, nil, fault.New(fault.NotFound, "no note has the id %q", visible.Cut(visible.Line(ref), maxName, "…")).
			WithHint("bmad-mcp memory list shows the ids; the first %d characters of one are enough", minRef)
	case 1:
		return found[0], b.notes.entries[found[0]], nil
	}
	var names []string
	for _, key := range found {
		names = append(names, string(key.Type)+" "+key.ID)
	}
	slices.Sort(names)
	return Key{}, nil, fault.New(fault.Conflict, "%q is the id of %d notes: %s", visible.Cut(visible.Line(ref), maxName, "…"), len(found), strings.Join(names, ", ")).
		WithHint("give the whole id, or the type with --type")
}

// Forget deletes a note for by, in a way that a merge does not bring it back. Its text stays in
// the file, so that it can be restored. It returns the note.
func (b *Book) Forget(ctx context.Context, kind Type, ref, by string) (Note, error) {
	return b.amend(ctx, kind, ref, func(n *Note, e *entry) error {
		if e.live() == nil {
			return fault.New(fault.Conflict, "the note is deleted already").WithHint("restore brings it back")
		}
		_, err := b.notes.put(n.Type, e.bury(n.Key(), by, b.m.Now()), e.tomb)
		return err
	})
}

// amend runs a plan on the note of an id, and returns the note.
func (b *Book) amend(ctx context.Context, kind Type, ref string, plan func(n *Note, e *entry) error) (out Note, err error) {
	err = b.changeKnown(ctx, true, func() error {
		_, e, err := b.find(kind, ref)
		if err != nil {
			return err
		}
		if e.note != nil {
			out = *e.note.note
		}
		return plan(&out, e)
	})
	return out, err
}

// bury returns the line that deletes a note.
func (e *entry) bury(key Key, by string, now time.Time) tombstone {
	return tombstone{V: format, ID: key.ID, Type: key.Type, DeletedAt: e.after(now), By: visible.Cut(visible.Line(by), maxName, "…")}
}

// after is now, or later than every line of the entry: a clock that runs behind must not make a
// new line the older one.
func (e *entry) after(now time.Time) Time {
	stamp := at(now)
	for _, l := range e.lines {
		if !l.stamp.Before(stamp.Time) {
			stamp = at(l.stamp.Add(time.Millisecond))
		}
	}
	return stamp
}

// Restore brings back a deleted note, and returns it.
func (b *Book) Restore(ctx context.Context, kind Type, ref string) (Note, error) {
	return b.amend(ctx, kind, ref, func(n *Note, e *entry) error {
		switch {
		case e.live() != nil:
			return fault.New(fault.Conflict, "the note is not deleted").WithHint("nothing has to be restored")
		case e.note == nil:
			return fault.New(fault.NotFound, "the text of the note was removed").
				WithHint("remember it again; the history of git may have its text")
		}
		n.UpdatedAt = e.after(b.m.Now())
		_, err := b.notes.put(n.Type, n, e.note)
		return err
	})
}

// Purge deletes a note and removes its text from the files. A line without text stays, so that
// the merge of a branch that has the note does not bring it back. The history of git keeps it.
func (b *Book) Purge(ctx context.Context, kind Type, ref, by string) (Note, error) {
	return b.amend(ctx, kind, ref, func(n *Note, e *entry) error {
		if e.note == nil {
			return fault.New(fault.Conflict, "the text of the note was removed already").WithHint("nothing is left to purge")
		}
		dead, err := encode(e.bury(n.Key(), by, b.m.Now()), nil)
		if err != nil {
			return err
		}
		changes := map[*line][]byte{}
		for _, l := range e.lines {
			changes[l] = nil
		}
		// The part that gets the deletion is written first, so that it counts wherever the rest is cut.
		changes[e.note] = dead
		b.notes.replace(changes, e.note.part)
		return nil
	})
}
