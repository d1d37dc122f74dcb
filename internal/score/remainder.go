package score

import "slices"

// What follows a stated pass leaves it one only where it is known to be harmless: a count, a date,
// what was tested, that nothing was found. Whatever else stands there asks the person.

// harmlessRest reports whether a sentence behind a pass says nothing that takes it back.
func harmlessRest(s sentence) bool {
	words, known := 0, false
	for i, t := range s.tokens {
		if t.has(isStillOpen|isUnresolved|isUntested) && !s.negated(i) && !s.zeroAfter(i) && !s.has(isHarmless|isMinor) {
			return false
		}
		if t.isWord && !t.has(isCopula|isLink) {
			words++
		}
		known = known || t.isNumber || t.has(ornaments)
	}
	return words == 0 || known || words <= 2 && brief(s)
}

// ornaments are the meanings that explain a pass.
const ornaments = isPass | isNone | isNegation | isTests | isResolved | isExpected | isEarlier | isHarmless | isMinor | isFindings | isNeutral | isRefusal | isOrnament | isWorks | isNumber

// brief reports whether a remainder may be a name: it begins with a capital, or stands in brackets.
func brief(s sentence) bool {
	for _, t := range s.tokens {
		if r := s.text[t.start]; t.isWord && (r < 'A' || r > 'Z' || t.caps || t.end-t.start < 2) {
			return false
		}
	}
	return true
}

// rateAgainst: a share of what passed below the whole: "通过率：83%", "pass rate 97.5 %", "92 % of
// the tests pass".
func rateAgainst(s sentence) bool {
	if s.supposed(len(s.tokens)) || s.has(isExpected) {
		return false
	}
	for i, t := range s.tokens {
		if !t.isNumber || t.number >= 100 || i+1 >= len(s.tokens) || s.tokens[i+1].text != "%" {
			continue
		}
		if rateOfTests(s, i) {
			return true
		}
	}
	return false
}

// rateOfTests reports whether the percentage at i is a share of tests that passed.
func rateOfTests(s sentence, i int) bool { return rateBefore(s, i) || testsAfter(s, i) }

// rateBefore reports whether the words before the percentage at i name a rate.
func rateBefore(s sentence, i int) bool {
	for j := i - 1; j >= 0 && j >= i-5; j-- {
		t := s.tokens[j]
		if t.has(isRate) {
			return true
		}
		if t.isNumber || t.has(isCondition) || t.text == ">" || t.text == "≥" || t.text == "," || t.text == "，" {
			break
		}
	}
	return false
}

// testsAfter reports whether the words behind the percentage at i are of tests that passed.
func testsAfter(s sentence, i int) bool {
	tests, passed := false, false
	for j := i + 2; j < len(s.tokens) && j <= i+8; j++ {
		t := s.tokens[j]
		if t.isNumber || t.text == "," || t.text == "，" || t.text == "(" || t.text == "（" {
			break
		}
		if t.has(isRate) {
			return true
		}
		tests, passed = tests || t.has(isTests), passed || t.has(isPass) && t.isWord
	}
	return tests && passed
}

// partAgainst: only a part of what was to be is there: "only 3 of the 9 stories are done".
func partAgainst(s sentence) bool {
	for i, t := range s.tokens {
		if !t.isNumber || t.glued || !partOf(s, i) || restSkipped(s, i) {
			continue
		}
		for j := max(0, i-4); j < len(s.tokens) && j <= i+12; j++ {
			u := s.tokens[j]
			if (u.has(isTests|isDone) || j < i && u.text == "only") && !s.supposed(i) && s.has(isDone|isTests) && s.has(isDone|isPass) {
				return true
			}
		}
	}
	return false
}

// partOf reports whether the number at i is the smaller part of a ratio: "3 of the 9".
func partOf(s sentence, i int) bool {
	j := i + 1
	if j >= len(s.tokens) || !s.tokens[j].has(isOf) && s.tokens[j].text != "of" {
		return false
	}
	for j++; j < len(s.tokens) && j <= i+5; j++ {
		u := s.tokens[j]
		if u.isNumber {
			return !u.glued && s.tokens[i].number < u.number
		}
		if !u.has(isCopula|isTests) && u.text != "our" && u.text != "planned" && u.text != "total" {
			return false
		}
	}
	return false
}

// anyUnrun: "did not run any of the interface tests", "未执行任何接口测试".
func anyUnrun(s sentence) bool {
	for i, t := range s.tokens {
		if t.text != "anything" && (t.text != "any" && t.text != "任" || !s.has(isTests)) {
			continue
		}
		for j := i - 1; j >= 0 && j >= i-3; j-- {
			u := s.tokens[j]
			if u.has(isUntested) || u.has(isWorks|isDone|isFunction) && j > 0 && s.tokens[j-1].denial() {
				return true
			}
		}
	}
	return false
}

// expected reports whether a sentence says that something was meant to be so. Words that only
// count what was as expected do not: "36 as expected, 4 not".
func expected(s sentence) bool {
	if !s.has(isExpected) {
		return false
	}
	for i, t := range s.tokens {
		if !t.has(isExpected) {
			continue
		}
		counted := false
		for j := i - 1; j >= 0 && j >= i-3 && !clauseMarks[s.tokens[j].text]; j-- {
			counted = counted || s.tokens[j].isNumber
		}
		if !counted {
			return true
		}
	}
	return numbers(s) < 2
}

// noneRun: "0 of 14 scenarios executed", in a log too.
func noneRun(s sentence) bool {
	for i, t := range s.tokens {
		if t.isNumber && t.number == 0 && !t.glued && partOf(s, i) && s.has(isTests) && s.has(isDone|isPass) {
			return true
		}
	}
	return shareOfTests(s)
}

// shareOfTests: a label of tests and nothing but a ratio of less than all: "Contract tests: 38/41".
func shareOfTests(s sentence) bool {
	h := s.head()
	for i := h + 1; i < len(s.tokens) && i <= h+5; i++ {
		if !s.tokens[i].isNumber {
			continue
		}
		return s.separatorBefore(i) && slices.ContainsFunc(s.tokens[h:i], func(t token) bool { return t.has(isTests) }) && partOf(s, i) && !restSkipped(s, i) && i+3 >= len(s.tokens)
	}
	return false
}
