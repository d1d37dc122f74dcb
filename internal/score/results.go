package score

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// resultKind is what one cell of a column of results says.
type resultKind int

const (
	// resultNeutral: a measurement, or words that name no verdict.
	resultNeutral resultKind = iota
	resultPassed
	resultFailed
	resultUntested
	resultPartial
)

// resultOf reads the result of one test. question is set for a column that a plain "no" answers;
// strict for one that is known to hold verdicts: a word there that is not known is a failure.
func resultOf(cell string, question, strict bool) resultKind {
	cell = strings.Trim(lastPart(cell), " \t*_`")
	if strings.Trim(cell, "-–—? ") == "" || len(units(cell)) == 0 {
		return resultUntested
	}
	cell = pieces(cell)[0]
	s := sentences(cell, inResult|isExpected|isResolved|isUnresolved|isNegation)[0]
	first := leading(s)
	t := s.tokens[first]
	switch {
	case t.has(isNeutral):
		return resultNeutral
	case t.has(isFail) && !t.has(isPass):
		return failedCell(s, first, strict)
	case t.has(isPass):
		return passedCell(s, first)
	case t.has(isUntested):
		return resultUntested
	case t.has(isPartial):
		return resultPartial
	case question && t.has(isNoResult) && !t.isNumber:
		n, marks := s.next(first)
		if n < len(s.tokens) && !marks && (t.text == "no" || t.text == "没有") { // "no data lost"
			return resultNeutral
		}
		return resultFailed
	case t.has(isNeutralResult | isNone):
		return resultPassed
	}
	return unknownResult(cell, s, strict)
}

// failedCell reads a cell that begins with a word of failure.
func failedCell(s sentence, first int, strict bool) resultKind {
	t := s.tokens[first]
	switch {
	case s.zeroAfter(first):
		return resultNeutral
	case s.has(isExpected), s.has(isResolved) && !s.has(isUnresolved):
		return resultPassed
	case t.has(isWeak) && !strict && !t.caps && len(s.tokens) > 1:
		return resultNeutral
	}
	return resultFailed
}

// next1 reports whether nothing but marks follows.
func (s sentence) next1(i int) bool {
	n, _ := s.next(i)
	return n >= len(s.tokens)
}

// leading returns the first token that says something: a mark such as ❌ does where no word of a
// verdict follows it.
func leading(s sentence) int {
	h := s.head()
	if h >= len(s.tokens) {
		return 0
	}
	if t := s.tokens[h]; t.symbol() && h+1 < len(s.tokens) {
		if n, _ := s.next(h); n < len(s.tokens) && s.tokens[n].has(isFail|isUntested) {
			return n
		}
	}
	return h
}

// passedCell reads what follows the word of a pass.
func passedCell(s sentence, i int) resultKind {
	for j := i + 1; j < len(s.tokens); j++ {
		if t := s.tokens[j]; t.has(isFail) && !t.glued && !s.negated(j) && !s.zeroAfter(j) && !s.has(isExpected|isResolved) && t.spaced && s.separatorBefore(j) {
			return resultFailed
		}
	}
	full := sentences(s.text, inSentence)
	for _, f := range full {
		if summaryAgainst(f) || ratioAgainst(f) {
			return resultFailed
		}
	}
	n, marks := s.next(i)
	if n < len(s.tokens) && marks && s.tokens[n].has(isNoResult) && s.next1(n) {
		return resultFailed // "pass: no"
	}
	return resultPassed
}

// ofAll reports whether a cell is nothing but a ratio, and whether it is one of less than all.
func ofAll(cell string) (ratio, part bool) {
	us := units(cell)
	if len(us) != 3 || !us[0].isNumber || us[1].text != "/" || !us[2].isNumber {
		return false, false
	}
	return true, us[0].number < us[2].number
}

// unknownResult reads a cell whose first words say nothing.
func unknownResult(cell string, s sentence, strict bool) resultKind {
	for _, f := range sentences(cell, inSentence) {
		if f.head() < len(f.tokens) && !f.has(isExpected|isEarlier) && !undone(f, nil) && f.cellAgainst() {
			return resultFailed
		}
	}
	if all, part := ofAll(cell); all {
		return map[bool]resultKind{true: resultFailed, false: resultPassed}[part]
	}
	words, digits := 0, numbers(s) > 0
	for _, t := range s.tokens {
		if t.isWord {
			words++
		}
	}
	few := words == 1 || words <= 3 && wordless(firstRune(s.tokens[0].text))
	switch {
	case strict && (!digits && few || !benign(cell)) && words > 0 && !s.tokens[s.head()].glued:
		return resultFailed
	case words == 0 && !digits: // a mark that is not known
		return resultUntested
	}
	return resultNeutral
}

// cellAgainst reports whether a cell says in words that something failed.
func (s sentence) cellAgainst() bool {
	return countAgainst(s) || ratioAgainst(s) || s.proseAgainst() || s.phraseAgainst() || tailAgainst(s)
}

// result reads the outcome of one criterion; anything but pass and fail means not tested.
func result(s string) string {
	switch resultOf(s, true, true) {
	case resultPassed:
		return workflow.ResultPass
	case resultFailed:
		return workflow.ResultFail
	}
	return workflow.ResultNotTested
}
