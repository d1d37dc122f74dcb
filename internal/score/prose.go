package score

// What sentences say against a pass, as people write them.

// severityOpen: a severity and that it is open, in one sentence: "DEF-102 (Critical, open): …".
func (s sentence) severityOpen() bool {
	if s.scanCritical() {
		return true
	}
	if !s.has(isCritical|isMajor) || !s.has(isStillOpen) || s.has(isWithdrawn|isHarmless) || s.has(isMinor) && !s.countsCritical() {
		return false
	}
	for i, t := range s.tokens {
		if t.has(isStillOpen) && (s.negated(i) || s.zeroAfter(i)) {
			return false
		}
		if t.has(isCritical|isMajor) && (s.negated(i) || s.supposed(i) || s.zeroAfter(i)) {
			return false
		}
	}
	return s.has(isFindings) || s.bracketed()
}

// countsCritical: "3 defects, of which 1 critical".
func (s sentence) countsCritical() bool {
	for i, t := range s.tokens {
		if t.has(isCritical) && i > 0 && (s.tokens[i-1].isNumber && s.tokens[i-1].number > 0 || i > 1 && s.tokens[i-1].has(isCopula) && s.tokens[i-2].isNumber && s.tokens[i-2].number > 0) {
			return true
		}
	}
	return false
}

// bracketed reports whether a severity stands in brackets or before a mark.
func (s sentence) bracketed() bool {
	for i, t := range s.tokens {
		if t.has(isCritical|isMajor) && i > 0 && i+1 < len(s.tokens) && separators[s.tokens[i-1].text] && separators[s.tokens[i+1].text] {
			return true
		}
	}
	return false
}

// deniedAgainst: what a good product does is denied: "could not be satisfied", "is not
// implemented", "no longer finds".
func (s sentence) deniedAgainst() bool {
	for i, t := range s.tokens {
		if !t.has(isWorks) || t.glued || s.supposed(i) || t.quoted || s.ofUnwanted(i) {
			continue
		}
		for j := i - 1; j >= 0 && j >= i-3; j-- {
			u := s.tokens[j]
			if u.denial() {
				return s.subjectBefore(j)
			}
			if !u.has(isCopula|isCondition) || u.symbol() {
				break
			}
		}
	}
	return false
}

// denial reports whether a word denies the verb that follows.
func (t token) denial() bool {
	switch t.text {
	case "not", "cannot", "cant", "couldnt", "doesnt", "dont", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "never", "no", "未", "没有", "没", "不能", "无法", "尚未":
		return t.text != "no" || t.end-t.start > 2 // "no longer"
	}
	return false
}

// subjectBefore reports whether something that is meant stands before a denial: "not tested" alone
// heads a list of what was left out.
func (s sentence) subjectBefore(j int) bool {
	for _, t := range s.tokens[:j] {
		if t.isWord && !t.has(isCopula|isNegation) || t.has(isTests) {
			return true
		}
	}
	return false
}

// proseAgainst: a sentence says of a test, a build or a criterion that it fails.
func (s sentence) proseAgainst() bool {
	for i, t := range s.tokens {
		if t.verdict() && !t.symbol() && !t.has(isThing) && !s.negated(i) && !s.supposed(i) && s.predicate(i) && s.testFails(i) {
			return true
		}
	}
	return false
}

// predicate reports whether a word of failure is a predicate, and not an attribute of the
// next word.
func (s sentence) predicate(i int) bool {
	t := s.tokens[i]
	n, marks := s.next(i)
	return n >= len(s.tokens) || marks || t.text == "fails" || t.text == "fail" || wordless(firstRune(t.text)) ||
		s.tokens[n].has(isLink|isCopula|isNumber|isOf|isNegation|isCondition|isEarlier|isFail|isUnresolved|isTests)
}

// testFails reports whether what fails is a test, a build or a criterion.
func (s sentence) testFails(i int) bool {
	for j := i - 1; j >= 0 && j >= i-9; j-- {
		u := s.tokens[j]
		switch {
		case u.has(isTests) && !u.has(isNeutral):
			return !u.has(isFail)
		case u.text == "they", u.text == "which" && s.has(isTests):
			return s.has(isTests)
		case u.has(isPass), u.text == ",", u.text == "，", u.text == ":", u.text == "：":
			return false
		}
	}
	return false
}

// phraseAgainst: words that speak against a pass wherever they stand, or say that nothing was tested.
func (s sentence) phraseAgainst() bool {
	for i, t := range s.tokens {
		if t.quoted || t.inCode {
			continue
		}
		if (t.text == "no" || t.text == "none") && s.noTestsRun(i) {
			return true
		}
		if t.has(isUntested) && s.ofAll(i) {
			return true
		}
		if t.has(isNothingTested) && !t.conditioned {
			return true
		}
		if t.has(isAgainst|isLog) && !s.negated(i) && !s.supposed(i) && !s.zeroAfter(i) && (t.has(isLog) || !s.ofUnwanted(i)) {
			return true
		}
	}
	return false
}

// ofAll reports whether what was not tested is all that was to be: "all acceptance tests:
// SKIPPED", "十二条标准均无法测试".
func (s sentence) ofAll(i int) bool {
	tests := false
	for j := i - 1; j >= 0 && j >= i-8; j-- {
		t := s.tokens[j]
		tests = tests || t.has(isTests)
		switch t.text {
		case "all", "every", "全", "均", "都", "所":
			return tests || s.has(isTests)
		}
		if t.isNumber || t.has(isPass|isFail) {
			return false
		}
	}
	return false
}

// noTestsRun: "no functional tests could be carried out".
func (s sentence) noTestsRun(i int) bool {
	tests := false
	for j := i + 1; j < len(s.tokens) && j <= i+7; j++ {
		t := s.tokens[j]
		switch {
		case t.has(isTests):
			tests = true
		case tests && t.has(isWorks):
			return true
		case tests && !t.has(isCopula|isCondition|isUntested), !tests && j > i+4, t.has(isFail):
			return false
		}
	}
	return false
}

// passDenied: the label asks whether it passed, and the value says no: "Passed: 0", "Approved? No".
func (s sentence) passDenied() bool {
	if s.questionDenied() {
		return true
	}
	i := s.head()
	if !s.tokens[i].has(isPass) || s.tokens[i].symbol() {
		return false
	}
	n, marks := s.next(i)
	if n >= len(s.tokens) || !marks {
		return false
	}
	t := s.tokens[n]
	last := n == s.lastWord()
	return last && (t.has(isNo) || t.isNumber && t.number == 0)
}

// leftCritical: "2 open (1 critical)", "遗留 2（含致命 1）".
func (s sentence) leftCritical() bool {
	for i, t := range s.tokens {
		if !t.has(isStillOpen) || s.zeroAfter(i) || s.negated(i) {
			continue
		}
		for j := i + 1; j < len(s.tokens) && j <= i+7; j++ {
			if !s.tokens[j].has(isCritical) {
				continue
			}
			before, after := s.tokens[j-1], token{}
			if j+1 < len(s.tokens) {
				after = s.tokens[j+1]
			}
			return before.isNumber && before.number > 0 || after.isNumber && after.number > 0
		}
	}
	return false
}

// questionDenied: what a label says of a good product is answered with no: "Integration tests pass: no".
func (s sentence) questionDenied() bool {
	last := s.lastWord()
	if last < 1 || !s.tokens[last].has(isNo) || !s.separatorBefore(last) || s.has(isFailures|isStillOpen|isFindings|isFail) {
		return false
	}
	for _, t := range s.tokens[:last] {
		if t.has(isPass|isDone) && t.isWord {
			return true
		}
	}
	return false
}

// scanCritical: a tally of severities behind a label: "Security scan: 1 critical, 3 high".
func (s sentence) scanCritical() bool {
	if s.has(isResolved | isEarlier | isWithdrawn) {
		return false
	}
	for i, t := range s.tokens {
		if t.has(isCritical) && i > 1 && s.tokens[i-1].isNumber && s.tokens[i-1].number > 0 && s.separatorBefore(i-1) && (i+1 == len(s.tokens) || s.markAfter(i)) {
			return true
		}
	}
	return false
}
