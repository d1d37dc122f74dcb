package render

import (
	"html"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// writeRun writes inline nodes with the words changed from others: removed words before the ones in their place.
func (c *comparer) writeRun(b *strings.Builder, old, now *node, isCode bool) {
	items, after := flattenNodes(now.kids, isCode)
	_, before := flattenNodes(old.kids, isCode)
	from := c.matchTokens(before, after, isCode)
	w := runWriter{b: b, before: before, after: after, from: from, until: nextOld(from, len(before))}
	for i, it := range items {
		if it.tag != "" {
			w.endNew()
			b.WriteString(it.tag)
			continue
		}
		w.writeToken(it.token, i+1 < len(items) && items[i+1].tag == "")
	}
	w.endNew()
	w.writeGoneUntil(len(before), true, false)
}

// runWriter writes the tokens of a run.
type runWriter struct {
	b             *strings.Builder
	before, after []token
	// from has for each new token the old one, -1 for none; until has the old token of the next pair.
	from, until []int
	// next is the first old token without a place yet.
	next  int
	inNew bool
}

func (w *runWriter) endNew() {
	if w.inNew {
		w.b.WriteString("</ins>")
	}
	w.inNew = false
}

// writeToken writes a new token; goesOn reports whether another one follows without a tag between.
func (w *runWriter) writeToken(k int, goesOn bool) {
	t := w.after[k]
	isNew := w.from[k] < 0
	if t.isSpace {
		if isNew = w.inNew && goesOn && w.from[k+1] < 0; !isNew {
			w.endNew()
		}
		w.b.WriteString(t.text)
		return
	}
	until := w.until[k]
	if !isNew {
		w.endNew()
	}
	w.writeGoneUntil(until, k == 0, isNew)
	if isNew && !w.inNew {
		w.b.WriteString("<ins>")
		w.inNew = true
	}
	w.b.WriteString(html.EscapeString(t.text))
	if !isNew {
		w.next = until + 1
	}
}

// writeGoneUntil writes the old tokens before one of them. The white space at the ends stays where no other is: at the
// start of the run, and without a new word behind it.
func (w *runWriter) writeGoneUntil(until int, isFirst, beforeNew bool) {
	from, end := w.next, until
	for from < end && w.before[from].isSpace && !isFirst {
		from++
	}
	for from < end && w.before[end-1].isSpace && beforeNew {
		end--
	}
	var text strings.Builder
	isGone := false
	for _, t := range w.before[min(from, end):end] {
		text.WriteString(t.text)
		isGone = isGone || !t.isSpace
	}
	if w.next = max(w.next, until); !isGone {
		return
	}
	w.endNew()
	w.b.WriteString(goneStart + html.EscapeString(text.String()) + "</del>")
}

// matchTokens returns for each new token the old one, or -1: in prose without the white space, in code line
// by line first.
func (c *comparer) matchTokens(before, after []token, isCode bool) []int {
	from := make([]int, len(after))
	for y := range from {
		from[y] = -1
	}
	if !isCode {
		c.matchRange(from, before, after, 0, len(before), 0, len(after))
		unmatchChance(from, after)
		return from
	}
	a, oldLines := cutLines(before)
	b, newLines := cutLines(after)
	x, y := 0, 0
	for j, i := range textdiff.Common(newLines, oldLines) {
		if i < 0 {
			continue
		}
		c.matchRange(from, before, after, x, a[i], y, b[j])
		for x, y = a[i], b[j]; x < a[i+1]; x, y = x+1, y+1 {
			from[y] = x
		}
	}
	c.matchRange(from, before, after, x, len(before), y, len(after))
	return from
}

// cutLines returns the lines of tokens, and the first token of each with the end of all.
func cutLines(tokens []token) (starts []int, lines []string) {
	var line strings.Builder
	starts = []int{0}
	for i, t := range tokens {
		line.WriteString(t.text)
		if t.text == "\n" || i == len(tokens)-1 {
			starts, lines = append(starts, i+1), append(lines, line.String())
			line.Reset()
		}
	}
	return starts, lines
}

// matchRange matches the tokens of two ranges in order.
func (c *comparer) matchRange(from []int, before, after []token, x, n, y, m int) {
	if c.left -= (n - x) * (m - y); c.left < 0 {
		return
	}
	xs, a := solidTokens(before, x, n)
	ys, b := solidTokens(after, y, m)
	for j, i := range textdiff.Common(b, a) {
		if i >= 0 {
			from[ys[j]] = xs[i]
		}
	}
}

// solidTokens returns the places and the keys of the tokens of a range without the white space.
func solidTokens(tokens []token, from, to int) (at []int, keys []string) {
	for i := from; i < to; i++ {
		if !tokens[i].isSpace {
			at, keys = append(at, i), append(keys, tokens[i].key)
		}
	}
	return at, keys
}

// unmatchChance takes back matches of a sign or a single word between longer changes: they are equal by chance, and the
// change reads better as a whole.
func unmatchChance(from []int, after []token) {
	// count returns the end of a run of tokens, matched or new, and the words in it.
	count := func(k int, isMatched bool) (end, words int) {
		for ; k < len(after) && ((from[k] >= 0) == isMatched || after[k].isSpace); k++ {
			if textdiff.IsWord(after[k].text) {
				words++
			}
		}
		return k, words
	}
	last := -1 // the old token before a run of matches
	k, earlier := count(0, false)
	for k < len(after) {
		end, words := count(k, true)
		next, later := count(end, false)
		if isInside := earlier > 1 && later > 1 && from[k] > last+1; isInside && words < 2 {
			for i := k; i < end; i++ {
				from[i] = -1
			}
			earlier += words + later
		} else {
			last, earlier = max(last, slices.Max(from[k:end])), later
		}
		k = next
	}
}
