package score

import (
	"strings"

	"bmad-mcp/internal/workflow"
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
	us := units(cell)
	if len(us) == 0 || strings.Trim(cell, "-–—? ") == "" {
		return resultUntested
	}
	all := sentences(cell[:min(len(cell), maxPiece)], inResult|isExpected|isResolved|isUnresolved|isNegation)
	s := all[0]
	first := leading(s)
	t := s.tokens[first]
	wording := s.has(isExpected) || s.has(isResolved) && !s.has(isUnresolved)
	switch {
	case t.has(isNeutral):
		return resultNeutral
	case t.has(isFail) && !t.has(isPass):
		if s.zeroAfter(first) {
			return resultNeutral
		}
		if wording {
			return resultPassed
		}
		if t.has(isWeak) && !strict && !t.caps && len(s.tokens) > 1 {
			return resultNeutral
		}
		return resultFailed
	case t.has(isPass):
		return passedCell(s, first)
	case t.has(isUntested):
		return resultUntested
	case t.has(isPartial):
		return resultPartial
	case question && t.has(isNoResult) && !t.isNumber && (s.next1(first) || t.text != "none"):
		if n, _ := s.next(first); n < len(s.tokens) && (t.text == "no" || t.text == "无" || t.text == "没有" || t.text == "none") && !labelledNo(s, first) {
			return resultNeutral
		}
		return resultFailed
	case t.has(isNeutralResult | isNone):
		return resultPassed
	}
	return unknownResult(cell, s, strict)
}

// next1 reports whether nothing but marks follows.
func (s sentence) next1(i int) bool {
	n, _ := s.next(i)
	return n >= len(s.tokens)
}

// labelledNo reports whether a mark stands behind a no: "no, R2".
func labelledNo(s sentence, i int) bool {
	_, marks := s.next(i)
	return marks
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
		if f.summaryAgainst() || f.ratioAgainst() {
			return resultFailed
		}
	}
	n, marks := s.next(i)
	if n < len(s.tokens) && marks && s.tokens[n].has(isNoResult) && s.next1(n) {
		return resultFailed // "pass: no"
	}
	return resultPassed
}

// unknownResult reads a cell whose first words say nothing.
func unknownResult(cell string, s sentence, strict bool) resultKind {
	for _, f := range sentences(cell[:min(len(cell), maxPiece)], inSentence) {
		if f.has(isExpected|isEarlier) || f.undone(nil) || f.head() >= len(f.tokens) {
			continue
		}
		if f.countAgainst() || f.ratioAgainst() || f.proseAgainst() || f.phraseAgainst() || f.tailAgainst() {
			return resultFailed
		}
	}
	words, digits := 0, false
	for _, t := range s.tokens {
		if t.isWord {
			words++
		}
		digits = digits || t.isNumber
	}
	if strict && !digits && words > 0 && (words == 1 || wordless(firstRune(s.tokens[0].text)) && words <= 3) && !s.tokens[s.head()].glued {
		return resultFailed
	}
	if words == 0 && !digits { // a mark that is not known
		return resultUntested
	}
	return resultNeutral
}

// result reads the outcome of one criterion; what is neither pass nor fail was not tested.
func result(s string) string {
	switch resultOf(s, true, true) {
	case resultPassed:
		return workflow.ResultPass
	case resultFailed:
		return workflow.ResultFail
	}
	return workflow.ResultNotTested
}
