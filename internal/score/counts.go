package score

import "strings"

// Counts of what failed, as tools and people write them. A count of zero never speaks against a pass.

// countAgainst: a number above zero of failures, before or behind the word.
func countAgainst(s sentence) bool {
	for i, t := range s.tokens {
		if !t.has(isFailures) || t.glued && t.isWord && !t.caps {
			continue
		}
		if countBefore(s, i) || countAfter(s, i) {
			return true
		}
	}
	return false
}

// countBefore: "3 failed", "12 of 40 acceptance tests fail", "3 个测试失败".
func countBefore(s sentence, i int) bool {
	if !standsAlone(s, i) || s.supposed(i) {
		return false
	}
	tests, others := s.tokens[i].has(isTests), 0
	for j := i - 1; j >= 0 && j >= i-8; j-- {
		t := s.tokens[j]
		switch {
		case t.isNumber || t.has(isNumber) && !t.has(isNeutral):
			return counts(s, j) && (tests || others == 0 && (t.isNumber || s.has(isTests))) && (!s.tokens[i].has(isWeak) || tests || summary(s))
		case t.has(isTests):
			tests = true
		case t.has(isCopula | isOf | isLink):
		case t.has(isNegation | isNone | isPass | isFailures), t.symbol():
			return false
		default:
			if others++; others > 2 {
				return false
			}
		}
	}
	return false
}

// counts reports whether the number at j counts more than zero of something, and is not part of a name.
func counts(s sentence, j int) bool {
	t := s.tokens[j]
	if j >= 2 && s.tokens[j-1].has(isOf) && s.tokens[j-2].isNumber { // a of b: a failed
		t = s.tokens[j-2]
	}
	return !(t.isNumber && (t.number == 0 || t.glued)) && !noneOf(s, j)
}

func noneOf(s sentence, j int) bool {
	return j > 0 && s.tokens[j-1].has(isNegation|isNone) || j > 1 && s.tokens[j-1].has(isOf) && s.tokens[j-2].has(isNegation|isNone)
}

// standsAlone reports whether a word of failure is neither an attribute of the next word nor
// an answer with a status code.
func standsAlone(s sentence, i int) bool {
	n, marks := s.next(i)
	if n >= len(s.tokens) || marks {
		return true
	}
	t := s.tokens[n]
	if t.has(isLink) && t.text != "to" {
		m, _ := s.next(n)
		return m >= len(s.tokens) || !s.tokens[m].isNumber || s.tokens[m].number < 100 || s.tokens[m].number > 599
	}
	return t.isNumber || t.has(isCopula|isTests|isUnresolved|isFindings) || strings.HasSuffix(t.text, "ly") || s.tokens[i].end == t.start
}

// countAfter: "Failures: 1", "failed=2", "失败 2 项".
func countAfter(s sentence, i int) bool {
	if s.tokens[i].has(isWeak) && !summary(s) {
		return false
	}
	for j := i + 1; j < len(s.tokens) && j <= i+6; j++ {
		t := s.tokens[j]
		switch {
		case t.isNumber:
			if t.number == 0 || t.glued {
				return false
			}
			if j+2 < len(s.tokens) && s.tokens[j+1].has(isOf) && s.tokens[j+2].isNumber && s.tokens[j+2].number == 0 {
				return false
			}
			n, marks := s.next(j)
			return (n >= len(s.tokens) || marks || s.tokens[n].has(isTests|isCopula|isFindings|isPass|isOf|isFailures|isUntested)) && !s.supposed(i) && !timesAfter(s, j)
		case t.has(isTests | isCopula | isFindings), t.text == ":", t.text == "：", t.text == "=", t.text == "\"", t.text == "|", t.text == "#":
		default:
			return false
		}
	}
	return false
}

// timesAfter reports whether a number counts repetitions: "失败 5 次".
func timesAfter(s sentence, j int) bool {
	return j+1 < len(s.tokens) && (s.tokens[j+1].text == "次" || s.tokens[j+1].text == "times" || s.tokens[j+1].text == "回")
}

// summary reports whether a sentence is a tally of tests.
func summary(s sentence) bool {
	return s.has(isTests) || s.has(isPass) && numbers(s) > 1
}

func numbers(s sentence) int {
	n := 0
	for _, t := range s.tokens {
		if t.isNumber {
			n++
		}
	}
	return n
}

// summaryAgainst: a tally with passed and failed ones, of which some failed. It counts in every
// fence, and whatever else the line says.
func summaryAgainst(s sentence) bool {
	if !s.has(isPass) || numbers(s) < 2 || expected(s) || s.has(isEarlier) {
		return false
	}
	passed := false
	for i, t := range s.tokens {
		if t.has(isPass) && t.isWord && (i > 0 && s.tokens[i-1].isNumber || numberAfter(s, i)) {
			passed = true
		}
	}
	return passed && countAgainst(s)
}

func numberAfter(s sentence, i int) bool {
	for j := i + 1; j < len(s.tokens) && j <= i+2; j++ {
		if s.tokens[j].isNumber {
			return true
		}
		if s.tokens[j].isWord {
			return false
		}
	}
	return false
}

// ratioAgainst: fewer passed than there were: "passed 3 of 40", "3/40 tests pass", "0 passed".
func ratioAgainst(s sentence) bool {
	if s.supposed(len(s.tokens)) {
		return false
	}
	for i, t := range s.tokens {
		if !t.isNumber || t.glued {
			continue
		}
		if t.number == 0 && i+1 < len(s.tokens) && s.tokens[i+1].has(isPass) && s.tokens[i+1].isWord {
			return true
		}
		if i+2 >= len(s.tokens) || !s.tokens[i+1].has(isOf) || !s.tokens[i+2].isNumber || t.number >= s.tokens[i+2].number {
			continue
		}
		if passNear(s, i) && !restSkipped(s, i) {
			return true
		}
	}
	return false
}

// passNear reports whether what the ratio at i counts is what passed.
func passNear(s sentence, i int) bool {
	for j := i - 1; j >= 0 && j >= i-3; j-- {
		if t := s.tokens[j]; t.has(isPass) && t.isWord {
			return true
		} else if !t.symbol() && !t.has(isCopula|isLink|isTests) {
			break
		}
	}
	for j := i + 3; j < len(s.tokens) && j <= i+8; j++ {
		t := s.tokens[j]
		if t.has(isPass) && t.isWord {
			return true
		}
		if t.has(isFailures|isUntested) || t.text == "," || t.text == "，" {
			break
		}
	}
	return false
}

// restSkipped reports whether the tests that are missing to the whole are named as skipped, and
// are the smaller part.
func restSkipped(s sentence, i int) bool {
	a, b := s.tokens[i].number, s.tokens[i+2].number
	for j, t := range s.tokens {
		if t.has(isUntested) && j > 0 && s.tokens[j-1].isNumber && a+s.tokens[j-1].number == b {
			return a > s.tokens[j-1].number
		}
	}
	return false
}

func wordsBefore(s sentence, i int) int {
	n := 0
	for _, t := range s.tokens[:i] {
		if t.isWord {
			n++
		}
	}
	return n
}

// exitAgainst: a program ended with a code other than 0, and the line says nothing else.
func exitAgainst(s sentence) bool {
	for i, t := range s.tokens {
		process := len(strings.Fields(s.text[t.start:t.end])) >= 3 && i <= s.head()+8 // "Process completed with exit code"
		if !t.has(isExit) || wordsBefore(s, i) > 1 && !s.has(isTests) && !process || s.supposed(i) {
			continue
		}
		n, _ := s.next(i)
		if n >= len(s.tokens) || !s.tokens[n].isNumber || s.tokens[n].number == 0 {
			continue
		}
		if after, _ := s.next(n); after >= len(s.tokens) {
			return true
		}
	}
	// make ends with "Error 2".
	last := len(s.tokens) - 1
	return last > 1 && s.tokens[last].isNumber && s.tokens[last].number > 0 && s.tokens[last-1].text == "error" && s.tokens[s.head()].text == "make"
}
