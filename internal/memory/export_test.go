package memory

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// Fold returns the notes of the lines of files, sorted by key.
func Fold(files map[Type][]byte) []Note {
	all := newNotes()
	for kind, data := range files {
		all.set(&part{name: partName(kind, 0), kind: kind}, data)
	}
	return all.live()
}

// live returns the notes that are not deleted, sorted by key.
func (s *notes) live() (out []Note) {
	for n := range s.all {
		out = append(out, *n.Note)
	}
	slices.SortFunc(out, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Impatient bounds the wait for the lock.
func (b *Book) Impatient(wait time.Duration) { b.p.Dir.LockTimeout = wait }

// Pad makes a file of notes longer by a line of spaces, which says nothing.
func (b *Book) Pad(name string, size int) error {
	data, err := b.p.Dir.ReadFile(b.own()+"/"+name, maxPart)
	if err != nil {
		return err
	}
	return b.p.Dir.Replace(b.own()+"/"+name, append(append(data, bytes.Repeat([]byte(" "), size-len(data)-1)...), '\n'))
}
