package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Filter chooses notes; a zero field chooses all.
type Filter struct {
	Type  Type
	Agent string
	// Deleted and Expired add the notes that are not found any more.
	Deleted, Expired bool
}

func (f Filter) check() error {
	if f.Type != "" {
		if err := f.Type.check(); err != nil {
			return err
		}
	}
	if f.Agent != "" {
		return CheckAgent(f.Agent)
	}
	return nil
}

// takes reports whether a note has the type and the agent.
func (f Filter) takes(n *Note) bool {
	return (f.Type == "" || n.Type == f.Type) && (f.Agent == "" || strings.EqualFold(n.Agent, f.Agent))
}

// Listed is a list of notes.
type Listed struct {
	// Notes are sorted: the newest first.
	Notes []Note
	// Problems are lines and files that cannot be used.
	Problems []Problem
}

// List returns the notes of a project, without the credentials that other hands have put into them.
func (b *Book) List(ctx context.Context, f Filter) (Listed, error) {
	if err := b.allowed(); err != nil {
		return Listed{}, err
	}
	if err := f.check(); err != nil {
		return Listed{}, err
	}
	s, now := b.notes, b.m.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := b.refresh(ctx); err != nil {
		return Listed{}, b.trouble(err)
	}
	var out Listed
	for _, e := range s.entries {
		n := e.live()
		if f.Deleted && e.deleted() && e.note != nil {
			n = e.note.note
		}
		if n == nil || !f.takes(n) || !f.Expired && n.Expired(now) {
			continue
		}
		out.Notes = append(out.Notes, n.Masked())
	}
	slices.SortFunc(out.Notes, newest)
	out.Problems = b.problems()
	return out, nil
}

// newest orders notes: the newest first, and those of one time by their keys.
func newest(a, b Note) int {
	return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt.Time), cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
}

// Show returns a note by its id or the beginning of it, deleted and expired ones as well.
func (b *Book) Show(ctx context.Context, kind Type, ref string) (n Note, deleted bool, file string, err error) {
	done, err := b.reading(ctx)
	if err != nil {
		return n, false, "", err
	}
	defer done()
	key, e, err := b.find(kind, ref)
	if f := b.notes.foreign[foreignName(ref)]; f.Note != nil {
		return f.Masked(), false, f.from, nil
	}
	if err != nil {
		return n, false, "", err
	}
	if e.note == nil {
		return Note{V: format, ID: key.ID, Type: key.Type}, true, b.own() + "/" + e.tomb.part.name, nil
	}
	return e.note.note.Masked(), e.deleted(), b.own() + "/" + e.note.part.name, nil
}
