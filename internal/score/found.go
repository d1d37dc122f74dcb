package score

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Findings that a report names in its headings, lists and sentences, and not in a table.

// findingAgainst reports whether a line names a critical finding that is open.
func (a *Assessment) findingAgainst(lines []line, i int, all []sentence) bool {
	if lines[i].fenced {
		return false
	}
	for k, s := range all {
		if !s.has(isCritical) || s.head() >= len(s.tokens) || s.has(isExpected|isEarlier|isWithdrawn) {
			continue
		}
		var after *sentence
		if k+1 < len(all) {
			after = &all[k+1]
		}
		if undone(s, after) || s.supposed(len(s.tokens)) {
			continue
		}
		if s.criticalCounted() {
			return true
		}
		if s.criticalHead() && !a.settled(s) && !noneBelow(lines, i) && !settledBelow(lines, i) {
			return true
		}
	}
	return false
}

var emptyBox = pattern.New(`^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+\[[ \t]?\][ \t]+\S|(?:[-*+]|\d+[.)])?[ \t]*[☐☒🔲▢][ \t]*\S)`)

// verdictBox is one of the boxes of a form, of which the other is checked.
var verdictBox = pattern.New(`(?i)\[[ \t]?\][ \t]*\*{0,2}(?:pass|fail|not? |n/a|blocked|通过|不通过|不适用)`)

// unchecked reports whether a line is an item of a checklist that is not checked, and not for later.
func (l line) unchecked() bool {
	return !l.fenced && !l.later && emptyBox.MatchString(l.text) && !verdictBox.MatchString(l.text)
}

// criticalSection returns the first item below a heading of critical findings that is not fixed:
// "## Critical issues", "**Blockers**", "严重问题：".
func (a *Assessment) criticalSection(lines []line, i int) (line, bool) {
	l := lines[i]
	if !l.labelsCritical() {
		return line{}, false
	}
	for j := i + 1; j < len(lines) && j <= i+50; j++ {
		item := lines[j]
		if item.heading > 0 && (l.heading == 0 || item.heading <= l.heading) || l.heading == 0 && !listMark.MatchString(item.text) {
			break
		}
		if item.fenced || !listMark.MatchString(item.text) && item.heading == 0 && j > i+1 {
			continue // more words about the item before
		}
		if noneSaid(item.text) {
			break
		}
		if !a.itemSettled(lines, j) {
			return item, true
		}
	}
	return line{}, false
}

// labelsCritical reports whether a line heads a list of critical findings.
func (l line) labelsCritical() bool {
	label := strings.TrimRight(l.text, " *_")
	if l.fenced || l.heading == 0 && !strings.HasSuffix(label, ":") && !strings.HasSuffix(label, "：") || len(label) > 120 {
		return false
	}
	for _, s := range sentences(label, inSentence) {
		if !s.headsCritical() {
			return false
		}
	}
	return true
}

var listMark = pattern.New(`^[ \t>]*(?:[-*+•][ \t]|\d+[.)、]|\||\[)`)

// headsCritical reports whether a heading names critical findings and nothing else.
func (s sentence) headsCritical() bool {
	critical := false
	for _, t := range s.tokens {
		switch {
		case t.has(isCritical):
			critical = true
		case !t.isWord, t.has(isFindings | isCopula | isStillOpen | isNumber):
		default:
			return false
		}
	}
	return critical && !s.has(isNegation|isNone)
}

// headsBugs reports whether a heading names bugs that were found, and nothing of what became of them.
func (l line) headsBugs() bool {
	if l.heading == 0 || l.heading > 6 || l.fenced || l.later || len(l.text) > 80 {
		return false
	}
	us := slices.DeleteFunc(units(l.text), func(u unit) bool { return !u.isWord })
	if len(us) == 0 {
		return false
	}
	is, n := heads().match(us, isBugs)
	return is != 0 && n == len(us)
}

// openBug returns the first item below a heading of bugs that is neither settled nor minor.
func (a *Assessment) openBug(lines []line, i int) (line, bool) {
	if !lines[i].headsBugs() {
		return line{}, false
	}
	for j := i + 1; j < len(lines) && j <= i+50 && lines[j].heading == 0; j++ {
		item := lines[j]
		if item.fenced || item.table || !listMark.MatchString(item.text) {
			continue
		}
		if noneSaid(item.text) {
			break
		}
		below := j+1 < len(lines) && !listMark.MatchString(lines[j+1].text) && a.itemSettled(lines, j+1)
		if !item.minor() && !below && !a.itemSettled(lines, j) {
			return item, true
		}
	}
	return line{}, false
}

// minor reports whether a line names a low severity, or that something is left as it is.
func (l line) minor() bool {
	for _, s := range sentences(pieces(l.text)[0], isMinor|isHarmless|isWaived|isNone) {
		if s.all != 0 {
			return true
		}
	}
	return false
}

// noneSaid reports whether a line says that there is nothing of the kind: "None.", "No blockers were
// found", and not "No authorization".
func noneSaid(text string) bool {
	all := sentences(pieces(text)[0], inSentence)
	if len(all) == 0 {
		return false
	}
	s, h := all[0], 0
	for h < len(s.tokens) && s.tokens[h].symbol() {
		h++
	}
	if h >= len(s.tokens) || !s.tokens[h].has(isNone|isNegation) {
		return false
	}
	if n, marks := s.next(h); n >= len(s.tokens) || marks {
		return true
	}
	for _, t := range s.tokens[h+1 : min(len(s.tokens), h+4)] {
		if t.has(isFindings | isCritical) {
			return true
		}
	}
	return s.tokens[h].text != "no" && s.tokens[h].text != "没"
}

// itemSettled reports whether an item of a list of findings is fixed or withdrawn.
func (a *Assessment) itemSettled(lines []line, j int) bool {
	for _, s := range sentences(pieces(lines[j].text)[0], inSentence) {
		if undone(s, nil) || s.has(isWithdrawn) || a.settled(s) {
			return true
		}
	}
	return settledBelow(lines, j) && lines[j].heading > 0
}

// namesOne are the words before a critical finding that say that it is there.
var namesOne = marksOf("a the another 是 为 于 有 在 个 项 了 到")

// criticalCounted: "2 critical findings are open", "Critical: 1", "严重问题：2", "a critical defect".
func (s sentence) criticalCounted() bool {
	for i, t := range s.tokens {
		if !t.has(isCritical) || t.symbol() || s.negated(i) {
			continue
		}
		if s.criticalBehind(i) || s.criticalBefore(i) {
			return true
		}
	}
	return false
}

// criticalBehind: what stands before a critical severity says that there are some of it.
func (s sentence) criticalBehind(i int) bool {
	if i == 0 {
		return false
	}
	before := s.tokens[i-1]
	n, _ := s.next(i)
	if before.isNumber && !before.glued && before.number > 0 || before.has(isNumber) {
		return n >= len(s.tokens) || s.tokens[n].has(isFindings|isStillOpen) || s.has(isFindings|isStillOpen) && s.markAfter(i)
	}
	return n < len(s.tokens) && n == i+1 && s.tokens[n].has(isFindings) && namesOne[before.text] && !s.zeroAfter(i)
}

// criticalBefore: a mark and a number above zero follow a critical severity.
func (s sentence) criticalBefore(i int) bool {
	for j := i + 1; j < len(s.tokens) && j <= i+5; j++ {
		u := s.tokens[j]
		if u.isNumber {
			n, marks := s.next(j)
			return u.number > 0 && !u.glued && (s.separatorBefore(j) || s.has(isFindings|isStillOpen)) && (n >= len(s.tokens) || marks || s.tokens[n].has(isFindings|isStillOpen|isCopula))
		}
		if !u.has(isFindings) && !labelSeparators[u.text] {
			return false
		}
	}
	return false
}

// criticalHead: the line begins with the severity of a finding, or with its id and severity:
// "- [critical] SQL injection", "Critical: …", "### R1 (critical): …", "Severity: critical".
func (s sentence) criticalHead() bool {
	h := s.head()
	for i := h; i < len(s.tokens) && i <= h+3; i++ {
		t := s.tokens[i]
		if !t.has(isCritical) {
			if t.has(isPass | isNone | isNegation) {
				return false
			}
			continue
		}
		if s.negated(i) || s.zeroAfter(i) {
			return false
		}
		n, marks := s.next(i)
		before := i > 0 && (s.tokens[i-1].text == "(" || s.tokens[i-1].text == "[" || s.tokens[i-1].text == "（" || s.tokens[i-1].text == "【" || labelSeparators[s.tokens[i-1].text])
		switch {
		case n >= len(s.tokens):
			return i > h && s.severityLabel(h, i)
		case i == h:
			return t.symbol() || marks && s.markAfter(i)
		case before && marks:
			return true
		}
		return false
	}
	return false
}

// severityLabel reports whether a severity stands as the value of its label or in brackets.
func (s sentence) severityLabel(h, i int) bool {
	is, _ := heads().match([]unit{s.tokens[h].unit}, colSeverity)
	return is != 0 && s.separatorBefore(i) || s.tokens[i-1].text == "(" || s.tokens[i-1].text == "[" || s.tokens[i-1].text == "（"
}

// settled reports whether a finding of the report's list that is not open has its id in the line.
func (a *Assessment) settled(s sentence) bool {
	return slices.ContainsFunc(a.Findings, func(f workflow.Finding) bool {
		if f.Open() || f.ID == "" {
			return false
		}
		id := units(f.ID)
		for i := range s.tokens {
			if i+len(id) > len(s.tokens) {
				return false
			}
			same := true
			for j, u := range id {
				same = same && s.tokens[i+j].text == u.text
			}
			if same {
				return true
			}
		}
		return false
	})
}

// settledBelow reports whether what belongs to a finding, around and below its line, says that it
// is fixed.
func settledBelow(lines []line, i int) bool {
	from, to := i, i+1
	if lines[i].heading == 0 {
		for from > 0 && lines[from-1].heading == 0 && i-from < 6 && lines[from-1].number == lines[from].number-1 {
			from--
		}
	}
	for to < len(lines) && lines[to].heading == 0 && to-i < 12 && (lines[i].heading > 0 || lines[to].number == lines[to-1].number+1) {
		to++
	}
	for _, l := range lines[from:to] {
		if l.fenced {
			continue
		}
		for _, s := range sentences(l.text[:min(len(l.text), maxPiece)], inSentence) {
			if s.has(isResolved) && !s.has(isUnresolved) {
				return true
			}
		}
	}
	return false
}
