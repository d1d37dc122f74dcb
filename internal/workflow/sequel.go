package workflow

import (
	"slices"
	"strings"
)

// Sequel is the outcome of a change request in a later text.
type Sequel struct {
	ChangeRequest
	// NewFrom and NewTo are its lines in the later text; 0 if they are gone, and for
	// the whole document.
	NewFrom, NewTo int
	Passage        Passage
}

// Passage is the outcome of the lines that a comment is on.
type Passage string

// The fates of a passage. A comment on the whole document has no passage.
const (
	PassageUnchanged Passage = "unchanged"
	PassageChanged   Passage = "changed"
	PassageGone      Passage = "gone"
)

// Follower finds lines of a text in a later one; ok is false if none is left.
type Follower func(before, after string, from, to int) (newFrom, newTo int, ok bool)

// Sequels finds the lines of change requests on a text in a later one. follow may be nil: only
// lines that are still there, or contain the quote, are then found.
func Sequels(requests []ChangeRequest, before, after string, follow Follower) []Sequel {
	old, now := plainLines(before), plainLines(after)
	out := make([]Sequel, len(requests))
	for i, c := range requests {
		q := Sequel{ChangeRequest: c}
		if c.From > 0 {
			q.Passage = PassageGone
			q.find(old, now, func() (from, to int, ok bool) {
				if follow == nil || c.From > len(old) {
					return 0, 0, false
				}
				return follow(before, after, c.From, c.To)
			})
		}
		out[i] = q
	}
	return out
}

// find looks for the lines themselves, then for the place that they went to, then for the quote.
func (q *Sequel) find(old, now []string, follow func() (from, to int, ok bool)) {
	from, to, followed := follow()
	near := q.From
	if followed {
		near = from
	}
	if q.From <= len(old) {
		if at := nearest(now, old[q.From-1:min(max(q.To, q.From), len(old))], near); at > 0 {
			q.NewFrom, q.NewTo, q.Passage = at, at+max(q.To, q.From)-q.From, PassageUnchanged
			return
		}
	}
	if !followed {
		from, to, followed = quoted(now, q.Quote, near)
	}
	if followed {
		q.NewFrom, q.NewTo, q.Passage = from, to, PassageChanged
	}
}

// plainLines splits a text into lines without the spaces that Markdown does not count.
func plainLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return lines
}

// nearest returns the line, counted from 1, at which a block stands in a text, the place nearest
// to a line; 0 if it does not, or has no words.
func nearest(lines, block []string, near int) (at int) {
	if strings.Join(block, "") == "" {
		return 0
	}
	for i := range len(lines) - len(block) + 1 {
		if at > 0 && distance(i+1, near) >= distance(at, near) {
			continue
		}
		if slices.Equal(lines[i:i+len(block)], block) {
			at = i + 1
		}
	}
	return at
}

// quoted returns the line nearest to another that contains the beginning of a quote.
func quoted(lines []string, quote string, near int) (from, to int, ok bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.TrimSuffix(quote, "…")), "\n")
	if first = strings.Join(strings.Fields(first), " "); first == "" {
		return 0, 0, false
	}
	for i, line := range lines {
		if strings.Contains(line, first) && (!ok || distance(i+1, near) < distance(from, near)) {
			from, to, ok = i+1, i+1, true
		}
	}
	return from, to, ok
}

func distance(a, b int) int { return max(a-b, b-a) }
