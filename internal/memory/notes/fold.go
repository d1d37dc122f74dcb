package notes

import (
	"bytes"
	"cmp"
	"time"
)

// Entry is the meaning of all lines of one key together.
type Entry struct {
	lines []*line
	// note is the latest line with a text, tomb the latest that deletes it; either may be nil.
	note, tomb *line
	// hidden are notes with another text that begins alike: two branches have given both one id.
	hidden []*line
}

// Key returns the key of the note.
func (e *Entry) Key() Key { return e.top().key }

// Deleted reports whether a deletion counts.
func (e *Entry) Deleted() bool { return e.tomb != nil && (e.note == nil || later(e.tomb, e.note) > 0) }

// Note returns the note, or nil if there is none or it was deleted.
func (e *Entry) Note() *Note {
	if e.Deleted() {
		return nil
	}
	return e.Last()
}

// Last returns the note, also one that was deleted; nil if its text is gone.
func (e *Entry) Last() *Note {
	if e.note == nil {
		return nil
	}
	return e.note.note
}

// Place returns the file of the note, by its name in the folder, and the number of its line.
func (e *Entry) Place() (file string, number int) { return e.top().part.name, e.top().number }

// top returns the line of the note, or the one that deletes it if its text is gone.
func (e *Entry) top() *line {
	if e.note == nil {
		return e.tomb
	}
	return e.note
}

// fold decides which lines of a key count. The result does not depend on their order.
func (e *Entry) fold() {
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
	source := idSource("", e.note.note.Agent, e.note.note.Text)
	for _, l := range e.lines {
		n := l.note
		if n == nil || texts[n.Text] || e.tomb != nil && later(e.tomb, l) > 0 {
			continue
		}
		if idSource("", n.Agent, n.Text) == source {
			texts[n.Text] = true
			e.hidden = append(e.hidden, l)
		}
	}
}

// after returns now, or later than every line of the entry: a clock that runs behind must not make a
// new line the older one.
func (e *Entry) after(now time.Time) Time {
	stamp := At(now)
	for _, l := range e.lines {
		if !l.stamp.Before(stamp.Time) {
			stamp = At(l.stamp.Add(time.Millisecond))
		}
	}
	return stamp
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

// side orders true after false.
func side(is bool) int {
	if is {
		return 1
	}
	return 0
}
