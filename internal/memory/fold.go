package memory

import (
	"bytes"
	"cmp"
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
		return cmp.Compare(side(a.note == nil), side(b.note == nil))
	}
	return bytes.Compare(a.raw, b.raw)
}

// side orders what is true after what is not.
func side(is bool) int {
	if is {
		return 1
	}
	return 0
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
