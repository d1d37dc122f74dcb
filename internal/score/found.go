package score

import (
	"regexp"
	"slices"

	"bmad-mcp/internal/workflow"
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
		if s.undone(after) || s.supposed(len(s.tokens)) {
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

var emptyBox = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[[ \t]?\][ \t]+\S`)

// verdictBox is one of the boxes of a form, of which the other is checked.
var verdictBox = regexp.MustCompile(`(?i)\[[ \t]?\][ \t]*\*{0,2}(?:pass|fail|not? |n/a|blocked|通过|不通过|不适用)`)

// unchecked reports whether a line is an item of a checklist that is not checked, and not for later.
func (l line) unchecked() bool {
	return !l.fenced && !l.later && emptyBox.MatchString(l.text) && !verdictBox.MatchString(l.text)
}

// namesOne are the words before a critical finding that say that it is there.
var namesOne = map[string]bool{"a": true, "the": true, "another": true, "of": false, "是": true, "为": true, "于": true, "有": true, "在": true, "个": true, "项": true, "了": true, "到": true}

// criticalCounted: "2 critical findings are open", "Critical: 1", "严重问题：2".
func (s sentence) criticalCounted() bool {
	for i, t := range s.tokens {
		if !t.has(isCritical) || t.symbol() || s.negated(i) {
			continue
		}
		if i > 0 && (s.tokens[i-1].isNumber && !s.tokens[i-1].glued && s.tokens[i-1].number > 0 || s.tokens[i-1].has(isNumber)) {
			n, _ := s.next(i)
			if n >= len(s.tokens) || s.tokens[n].has(isFindings|isStillOpen) {
				return true
			}
		}
		if i > 0 && i+1 < len(s.tokens) && s.tokens[i+1].has(isFindings) && namesOne[s.tokens[i-1].text] && !s.zeroAfter(i) {
			return true
		}
		for j := i + 1; j < len(s.tokens) && j <= i+5; j++ {
			u := s.tokens[j]
			if u.isNumber {
				if n, marks := s.next(j); u.number > 0 && !u.glued && (n >= len(s.tokens) || marks || s.tokens[n].has(isFindings|isStillOpen|isCopula)) && s.separatorBefore(j) {
					return true
				}
				break
			}
			if !u.has(isFindings) && !labelSeparators[u.text] {
				break
			}
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
	is, _ := heads.match([]unit{s.tokens[h].unit}, colSeverity)
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
