// Package textdiff compares two texts for people: line by line, and word by word in lines that
// changed. It is pure.
//
// A row is a line of either text, or a pair of lines that belong together. A span is a part of a
// line, which is either in both lines or in one of them.
package textdiff

import "strings"

// Kind is the way in which the two sides of a row differ.
type Kind string

// The kinds of rows.
const (
	Same    Kind = "same"
	Removed Kind = "removed"
	Added   Kind = "added"
	Changed Kind = "changed"
)

// Row is a line, or a pair of lines.
type Row struct {
	Kind Kind
	// Before and After are the numbers of the lines, from 1; 0 where that side has none.
	Before, After int
	Left, Right   []Span
}

// Span is a part of a line.
type Span struct {
	Text    string
	Changed bool
}

// Lines splits a text into its lines, without their ends.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// Rows compares two texts.
func Rows(before, after string) []Row {
	a, b := Lines(before), Lines(after)
	var rows []Row
	i, j := 0, 0
	for _, m := range append(align(a, b), match{len(a), len(b), 0}) {
		rows = append(rows, between(a[i:m.a], b[j:m.b], i, j)...)
		for k := range m.n {
			rows = append(rows, Row{Kind: Same, Before: m.a + k + 1, After: m.b + k + 1, Left: whole(a[m.a+k]), Right: whole(b[m.b+k])})
		}
		i, j = m.a+m.n, m.b+m.n
	}
	return rows
}

func whole(line string) []Span { return []Span{{Text: line}} }

// Stat counts the lines that were added, removed and changed.
func Stat(rows []Row) (added, removed, changed int) {
	for _, r := range rows {
		switch r.Kind {
		case Added:
			added++
		case Removed:
			removed++
		case Changed:
			changed++
		case Same:
		}
	}
	return added, removed, changed
}

// Hunk is a run of rows with differences, and the rows around them.
type Hunk struct {
	// Skipped counts the rows before it that are left out, because they are the same.
	Skipped int
	Rows    []Row
}

// Fold leaves out the rows that are further than around from a difference. The last hunk has
// only the number of those at the end.
func Fold(rows []Row, around int) []Hunk {
	near := make([]bool, len(rows))
	for i, r := range rows {
		if r.Kind != Same {
			for k := max(0, i-around); k <= min(len(rows)-1, i+around); k++ {
				near[k] = true
			}
		}
	}
	var out []Hunk
	skipped := 0
	for i, r := range rows {
		if !near[i] {
			skipped++
			continue
		}
		if skipped > 0 || len(out) == 0 {
			out = append(out, Hunk{Skipped: skipped})
			skipped = 0
		}
		out[len(out)-1].Rows = append(out[len(out)-1].Rows, r)
	}
	if skipped > 0 {
		out = append(out, Hunk{Skipped: skipped})
	}
	return out
}

// Follow returns where lines of the earlier text stand in the later one; ok is false where none
// of them is left.
func Follow(before, after string, from, to int) (newFrom, newTo int, ok bool) {
	for _, r := range Rows(before, after) {
		if r.Before < from || r.Before > to || r.After == 0 {
			continue
		}
		if !ok {
			newFrom, ok = r.After, true
		}
		newTo = r.After
	}
	return newFrom, newTo, ok
}
