package score

import "strings"

// What in a report speaks against a pass. The rules work on what words mean (words/*.txt), a
// sentence at a time; each of them says no where it is not sure that something failed, and
// asking the person is all that a yes leads to.

// against reports whether one line of a report speaks against a pass. alone reports whether
// what follows a bare word says that there is none.
func (l line) against(alone func() bool) bool {
	for _, piece := range pieces(l.text) {
		if l.sentencesAgainst(sentences(piece, inSentence), alone) {
			return true
		}
	}
	return false
}

func (l line) sentencesAgainst(all []sentence, alone func() bool) bool {
	for i, s := range all {
		if s.head() == len(s.tokens) || s.all&speaking == 0 && !s.has(isOf) && !s.has(isNegation) && !s.has(isWorks|isPass) {
			continue
		}
		var after *sentence
		if i+1 < len(all) {
			after = &all[i+1]
		}
		if l.sentenceAgainst(s, after, alone) {
			return true
		}
	}
	return false
}

// speaking are the meanings without one of which no sentence speaks against a pass.
const speaking = isFail | isFailures | isTool | isExit | isAgainst | isNothingTested | isLog | isCritical | isMajor | isUntested

func (l line) sentenceAgainst(s sentence, after *sentence, alone func() bool) bool {
	if s.summaryAgainst() {
		return !s.undone(after)
	}
	if s.has(isExpected) || !l.fenced && s.has(isEarlier) && !s.has(isUnresolved) || s.undone(after) {
		return false
	}
	if l.data {
		return false
	}
	if s.headAgainst(alone) || s.countAgainst() || s.ratioAgainst() || s.exitAgainst() || s.tailAgainst() {
		return true
	}
	if l.fenced {
		return s.labelAgainst(true) || s.logAgainst()
	}
	if s.labelAgainst(false) || s.passDenied() || s.severityOpen() {
		return true
	}
	return !l.later && !s.has(isHarmless) && (s.proseAgainst() || s.phraseAgainst() || s.deniedAgainst())
}

// logAgainst: in a log, a word that means trouble, or a verdict of failure in capitals.
func (s sentence) logAgainst() bool {
	for i, t := range s.tokens {
		if (t.has(isLog) || t.caps && t.verdict() && !t.has(isWeak)) && !(s.negated(i) && !t.has(isLog)) && !s.zeroAfter(i) && !s.comesToPass(i) && !s.offered(i) {
			return true
		}
	}
	return false
}

// severityOpen: a severity and that it is open, in one sentence: "DEF-102 (Critical, open): …".
func (s sentence) severityOpen() bool {
	if !s.has(isCritical|isMajor) || !s.has(isStillOpen) || s.has(isWithdrawn|isMinor|isHarmless) {
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
		if !t.has(isWorks) || t.glued || s.supposed(i) || t.quoted {
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

// undone reports whether the sentence, or the one after it, says that it is so no longer.
func (s sentence) undone(after *sentence) bool {
	if s.has(isUnresolved) {
		return false
	}
	if s.settles() || s.endsWell() {
		return true
	}
	return after != nil && after.settles() && !after.has(isUnresolved|isFail) && len(after.tokens) <= 20
}

// settles reports whether a sentence says that something was put right: "fixed", but not "a fixed
// list", nor "no longer finds".
func (s sentence) settles() bool {
	for i, t := range s.tokens {
		switch {
		case !t.has(isResolved):
		case t.text == "no" && i+1 < len(s.tokens) && s.tokens[i+1].has(isWorks):
		case t.text == "fixed" && i > 0 && (s.tokens[i-1].text == "a" || s.tokens[i-1].text == "the"):
		default:
			return true
		}
	}
	return false
}

// endsWell reports whether a sentence names a failure first and comes to a pass by an arrow, or
// as the value of the whole: "FAILED → fixed → PASS", "Failed login is logged: pass".
func (s sentence) endsWell() bool {
	last := s.lastWord()
	if last < 0 {
		return false
	}
	for i := last; i > 0; i-- {
		t := s.tokens[i]
		if t.has(isFail) || t.has(isFailures) && t.isWord {
			return false
		}
		if (t.has(isPass) || t.isWord && t.text == "verified") && s.separatorBefore(i) && !s.negated(i) {
			return true
		}
		if last-i > 6 {
			break
		}
	}
	return false
}

// head returns the index of the first token that is not a mark: of a list, a heading, a quotation.
func (s sentence) head() int {
	for i, t := range s.tokens {
		if t.isWord || t.isNumber || t.is != 0 && t.is != isOf && t.is != isNone && t.is != isNone|isNeutralResult {
			if t.isNumber && i+1 < len(s.tokens) && (s.tokens[i+1].text == "." || s.tokens[i+1].text == ")" || s.tokens[i+1].text == "、") && i+2 < len(s.tokens) {
				continue // the number of an item
			}
			return i
		}
	}
	return len(s.tokens)
}

func (s sentence) lastWord() int {
	for i := len(s.tokens) - 1; i >= 0; i-- {
		if t := s.tokens[i]; t.isWord || t.isNumber || t.has(isPass|isFail) {
			return i
		}
	}
	return -1
}

// symbol reports whether a token is a mark such as ❌ and no word.
func (t token) symbol() bool { return !t.isWord && !t.isNumber }

var separators = map[string]bool{":": true, "：": true, "|": true, "｜": true, "→": true, "⇒": true, "➜": true, "=": true, "—": true, "–": true, "-": true, ">": true, "…": true, "⟶": true, "]": true, ")": true, "）": true, ",": true, "，": true, ".": true, "\"": true, "(": true, "（": true, "\\": true, "!": true, "！": true, "<": true, "/": true, "[": true, "、": true, "?": true, "？": true, "“": true, "”": true, "~": true, "】": true, "【": true, "{": true, "}": true, "」": true, "「": true}

// strong separators stand between a label and its value.
var labelSeparators = map[string]bool{":": true, "：": true, "|": true, "｜": true, "→": true, "⇒": true, "➜": true, "=": true, "—": true, "–": true, "-": true, ">": true, "…": true, "⟶": true, ".": true, "]": true}

func (s sentence) separatorBefore(i int) bool {
	for i--; i >= 0; i-- {
		t := s.tokens[i]
		if labelSeparators[t.text] {
			return true
		}
		if t.isWord || t.isNumber || t.has(isFail) {
			return false
		}
	}
	return false
}

// next returns the index of the next token that is no mark, and whether marks stood before it.
func (s sentence) next(i int) (at int, marks bool) {
	for i++; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if t.isWord || t.isNumber || t.has(isPass|isFail) && t.symbol() {
			return i, marks
		}
		marks = marks || separators[t.text]
	}
	return i, marks
}

// zeroAfter reports whether what follows says that there is none of it.
func (s sentence) zeroAfter(i int) bool {
	for steps := 0; steps < 4; steps++ {
		i++
		for i < len(s.tokens) && s.tokens[i].symbol() && !s.tokens[i].has(isNone|isFail|isPass) {
			i++
		}
		if i >= len(s.tokens) {
			return false
		}
		t := s.tokens[i]
		switch {
		case t.isNumber:
			return t.number == 0
		case t.has(isNone | isNo):
			n, marks := s.next(i)
			return t.text != "no" || n >= len(s.tokens) || marks || s.tokens[n].has(isFindings|isFailures|isTests)
		case t.has(isTests | isCopula | isFindings | isFailures):
		default:
			return false
		}
	}
	return false
}

// negated reports whether one of the few words before says that it is not so.
func (s sentence) negated(i int) bool {
	for j := i - 1; j >= 0 && j >= i-6; j-- {
		t := s.tokens[j]
		if t.has(isNegation|isNone) || t.isNumber && t.number == 0 {
			return true
		}
		if t.has(isFail|isPass) || t.text == "," || t.text == "，" {
			return false
		}
	}
	return false
}

// supposed reports whether a condition or a possibility stands before i, or a rule behind it.
func (s sentence) supposed(i int) bool {
	if i >= len(s.tokens) {
		return s.has(isCondition | isRule)
	}
	return s.tokens[i].conditioned || s.tokens[i].ruled
}

// verdict reports whether a token is a word of failure that stands for itself.
func (t token) verdict() bool { return t.has(isFail) && !t.has(isNeutral) && !(t.glued && t.isWord) }

// headAgainst: the first word is a verdict of failure, alone, before a mark, or before the name
// of a test; or what a tool prints where something failed.
func (s sentence) headAgainst(alone func() bool) bool {
	i := s.head()
	t := s.tokens[i]
	if t.has(isTool) && !(s.zeroAfter(i) && len(s.tokens)-i <= 5) && !s.supposed(i) {
		return s.toolAgainst(i)
	}
	if !t.verdict() || s.zeroAfter(i) {
		return false
	}
	n, marks := s.next(i)
	if n >= len(s.tokens) {
		if t.has(isWeak) && !t.caps {
			return false
		}
		return !alone()
	}
	if t.symbol() {
		return s.symbolAgainst(i)
	}
	following := s.tokens[n]
	if following.isWord && !following.spaced && !marks && s.tokens[n].start == t.end { // a longer word of a script without spaces
		return following.has(isTests|isCopula) && !s.supposed(i) && !t.has(isWeak) && s.separatorAfter(n)
	}
	name := s.nameAt(n)
	switch {
	case t.has(isWeak) && !(t.caps && t.text != "error"):
		return t.caps && name
	case marks && s.markAfter(i):
		return !s.supposed(i) || t.caps
	case name, t.caps:
		return !s.supposed(i)
	case following.has(isLink), following.has(isNumber):
		return !s.supposed(i) && !following.has(isRule)
	case following.has(isTests):
		return s.separatorAfter(n) && !s.supposed(i)
	}
	return false
}

// markAfter reports whether a mark that ends a word's clause stands right behind it.
func (s sentence) markAfter(i int) bool {
	return i+1 < len(s.tokens) && separators[s.tokens[i+1].text] && !(s.tokens[i+1].text == "-" && !s.tokens[i+1].spaced)
}

func (s sentence) separatorAfter(i int) bool {
	return i+1 >= len(s.tokens) || labelSeparators[s.tokens[i+1].text] || s.tokens[i+1].text == "(" || s.tokens[i+1].text == "（"
}

// nameAt reports whether the word at a token is written as tools write the names of tests and files.
func (s sentence) nameAt(i int) bool {
	if i >= len(s.tokens) {
		return false
	}
	from := s.tokens[i].start
	field := s.text[from:]
	if end := strings.IndexAny(field, " \t"); end >= 0 {
		field = field[:end]
	}
	if strings.ContainsAny(field, "/_#") || strings.Contains(field, "::") {
		return true
	}
	if from > 0 && s.text[from-1] == '`' {
		return true
	}
	inner := strings.Trim(field, ".,:;()[]*\"'`")
	if strings.Contains(inner, ".") || strings.ContainsAny(inner, "0123456789") && strings.IndexFunc(inner, func(r rune) bool { return r >= 'A' && r <= 'Z' }) >= 0 {
		return true
	}
	for j, r := range inner {
		if j > 0 && r >= 'A' && r <= 'Z' && inner[j-1] >= 'a' && inner[j-1] <= 'z' {
			return true
		}
	}
	return false
}

// symbolAgainst: a mark of failure before what failed, unless the line explains the marks.
func (s sentence) symbolAgainst(i int) bool {
	for _, t := range s.tokens {
		if t.symbol() && t.has(isPass) {
			return false
		}
	}
	n, _ := s.next(i)
	if i+1 < len(s.tokens) && s.tokens[i+1].text == "=" {
		return false
	}
	return !s.tokens[n].has(isPass) && !s.zeroAfter(n-1) && !s.noneLast()
}

// noneLast reports whether the sentence comes to "none" or 0.
func (s sentence) noneLast() bool {
	last := s.lastWord()
	return last > 0 && s.separatorBefore(last) && (s.tokens[last].has(isNone) || s.tokens[last].isNumber && s.tokens[last].number == 0)
}

// toolAgainst: the words of a tool stand as tools print them.
func (s sentence) toolAgainst(i int) bool {
	t := s.tokens[i]
	if strings.Contains(strings.TrimSpace(s.text[t.start:t.end]), " ") || wordless(firstRune(t.text)) {
		return true
	}
	if i+1 >= len(s.tokens) {
		return t.text != "panic" && t.text != "fatal"
	}
	switch s.tokens[i+1].text {
	case ":", "!", "(", ".", "[":
		return true
	}
	return s.tokens[i+1].glued && t.caps
}

// labelAgainst: a label, a mark, and a verdict of failure as its value.
func (s sentence) labelAgainst(fenced bool) bool {
	for i, t := range s.tokens {
		if i == 0 || !t.verdict() || !s.separatorBefore(i) || s.zeroAfter(i) {
			continue
		}
		n, marks := s.next(i)
		last := n >= len(s.tokens)
		switch {
		case t.symbol():
		case fenced && !t.caps:
			continue
		case t.has(isWeak) && !t.caps && !last:
			continue
		case last, marks, t.caps:
		case s.tokens[n].isNumber, s.tokens[n].has(isLink | isFail):
		default:
			continue
		}
		if s.supposed(i) || s.comesToPass(i) || s.offered(i) || s.negated(i) || t.inCode {
			continue
		}
		return true
	}
	return false
}

// comesToPass reports whether a pass follows the failure as what it came to.
func (s sentence) comesToPass(i int) bool {
	for j := i + 1; j < len(s.tokens); j++ {
		if s.tokens[j].has(isPass) && !s.negated(j) && s.separatorBefore(j) {
			for _, t := range s.tokens[j+1:] {
				if t.verdict() {
					return false
				}
			}
			return true
		}
	}
	return false
}

// offered reports whether the failure is one of several choices: "pass / fail".
func (s sentence) offered(i int) bool {
	choice := func(j int) bool {
		return j >= 0 && j < len(s.tokens) && (s.tokens[j].text == "/" || s.tokens[j].text == "|" || s.tokens[j].text == "／")
	}
	if choice(i-1) && i >= 2 && s.tokens[i-2].has(isPass) {
		return true
	}
	return choice(i+1) && i+2 < len(s.tokens) && s.tokens[i+2].has(isPass)
}

// tailAgainst: a line ends with a verdict as lists of tools and people do: "test_login FAILED",
// "AC-3 ❌", "AC-3 fail".
func (s sentence) tailAgainst() bool {
	last := len(s.tokens) - 1
	if t := s.tokens[last].text; t == ")" || t == "）" { // what is added in brackets
		for j := last; j > 0; j-- {
			if t := s.tokens[j].text; t == "(" || t == "（" {
				last = j - 1
				break
			}
		}
	}
	if s.tokens[last].text == "s" || s.tokens[last].text == "ms" { // "failed after 12s"
		for last > 0 && (s.tokens[last].isNumber || s.tokens[last].text == "s" || s.tokens[last].text == "ms" || s.tokens[last].has(isLink)) {
			last--
		}
		if t := s.tokens[last]; t.verdict() && !t.has(isWeak) && last > 0 && last <= 4 {
			return !s.negated(last) && !s.supposed(last)
		}
	}
	for last > 0 && !s.tokens[last].has(isFail) && (!s.tokens[last].isWord || s.tokens[last].has(isLink) || s.tokens[last].text == "s" || s.tokens[last].text == "ms") {
		last--
	}
	t := s.tokens[last]
	if last == 0 || !t.verdict() || s.negated(last) || s.supposed(last) || s.offered(last) {
		return false
	}
	words, names := 0, false
	for j, u := range s.tokens[:last] {
		if u.has(isPass) || u.has(isFail) {
			return false
		}
		if u.isWord {
			words++
		}
		names = names || u.isNumber || s.nameAt(j)
	}
	switch {
	case t.symbol():
		return words > 0
	case t.caps && !t.has(isWeak):
		return words > 0 && words <= 7
	}
	return names && words <= 2 && !t.has(isWeak) && words > 0
}

// proseAgainst: a sentence says of a test, a build or a criterion that it fails.
func (s sentence) proseAgainst() bool {
	for i, t := range s.tokens {
		if !t.verdict() || t.symbol() || t.has(isThing) || s.negated(i) || s.supposed(i) {
			continue
		}
		if n, marks := s.next(i); n < len(s.tokens) && !marks && !s.tokens[n].has(isLink|isCopula|isNumber|isOf|isNegation|isCondition|isEarlier|isFail|isUnresolved|isTests) &&
			t.text != "fails" && t.text != "fail" && !wordless(firstRune(t.text)) {
			continue
		}
		for j := i - 1; j >= 0 && j >= i-9; j-- {
			u := s.tokens[j]
			if u.has(isTests) && !u.has(isNeutral) {
				return !u.has(isFail)
			}
			if u.text == "they" || u.text == "which" && s.has(isTests) {
				return s.has(isTests)
			}
			if u.has(isPass) || u.text == "," || u.text == "，" || u.text == ":" || u.text == "：" {
				break
			}
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
		if t.has(isAgainst|isLog) && !s.negated(i) && !s.supposed(i) && !s.zeroAfter(i) {
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
