package memory

import (
	"cmp"
	"slices"
)

// Fold returns the notes of the lines of files, sorted by key.
func Fold(files map[Type][]byte) (out []Note) {
	all := newNotes()
	for kind, data := range files {
		all.set(&part{name: partName(kind, 0), kind: kind}, data)
	}
	for _, e := range all.entries {
		if n := e.live(); n != nil {
			out = append(out, *n)
		}
	}
	slices.SortFunc(out, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	return out
}
