// Package textdiff compares two versions of a document for people: line by line, and word by word in the
// changed lines. It is pure, and its work is bounded for texts of any content.
package textdiff

import (
	"slices"
	"strings"
)

// Kind names the change of a line.
type Kind string

// The kinds of a row.
const (
	Same    Kind = "same"
	Removed Kind = "removed"
	Added   Kind = "added"
	Changed Kind = "changed"
)

// Row is one row of a comparison side by side: a line of the old text, of the new one, or both.
type Row struct {
	Kind Kind
	// Before and After are the numbers of the lines, from 1, or 0 if a side has none.
	Before, After int
	// Left and Right are the lines in parts. The last part has the line's end, if it has one.
	Left, Right []Span
}

// Span is a part of a line. Words moved to a neighbouring line are not Changed.
type Span struct {
	Text    string
	Changed bool
}

// Hunk is a run of rows. A folded one holds unchanged lines far from any change.
type Hunk struct {
	Folded bool
	Rows   []Row
}

// Rows compares two texts. The left sides together are the old text, the right sides the new.
func Rows(before, after string) []Row {
	rows, _ := compareTexts(before, after)
	return rows
}

// compareTexts returns the rows and the steps taken for them.
func compareTexts(before, after string) ([]Row, int) {
	a, b := splitLines(before), splitLines(after)
	ids := map[string]int{}
	g := align(numberItems(ids, a), numberItems(ids, b))
	rows := make([]Row, 0, max(len(a), len(b)))
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if i < len(a) && g.to[i] == j {
			rows = append(rows, Row{Same, i + 1, j + 1, wholeLine(a[i], false), wholeLine(b[j], false)})
			i, j = i+1, j+1
			continue
		}
		n, m := i, len(b)
		for n < len(a) && g.to[n] < 0 {
			n++
		}
		if n < len(a) {
			m = g.to[n]
		}
		rows = append(rows, g.replacedRows(a[i:n], b[j:m], i, j)...)
		i, j = n, m
	}
	return rows, g.steps
}

// Fold joins rows into hunks: changed rows with context unchanged lines around them, and folded hunks
// between.
func Fold(rows []Row, context int) []Hunk {
	var out []Hunk
	add := func(folded bool, rows []Row) {
		switch {
		case len(rows) == 0:
		case len(out) > 0 && out[len(out)-1].Folded == folded:
			last := &out[len(out)-1]
			last.Rows = append(last.Rows[:len(last.Rows):len(last.Rows)], rows...)
		default:
			out = append(out, Hunk{folded, rows})
		}
	}
	for i := 0; i < len(rows); {
		n := i
		for n < len(rows) && (rows[n].Kind == Same) == (rows[i].Kind == Same) {
			n++
		}
		from, to := i+context, n-context
		if i == 0 {
			from = 0
		}
		if n == len(rows) {
			to = n
		}
		// One line takes no more room than a note about a hidden one.
		if rows[i].Kind != Same || to-from < 2 {
			from, to = n, n
		}
		add(false, rows[i:from])
		add(true, rows[from:to])
		add(false, rows[to:n])
		i = n
	}
	return out
}

// Stat counts the added and removed lines. A changed line is both, and a line without text neither.
func Stat(before, after string) (added, removed int) {
	a, b := differing(before, after)
	count := func(lines []string) int {
		return len(slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" }))
	}
	return count(b), count(a)
}

// CountLines counts the added and removed lines as git does: a changed line is both, and one without text counts too.
func CountLines(before, after string) (added, removed int) {
	a, b := differing(before, after)
	return len(b), len(a)
}

// differing returns the lines of either text without an equal one in the other.
func differing(before, after string) (removed, added []string) {
	a, b := splitLines(before), splitLines(after)
	rest := 0 // of b
	for i, j := range Common(a, b) {
		if j < 0 {
			removed = append(removed, a[i])
			continue
		}
		added, rest = append(added, b[rest:j]...), j+1
	}
	return removed, append(added, b[rest:]...)
}

// Place finds lines of the old text in the new one, from the first to the last surviving one, changed or
// not. ok is false if none survives.
func Place(rows []Row, from, to int) (newFrom, newTo int, ok bool) {
	for _, r := range rows {
		if r.Before < max(from, 1) || r.Before > to || r.After == 0 {
			continue
		}
		if newFrom == 0 {
			newFrom = r.After
		}
		newTo = r.After
	}
	return newFrom, newTo, newFrom > 0
}

func splitLines(text string) []string {
	out := strings.SplitAfter(text, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func wholeLine(line string, changed bool) []Span { return []Span{{line, changed}} }
