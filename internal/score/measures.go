package score

// Figures that speak against a pass without a word of failure: a measurement beyond the limit that
// stands beside it, the answer of a server that broke, a value shown in place of the right one.

// measureAgainst reports whether a sentence has such a figure.
func (s sentence) measureAgainst() bool {
	return s.limitAgainst() || s.failureRate() || s.serverError() || s.insteadAgainst()
}

// limitAgainst: "p95 480 ms (limit 250 ms)", "平均 4.8 秒（要求 1 秒以内）", "coverage 61 % (threshold 80 %)".
func (s sentence) limitAgainst() bool {
	for i, t := range s.tokens {
		if !t.has(isLimit) || s.tokens[i].conditioned {
			continue
		}
		bound := s.numberNear(i+1, 4)
		if bound < 0 || bound+1 >= len(s.tokens) {
			continue
		}
		unit := s.tokens[bound+1].text
		for j := i - 1; j > 0; j-- {
			if !s.tokens[j-1].isNumber || s.tokens[j].text != unit && (timeUnits[s.tokens[j].text] == 0 || timeUnits[unit] == 0) {
				continue
			}
			return s.beyond(j-1, bound)
		}
		for j := bound + 2; j+1 < len(s.tokens); j++ {
			if s.tokens[j].isNumber && s.tokens[j+1].text == unit && !s.has(isExpected) {
				return s.beyond(j, bound)
			}
		}
	}
	return false
}

// beyond reports whether a duration is above its limit, or a coverage below.
func (s sentence) beyond(measured, limit int) bool {
	m, l, unit := s.tokens[measured].number, s.tokens[limit].number, s.tokens[limit+1].text
	if scale := timeUnits[unit]; scale > 0 {
		return m*timeUnits[s.tokens[measured+1].text] > l*scale
	}
	return unit == "%" && s.has(isCoverage) && m < l
}

// timeUnits are the units of durations, in milliseconds; of a Chinese one the first character.
var timeUnits = map[string]float64{"ms": 1, "毫": 1, "s": 1000, "sec": 1000, "secs": 1000, "second": 1000, "seconds": 1000, "秒": 1000, "min": 60000, "minutes": 60000, "分": 60000}

// numberNear returns the first number at or soon after i, or -1.
func (s sentence) numberNear(i, within int) int {
	for j := i; j < len(s.tokens) && j <= i+within; j++ {
		if s.tokens[j].isNumber && !s.tokens[j].glued {
			return j
		}
	}
	return -1
}

// serverError: a program answered with 500 or 502, and nobody meant it to.
func (s sentence) serverError() bool {
	for i, t := range s.tokens {
		if !t.isNumber || t.glued || t.number != 500 && t.number != 502 || s.supposed(i) || s.ofUnwanted(i) {
			continue
		}
		if i+1 < len(s.tokens) && s.tokens[i+1].isWord && s.tokens[i+1].spaced && !s.tokens[i+1].has(isLink|isFail|isCopula) && !wordless(firstRune(s.tokens[i+1].text)) {
			continue // 500 rows
		}
		for j := i - 1; j >= 0 && j >= i-4; j-- {
			if s.tokens[j].has(isAnswer) && !s.negated(j) {
				return true
			}
		}
	}
	return false
}

// insteadAgainst: "shows 10.00 instead of 10.01", "got 3 instead of 4".
func (s sentence) insteadAgainst() bool {
	for i, t := range s.tokens {
		if t.has(isInstead) && i > 0 && i+1 < len(s.tokens) && !s.supposed(i) && !s.ofUnwanted(i) {
			before, after := s.tokens[max(0, i-2):i], s.tokens[i+1:min(len(s.tokens), i+3)]
			if hasNumber(before) && hasNumber(after) {
				return true
			}
		}
	}
	return false
}

func hasNumber(ts []token) bool {
	for _, t := range ts {
		if t.isNumber {
			return true
		}
	}
	return false
}

// differs reports whether what was observed is plainly not what was expected: two other bare
// numbers, or two other single words.
func differs(expected, actual string) bool {
	e, a := units(expected), units(actual)
	if len(e) != 1 || len(a) != 1 || e[0].text == a[0].text {
		return false
	}
	return e[0].isNumber && a[0].isNumber && e[0].number != a[0].number
}

// comparison returns the columns of what was expected and of what was observed, -1 where a table
// does not have both.
func (t mdTable) comparison() (expected, actual int) {
	expected, actual = -1, -1
	for col, name := range t.header {
		for _, s := range sentences(name, isExpectedHead|isActualHead) {
			switch {
			case s.has(isExpectedHead) && expected < 0:
				expected = col
			case s.has(isActualHead) && actual < 0:
				actual = col
			}
		}
	}
	return expected, actual
}

// failureRate: more than one in a hundred failed: "error rate 6.3 %".
func (s sentence) failureRate() bool {
	for i, t := range s.tokens {
		if !t.has(isFailureRate) || s.supposed(i) {
			continue
		}
		n := s.numberNear(i+1, 3)
		if n > 0 && n+1 < len(s.tokens) && s.tokens[n+1].text == "%" && s.tokens[n].number > 1 && !s.has(isLimit) {
			return true
		}
	}
	return false
}
