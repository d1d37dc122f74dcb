package score

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// What in a report speaks against a pass. The rules work on what words mean (words/*.txt), a
// sentence at a time; each of them says no where it is not sure that something failed, and
// asking the person is all that a yes leads to.

// against reports whether one line of a report speaks against a pass. alone reports whether
// what follows a bare word says that there is none.
func (l line) against(alone func() bool) bool {
	for _, piece := range pieces(l.text) {
		if l.compilerError(piece) || l.sentencesAgainst(sentences(piece, inSentence), alone) {
			return true
		}
	}
	return false
}

func (l line) sentencesAgainst(all []sentence, alone func() bool) bool {
	for i, s := range all {
		if s.head() == len(s.tokens) || s.all&speaking == 0 && !s.has(isOf|isNegation|isRate|isDone|isUnable|isLimit|isAnswer|isInstead|isFailureRate) && !s.has(isWorks|isPass) {
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
	switch {
	case s.leftCritical() && !s.has(isEarlier):
		return true
	case summaryAgainst(s):
		return !undone(s, after)
	case expected(s), !l.fenced && s.has(isEarlier) && !s.has(isUnresolved), l.data, undone(s, after):
		return false
	case headAgainst(s, alone), countAgainst(s), ratioAgainst(s), rateAgainst(s), noneRun(s), exitAgainst(s), tailAgainst(s):
		return true
	case l.fenced:
		return labelAgainst(s, true) || logAgainst(s)
	case labelAgainst(s, false), s.passDenied(), s.severityOpen():
		return true
	case s.has(isHarmless):
		return false
	case s.measureAgainst():
		return true
	case l.later:
		return false
	}
	return partAgainst(s) || anyUnrun(s) || s.functionAgainst() || s.proseAgainst() || s.phraseAgainst() || s.deniedAgainst()
}

// compilerError is an error as compilers and analysers print it, behind its place or with its code.
var compilerError = pattern.New(`(?:[\w./\\-]+\.(?:go|rs|c|cc|cpp|cxx|h|hpp|m|mm|ts|tsx|js|jsx|mjs|py|java|kt|scala|swift|cs|fs|hs|dart|ex|vue|zig)(?:\(\d+,\d+\)|:\d+(?::\d+)?)|^collect2|^ld): (?:fatal )?error\b|^error\[E\d+\]|\berror (?:TS|CS|C)\d{3,}:|^\d\d:\d\d \+\d+.*\[E\]$`)

// logAgainst: in a log, a word that means trouble, or a verdict of failure in capitals.
func logAgainst(s sentence) bool {
	for i, t := range s.tokens {
		if (t.has(isLog) || t.caps && t.verdict() && !t.has(isWeak)) && (!s.negated(i) || t.has(isLog)) && !zeroBefore(s, i) && !s.zeroAfter(i) && !s.comesToPass(i) && !s.offered(i) {
			return true
		}
	}
	return false
}

// undone reports whether the sentence, or the one after it, says that it is so no longer.
func undone(s sentence, after *sentence) bool {
	if s.has(isUnresolved) {
		return false
	}
	if settles(s) || endsWell(s) {
		return true
	}
	return after != nil && settles(*after) && !after.has(isUnresolved|isFail) && len(after.tokens) <= 20
}

// settles reports whether a sentence says that something was put right: "fixed", but not "a fixed
// list", nor "no longer finds".
func settles(s sentence) bool {
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
func endsWell(s sentence) bool {
	last := s.lastWord()
	if last < 0 {
		return false
	}
	for i := last; i > 0; i-- {
		t := s.tokens[i]
		if t.has(isFail) || t.has(isFailures) && t.isWord {
			return false
		}
		if t.has(isPass) && otherTest(s, i) {
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

// headAgainst: the first word is a verdict of failure, alone, before a mark, or before the name
// of a test; or what a tool prints where something failed.
func headAgainst(s sentence, alone func() bool) bool {
	i := s.head()
	t := s.tokens[i]
	if t.has(isTool) && !noneFailed(s, i) && (!s.zeroAfter(i) || len(s.tokens)-i > 5) && !s.supposed(i) {
		return toolAgainst(s, i)
	}
	if !t.verdict() || s.zeroAfter(i) {
		return false
	}
	n, marks := s.next(i)
	switch {
	case n >= len(s.tokens):
		return (!t.has(isWeak) || t.caps) && !alone()
	case t.symbol():
		return symbolAgainst(s, i)
	case t.has(isWeak) && (!t.caps || t.text == "error"):
		return t.caps && s.nameAt(n)
	case marks && s.markAfter(i):
		return !s.supposed(i) || t.caps
	}
	return !s.supposed(i) && wordAgainst(s, i, n)
}

// wordAgainst reports whether the word behind a verdict leaves it one: the name of a test, or a word
// that explains it, and not what is said to have failed as a kind ("failed logins are counted").
func wordAgainst(s sentence, i, n int) bool {
	t, following := s.tokens[i], s.tokens[n]
	if following.isWord && !following.spaced && following.start == t.end { // a longer word of a script without spaces
		return following.has(isTests|isCopula) && s.separatorAfter(n)
	}
	if t.caps || s.nameAt(n) {
		return true
	}
	return following.has(isLink|isNumber) && !following.has(isRule) || following.has(isTests) && s.separatorAfter(n)
}

// otherTest reports whether the pass at i is the result of another test than the one that failed
// before it: "AC-2: FAIL, AC-1: PASS".
func otherTest(s sentence, i int) bool {
	for j := i - 1; j >= 0; j-- {
		switch t := s.tokens[j]; {
		case t.has(isFail) && t.verdict():
			return slices.ContainsFunc(s.tokens[j+1:i], func(t token) bool { return t.has(isTests) && t.isWord })
		}
	}
	return false
}

// symbolAgainst: a mark of failure before what failed, unless the line explains the marks.
func symbolAgainst(s sentence, i int) bool {
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

// toolAgainst: the words of a tool stand as tools print them.
func toolAgainst(s sentence, i int) bool {
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
func labelAgainst(s sentence, fenced bool) bool {
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
		case t.has(isWeak) && !t.caps && !last && !testBracketed(s, i):
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

// tailAgainst: a line ends with a verdict as lists of tools and people do: "test_login FAILED",
// "AC-3 ❌", "AC-3 fail".
func tailAgainst(s sentence) bool {
	last := beforeBrackets(s)
	if i := beforeDuration(s, last); i > 0 && i <= 4 && s.tokens[i].verdict() && !s.tokens[i].has(isWeak) {
		return !s.negated(i) && !s.supposed(i)
	}
	for last > 0 && trails(s, last) {
		last--
	}
	t := s.tokens[last]
	if last == 0 || !t.verdict() || s.negated(last) || s.supposed(last) || s.offered(last) {
		return false
	}
	words, names := s.named(last)
	switch {
	case t.symbol():
		return words > 0
	case t.has(isWeak):
		return false
	}
	return words > 0 && (t.caps && words <= 7 || names && words <= 2)
}

// trails reports whether a token may stand behind the verdict that ends a line.
func trails(s sentence, i int) bool {
	t := s.tokens[i]
	return !t.has(isFail) && (!t.isWord || t.has(isLink) || timed(s, i))
}

// beforeDuration returns the token before a duration that ends at last ("failed after 12s"), 0
// where none does.
func beforeDuration(s sentence, last int) int {
	if !timed(s, last) {
		return 0
	}
	for last > 0 && (s.tokens[last].isNumber || timed(s, last) || s.tokens[last].has(isLink)) {
		last--
	}
	return last
}

// beforeBrackets returns the last token before what is added in brackets at the end.
func beforeBrackets(s sentence) int {
	last := len(s.tokens) - 1
	if t := s.tokens[last].text; t == ")" || t == "）" {
		for j := last; j > 0; j-- {
			if t := s.tokens[j].text; t == "(" || t == "（" {
				return j - 1
			}
		}
	}
	return last
}

// timed reports whether a token is the unit of a duration: "failed after 12s".
func timed(s sentence, i int) bool { return s.tokens[i].text == "s" || s.tokens[i].text == "ms" }

// named counts the words before a verdict, none where one of them is a verdict itself, and reports
// whether they name a test or a criterion.
func (s sentence) named(last int) (words int, names bool) {
	for j, u := range s.tokens[:last] {
		if u.has(isPass | isFail) {
			return 0, false
		}
		if u.isWord {
			words++
		}
		names = names || u.isNumber || s.nameAt(j)
	}
	return words, names
}

// testBracketed reports whether the value of a test is followed by a note in brackets: "e2e: red (4 of 17)".
func testBracketed(s sentence, i int) bool {
	mark := s.tokens[i+1].text
	return (mark == "(" || mark == "（") && i > 1 && s.tokens[i-2].has(isTests)
}

// zeroBefore: "0 tests failed".
func zeroBefore(s sentence, i int) bool {
	return i > 0 && s.tokens[i-1].isNumber && s.tokens[i-1].number == 0
}

// compilerError reports whether a line is an error of a compiler.
func (l line) compilerError(piece string) bool {
	return !l.data && strings.Contains(piece, "rror") && compilerError.MatchString(strings.TrimSpace(piece)) || !l.data && strings.HasSuffix(piece, "[E]") && compilerError.MatchString(strings.TrimSpace(piece))
}

// noneFailed: "0 tests failed", which begins as a run without tests does.
func noneFailed(s sentence, i int) bool {
	return s.tokens[i].text == "0" && i+1 < len(s.tokens) && s.tokens[i+1].has(isFailures)
}
