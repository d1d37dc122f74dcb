package memory

import (
	"context"
	"slices"
	"time"
)

// tombstoneAge is how long the deletion of a note is kept after its text is gone: a branch that
// is merged later could bring the note back.
const tombstoneAge = 90 * 24 * time.Hour

// Collected is what gc removes, in lines.
type Collected struct {
	Expired    int `json:"expired"`
	Superseded int `json:"superseded"`
	// Deleted are texts of deleted notes, which can then not be restored.
	Deleted    int `json:"deleted"`
	Tombstones int `json:"tombstones"`
	// Separated are notes that had the id of another one, and get their own.
	Separated int      `json:"separated"`
	Files     []string `json:"files"`
	Applied   bool     `json:"applied"`
}

// Lines is the number of lines that are removed.
func (c Collected) Lines() int { return c.Expired + c.Superseded + c.Deleted + c.Tombstones }

// Collect finds, and with apply removes, lines that no longer count: those of expired and deleted
// notes, those that a later line replaces, and old deletions. Lines that cannot be read stay.
func (b *Book) Collect(ctx context.Context, apply bool) (out Collected, err error) {
	if err := b.allowed(); err != nil {
		return out, err
	}
	out.Files = []string{}
	// Lines go before the ones that hide them: cut between two parts, nothing that was hidden comes
	// back.
	for _, last := range []bool{false, true} {
		before := out
		if err := b.changeKnown(ctx, apply, func() error {
			out = before
			return b.collect(&out, last)
		}); err != nil {
			return out, err
		}
	}
	out.Applied = apply
	return out, nil
}

// collect removes the lines that no longer count: those that hide others, or those that do not.
func (b *Book) collect(out *Collected, last bool) error {
	now := b.m.Now()
	changes := map[*line][]byte{}
	for _, e := range b.notes.entries {
		for _, l := range e.hidden {
			switch {
			case last: // they hide nothing
				continue
			case l.note.Expired(now):
				out.Expired++
				changes[l] = nil
				continue
			}
			n := *l.note
			n.ID = ownID(n.Project, n.Agent, n.Text)
			encoded, err := encode(&n, l.raw)
			if err != nil {
				return err
			}
			changes[l] = encoded
			out.Separated++
		}
		for _, l := range e.lines {
			if _, separated := changes[l]; separated {
				continue
			}
			if count, hides := out.fate(e, l, now); count != nil && hides == last {
				*count++
				changes[l] = nil
			}
		}
	}
	b.notes.replace(changes, nil)
	for _, part := range b.notes.edited {
		if name := b.own() + "/" + part; !slices.Contains(out.Files, name) {
			out.Files = append(out.Files, name)
		}
	}
	return nil
}

// fate returns the count that a line belongs to, nil where it stays; last is true where it hides
// other lines.
func (c *Collected) fate(e *entry, l *line, now time.Time) (count *int, last bool) {
	switch {
	case l == e.note && e.deleted():
		return &c.Deleted, false
	case l == e.note && e.note.note.Expired(now):
		return &c.Expired, true
	case l == e.note, l == e.tomb && e.note != nil && e.deleted(), l == e.tomb && e.note == nil && now.Sub(l.stamp) < tombstoneAge:
		return nil, false
	case l == e.tomb && e.note == nil:
		return &c.Tombstones, false
	}
	return &c.Superseded, false
}

// Stats counts what a project remembers.
type Stats struct {
	Folder  string         `json:"folder"`
	Notes   int            `json:"notes"`
	ByType  map[Type]int   `json:"by_type"`
	ByAgent map[string]int `json:"by_agent"`
	// Expired and Deleted notes are still in the files; Foreign ones are read from other programs'.
	Expired  int   `json:"expired"`
	Deleted  int   `json:"deleted"`
	Foreign  int   `json:"foreign"`
	Files    int   `json:"files"`
	Bytes    int64 `json:"bytes"`
	Problems int   `json:"problems"`
}

// Stats counts the notes of a project that a filter chooses.
func (b *Book) Stats(ctx context.Context, f Filter) (Stats, error) {
	out := Stats{Folder: b.own(), ByType: map[Type]int{}, ByAgent: map[string]int{}}
	if err := f.check(); err != nil {
		return out, err
	}
	done, err := b.reading(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	s, now := b.notes, b.m.Now()
	for _, e := range s.entries {
		switch n := e.live(); {
		case e.note != nil && !f.takes(e.note.note):
		case n == nil && e.note != nil:
			out.Deleted++
		case n == nil:
		case n.Expired(now):
			out.Expired++
		default:
			out.Notes++
			out.ByType[n.Type]++
			out.ByAgent[n.Agent]++
		}
	}
	for _, p := range s.parts {
		out.Bytes += int64(len(p.data))
	}
	out.Files, out.Foreign, out.Problems = len(s.parts), len(s.foreign), len(b.problems())
	return out, nil
}
