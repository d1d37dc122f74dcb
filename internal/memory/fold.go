package memory

import (
	"bytes"
	"cmp"
	"slices"
)

// entry is what all lines of one key mean together.
type entry struct {
	lines []*line
	// note is the latest line with a text, tomb the latest that deletes it; either may be nil.
	note, tomb *line
	// hidden are notes with another text that begins alike: two branches have given both one id.
	hidden []*line
}

// fold decides which lines of a key count. The result does not depend on their order.
func (e *entry) fold() {
	e.note, e.tomb, e.hidden = nil, nil, nil
	for _, l := range e.lines {
		to := &e.note
		if l.note == nil {
			to = &e.tomb
		}
		if *to == nil || later(l, *to) > 0 {
			*to = l
		}
	}
	if len(e.lines) < 2 || e.note == nil {
		return
	}
	texts := map[string]bool{e.note.note.Text: true}
	for _, l := range e.lines {
		if n := l.note; n != nil && !texts[n.Text] && (e.tomb == nil || later(l, e.tomb) > 0) && idSource("", n.Agent, n.Text) == idSource("", e.note.note.Agent, e.note.note.Text) {
			texts[n.Text] = true
			e.hidden = append(e.hidden, l)
		}
	}
}

// later orders the lines of a key: by time; at the same time a deletion wins, else the greater
// content, so that every reader chooses the same.
func later(a, b *line) int {
	if c := a.stamp.Compare(b.stamp); c != 0 {
		return c
	}
	if (a.note == nil) != (b.note == nil) {
		return cmp.Compare(map[bool]int{true: 1}[a.note == nil], map[bool]int{true: 1}[b.note == nil])
	}
	if bytes.Equal(a.raw, b.raw) {
		return 0
	}
	return bytes.Compare(a.canonical(), b.canonical())
}

// deleted reports whether a deletion is what counts.
func (e *entry) deleted() bool { return e.tomb != nil && (e.note == nil || later(e.tomb, e.note) > 0) }

// live returns the note, or nil where there is none or it was deleted.
func (e *entry) live() *Note {
	if e.note == nil || e.deleted() {
		return nil
	}
	return e.note.note
}

// Fold returns the notes of the lines of files, sorted by key: of several lines about one note
// the latest counts, and a deletion where two are of the same time. It depends neither on the order
// of lines nor on how often one is there.
func Fold(files map[Type][]byte) []Note {
	all := newNotes()
	for _, kind := range Types() {
		all.set(&part{kind: kind}, files[kind])
	}
	return all.live()
}

// live returns the notes that are not deleted, sorted by key.
func (s *notes) live() []Note {
	var out []Note
	for _, e := range s.entries {
		if n := e.live(); n != nil {
			out = append(out, *n)
		}
	}
	slices.SortFunc(out, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	return out
}
