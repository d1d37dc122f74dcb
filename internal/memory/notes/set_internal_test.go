package notes

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// state returns all that notes say, for comparison.
func (s *Set) state() string {
	var out strings.Builder
	for _, p := range s.sortedParts() {
		for _, l := range p.lines {
			fmt.Fprintf(&out, "%s:%d@%d %q %v %v\n", p.name, l.number, l.start, l.raw, l.key, l.why)
			if l.part != p || !bytes.Equal(p.data[l.start:l.start+len(l.raw)], l.raw) {
				fmt.Fprintf(&out, "misplaced: %q\n", p.data[l.start:])
			}
		}
		fmt.Fprintf(&out, "%d bad\n", len(p.bad))
	}
	for _, n := range s.live() {
		fmt.Fprintf(&out, "%+v\n", n)
	}
	s.firstOf(sum{}) // which sums all texts, if nobody has looked for one yet
	fmt.Fprintf(&out, "%d entries, %d sums, project %q\n", len(s.entries), len(s.alike), s.Project())
	return out.String()
}

// live returns the notes that are not deleted, sorted by key.
func (s *Set) live() (out []Note) {
	for e := range s.Entries() {
		if n := e.Note(); n != nil {
			out = append(out, *n)
		}
	}
	slices.SortFunc(out, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	return out
}

// compare reads data after old, as a refresh does, and by itself: both have to be the same.
func compare(t *testing.T, old, data []byte) {
	t.Helper()
	after, alone := NewSet(), NewSet()
	after.setPart(&part{name: "stories.jsonl", kind: Stories}, old)
	after.firstOf(sum{})
	after.setPart(&part{name: "stories.jsonl", kind: Stories}, data)
	alone.setPart(&part{name: "stories.jsonl", kind: Stories}, data)
	if got, want := after.state(), alone.state(); got != want {
		t.Fatalf("%q after %q is read as\n%s\nwant\n%s", data, old, got, want)
	}
}

// TestReadAgain: a file that has changed is read as if for the first time, whichever of its lines
// are kept from before.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	for seed := range 300 {
		r := rand.New(rand.NewPCG(7, uint64(seed)))
		line := func() string {
			switch id := r.IntN(6); r.IntN(6) {
			case 0:
				return fmt.Sprintf(`{"v":1,"id":"k%d","deleted_at":"2026-01-0%dT00:00:00Z"}`, id, 1+r.IntN(9))
			case 1:
				return strings.Repeat(" ", r.IntN(3))
			case 2:
				return "<<<<<<< x"
			default:
				return fmt.Sprintf(`{"v":1,"id":"k%d","agent":"a","text":"t%d","project":"p%d","created_at":"2026-01-0%dT00:00:00Z"}`, id, r.IntN(3), r.IntN(2), 1+r.IntN(9))
			}
		}
		var lines []string
		for range r.IntN(9) {
			lines = append(lines, line())
		}
		old := []byte(strings.Join(lines, "\n"))
		for range r.IntN(4) {
			at := r.IntN(len(lines) + 1)
			switch {
			case r.IntN(2) == 0 || at == len(lines):
				lines = slices.Insert(lines, at, line())
			case r.IntN(2) == 0:
				lines = slices.Delete(lines, at, at+1)
			default:
				lines[at] = line()
			}
		}
		data := []byte(strings.Join(lines, "\n") + []string{"", "\n", "\r\n", "\n\n"}[r.IntN(4)])
		compare(t, old, data)
		compare(t, data, old)
		compare(t, old, nil)
	}
}

// FuzzLines: whatever a file has is read without a panic, the same after any other file, and a rewrite
// of one line keeps all others.
func FuzzLines(f *testing.F) {
	good := `{"v":1,"id":"a","type":"stories","agent":"x","text":"one","tags":[],"updated_at":"2026-01-01T00:00:00Z","other":{"k":[1,2]}}`
	f.Add(good+"\n", "\ufeff"+good+"\r\n<<<<<<<\n"+good)
	f.Add("{}\n[]\n\xff\n", `{"v":1,"id":"a","deleted_at":"2026-01-01"}`)
	f.Add("", "\n\n \n")
	f.Fuzz(func(t *testing.T, old, data string) {
		compare(t, []byte(old), []byte(data))
		s := NewSet()
		s.setPart(&part{name: "stories.jsonl", kind: Stories}, []byte(data))
		p := s.parts["stories.jsonl"]
		for i, l := range p.lines {
			after := NewSet()
			after.setPart(&part{name: "stories.jsonl", kind: Stories}, []byte(data))
			other := []byte("{}\n")
			if i == len(p.lines)-1 {
				other = other[:2] // nothing is behind it
			}
			after.replaceLines(map[*line][]byte{after.parts["stories.jsonl"].lines[i]: other})
			kept := after.parts["stories.jsonl"].lines
			if len(kept) != len(p.lines) || string(kept[i].raw) != "{}" {
				t.Fatalf("%q without line %d has %d lines of %d", data, i, len(kept), len(p.lines))
			}
			for j := range kept {
				if j != i && !bytes.Equal(kept[j].raw, p.lines[j].raw) {
					t.Fatalf("%q: line %d is now %q", data, j, kept[j].raw)
				}
			}
			if l.note == nil {
				continue
			}
			encoded, err := encodeLine(l.note, l.raw)
			if err != nil {
				t.Fatal(err)
			}
			again := parseLine(bytes.TrimSuffix(encoded, newline), Stories)
			if len(encoded) < maxLine && (again.key != l.key || again.note == nil || again.note.Text != l.note.Text || len(unknownKeys(encoded)) != len(unknownKeys(l.raw))) {
				t.Fatalf("%q becomes %q", l.raw, encoded)
			}
		}
	})
}
