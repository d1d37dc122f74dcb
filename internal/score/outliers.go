package score

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// Columns and lists that are seen to hold results because most of their cells are passes. What
// stands out in them speaks against a pass, whatever its words.

// excludedFromResults are the columns whose cells are known to be something else.
const excludedFromResults = colOther | colSeverity | colPriority | colProblem | colFile | colID | colFix | colEvidence | colCount | colFailures

// inferred returns the columns of results that only their cells show to be such.
func (t mdTable) inferred(res int) []int {
	var out []int
	for col := 1; col < len(t.is); col++ {
		if col == res || t.is[col]&excludedFromResults != 0 || speaksOfRound(t.header[col]) {
			continue
		}
		passed := 0
		for _, row := range t.rows {
			if shortPass(t.cell(row, col)) {
				passed++
			}
		}
		if passed > 0 && passed*2 >= len(t.rows) {
			out = append(out, col)
		}
	}
	return out
}

// shortPass reports whether a cell is a pass and little else.
func shortPass(cell string) bool {
	return len(units(cell)) <= 6 && resultOf(cell, true, false) == resultPassed
}

// outlies reports whether a value among passes is not one: a failure, or words that name nothing
// which a good product does.
func outlies(value string) bool {
	switch resultOf(value, true, false) {
	case resultFailed, resultPartial:
		return true
	case resultNeutral:
		return !benign(value)
	}
	return false
}

// benign reports whether the words of a result are those of one that may be as it should.
func benign(value string) bool {
	ss := sentences(pieces(value)[0], inSentence|isRefusal|isNeutralResult|isUnwanted)
	if len(ss) == 0 {
		return true
	}
	const good = isPass | isExpected | isResolved | isRefusal | isNeutralResult | isNumber | isNeutral | isUnwanted | isWaived | isWithdrawn | isMinor
	s := ss[0]
	for i, t := range s.tokens {
		if t.has(isFail|isUntested) && !t.has(isWeak|isNeutral) && !s.negated(i) && !s.has(isExpected|isResolved|isEarlier) {
			return false
		}
		if t.has(good) || t.has(isWorks) && !s.negated(i) {
			return true
		}
	}
	h := s.head()
	return h >= len(s.tokens) || s.tokens[h].has(isNone|isNegation) || s.measured()
}

// listedItem matches an item of a numbered list, or one that begins with an id.
var listedItem = pattern.New(`^[\s>*+-]*(?:[*_\x60]*[A-Za-z]{1,5}[-_ ]?\d[\w.-]*|\d+[.)、]|[（(]\d+[)）])[^:：–—]{0,80}(?:[:：]| [–—-] |[–—]{2})\s*(.+)$`)

// markedItem matches an item whose id stands before a mark: "AC-3 ⚠️ works in Chrome".
var markedItem = pattern.New(`^[\s>*+-]*[*_\x60]*[A-Za-z]{1,5}[-_ ]?\d[\w.-]*[*_\x60]*\s+(\p{So}.*)$`)

// listOutliers returns the items of lists of results that stand out from the passes around them.
func listOutliers(lines []line, taken map[int]bool) []line {
	var out []line
	var items []line
	var values []string
	flush := func() {
		out = append(out, outlying(items, values)...)
		items, values = items[:0], values[:0]
	}
	for _, l := range lines {
		if taken[l.number] || !l.spoken() || l.later || len(l.text) > 400 {
			flush()
			continue
		}
		m := listedItem.FindStringSubmatch(l.text)
		if m == nil {
			m = markedItem.FindStringSubmatch(l.text)
		}
		if m == nil {
			flush()
			continue
		}
		items, values = append(items, l), append(values, strings.Trim(m[1], " *_`"))
	}
	flush()
	return out
}

func outlying(items []line, values []string) []line {
	passed := 0
	for _, v := range values {
		if resultOf(v, false, false) == resultPassed {
			passed++
		}
	}
	if passed == 0 || passed*2 < len(items) {
		return nil
	}
	var out []line
	for i, v := range values {
		if outlies(v) {
			out = append(out, items[i])
		}
	}
	return out
}

// measured reports whether a value is a figure with few words beside it.
func (s sentence) measured() bool {
	words := 0
	for _, t := range s.tokens {
		if t.isWord {
			words++
		}
	}
	return numbers(s) > 0 && (words <= 2 || s.tokens[s.head()].isNumber)
}
