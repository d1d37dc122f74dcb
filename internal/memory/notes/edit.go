package notes

import (
	"cmp"
	"slices"
)

// edit gives a part its new bytes, which the change writes at its end. The next refresh reads the
// part again, so that an edit that was not written is forgotten.
func (s *Set) edit(p *part, data []byte) {
	s.set(&part{name: p.name, kind: p.kind, number: p.number}, data)
	if !slices.Contains(s.edited, p.name) {
		s.edited = append(s.edited, p.name)
	}
}

// put writes a line of a type: in the place of an older one if there is room, else at the end of the
// last part. An older line that is kept becomes part of the history. It returns the name of the part.
func (s *Set) put(kind Type, value any, older *line) (name string, err error) {
	var raw []byte
	if older != nil {
		raw = older.raw
	}
	encoded, err := encode(value, raw)
	if err != nil {
		return "", err
	}
	if older != nil && len(older.part.data)-len(raw)+len(encoded) <= max(partLimit, len(older.part.data)) {
		s.replace(map[*line][]byte{older: encoded}, nil)
		return older.part.name, nil
	}
	last := &part{kind: kind, name: PartName(kind, 0)}
	for _, p := range s.parts {
		if p.kind == kind && p.number >= last.number {
			last = p
		}
	}
	if last.err != nil {
		return "", last.err
	}
	if !fits(last.data, encoded) {
		last = &part{kind: kind, number: last.number + 1, name: PartName(kind, last.number+1)}
	}
	s.edit(last, appendLine(last.data, encoded))
	return last.name, nil
}

// replace puts other lines in the place of some; an empty one removes its line. All other bytes
// stay. first is the part that is written before the others; nil if the order does not matter.
func (s *Set) replace(changes map[*line][]byte, first *part) {
	touched := map[*part]bool{}
	for l := range changes {
		touched[l.part] = true
	}
	parts := s.sortedParts()
	slices.SortStableFunc(parts, func(a, b *part) int { return cmp.Compare(side(b == first), side(a == first)) })
	for _, p := range parts {
		if !touched[p] {
			continue
		}
		var out []byte
		end := 0
		for _, l := range p.lines {
			if replacement, changed := changes[l]; changed {
				out = append(append(out, p.data[end:l.start]...), replacement...)
				end = min(l.start+len(l.raw)+1, len(p.data))
			}
		}
		s.edit(p, append(out, p.data[end:]...))
	}
}
