package score

import (
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// statement is a verdict as a report states it of itself.
type statement struct {
	label   meaning // isWholeLabel, isStatusLabel or isSoftLabel
	value   string
	verdict workflow.Verdict
	// sure is false where the value goes on with anything but a plain verdict.
	sure bool
	line line
}

// statements returns what a report states, outside code, comments, quotations and earlier rounds.
func statements(lines []line) []statement {
	var out []statement
	for i, l := range lines {
		if !l.spoken() {
			continue
		}
		label, value := l.labelled()
		below := value == "" && label != 0
		if below {
			if i+1 >= len(lines) || !lines[i+1].spoken() {
				continue
			}
			value = lines[i+1].text
		}
		if label == 0 || countLike.MatchString(value) {
			continue
		}
		s := statement{label: label, value: strings.TrimSpace(value), line: l}
		s.verdict, s.sure = classify(value)
		s.sure = s.sure && !footnoted(l.text)
		// Below a heading prose is as usual as a verdict.
		if (below || l.table) && s.verdict == "" || ofEarlierRound(value) {
			continue
		}
		out = append(out, s)
	}
	return out
}

var (
	// countLike is a count, or the header of a table: it describes the whole and is not a verdict.
	countLike  = pattern.New(`^[*_ \t]*\d|\|[ \t]*$`)
	labelSplit = pattern.New(`[:：|=]|[ \t][—–-]{1,2}[ \t]|——`)
	inParens   = pattern.New(`[(（][^)）]*[)）]`)
	itemNumber = pattern.New(`^(?:\d+(?:\.\d+)*[.)、]?[ \t]+|[一二三四五六七八九十]+、[ \t]*)`)
)

// labelled returns what a line is a label of, and the value behind it. A heading may be the
// label alone.
func (l line) labelled() (label meaning, value string) {
	if len(l.text) > 4*maxPiece {
		l.text = pieces(l.text)[0]
	}
	text := strings.TrimLeftFunc(l.text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("\"“「『'‘", r)
	})
	quote := strings.IndexAny(text, "\"“「『'‘") == 0
	text = itemNumber.ReplaceAllString(text, "")
	at := labelSplit.FindStringIndex(text)
	name := text
	if at != nil {
		name, value = text[:at[0]], strings.TrimSpace(text[at[1]:])
	} else if l.heading == 0 {
		return 0, ""
	}
	if len(name) > 120 || quote && strings.Count(name, "\"")+strings.Count(name, "”")+strings.Count(name, "」") < 2 && !strings.HasSuffix(name, "'") {
		return 0, "" // too long, or a quotation
	}
	return labelOf(name), strings.TrimSpace(strings.TrimRight(strings.TrimLeft(value, "*_`\"' \t"), "|*_` \t"))
}

// labelOf reads a label: one of ours, with little before it.
func labelOf(name string) meaning {
	us := units(inParens.ReplaceAllString(name, ""))
	for len(us) > 0 && !us[0].isWord && !us[0].isNumber {
		us = us[1:]
	}
	for len(us) > 0 && !us[len(us)-1].isWord {
		us = us[:len(us)-1]
	}
	for i := range us {
		is, n := heads().match(us[i:], inLabel)
		if is == 0 || i+n != len(us) {
			continue
		}
		switch {
		case i == 0:
			return is
		case wordless(firstRune(us[i].text)):
			if i <= 6 && is&(isWholeLabel|isStatusLabel) != 0 {
				return is & (isWholeLabel | isStatusLabel)
			}
		case i <= 3 && is&isWholeLabel != 0:
			return isWholeLabel
		}
	}
	return 0
}

// ofEarlierRound reports whether all that a value adds to its verdict is that it was an earlier one.
func ofEarlierRound(value string) bool {
	earlier := false
	for _, s := range sentences(value, inValue|isEarlier|isEarlierHead) {
		for _, t := range s.tokens {
			switch {
			case t.has(isEarlier | isEarlierHead):
				earlier = true
			case t.has(inValue), t.symbol():
			default:
				return false
			}
		}
	}
	return earlier
}

// choices is the form's list of verdicts, not one of them.
var choices = pattern.New(`(?i)^[\s*_\x60"\[]*(?:pass|fail)[a-z_ ]*[\s*_\x60"\]]*[|/／]\s*[*_\x60"\[]*(?:pass|fail)|^(?:通过|不通过)\s*[|/／]|^\[ \]`)

// lastPart returns what a value came to: the right side of an arrow, the last cell of a row.
func lastPart(value string) string {
	for _, sep := range []string{"→", "->", "=>", "|"} {
		parts := strings.Split(strings.TrimRight(value, " \t|*_"), sep)
		value = parts[len(parts)-1]
	}
	return value
}

// classify reads a stated verdict such as "PASS ✅", "Pass with risk" or "不通过"; "" for anything
// else, a list of the choices included. A pass is sure where nothing that follows takes it back
// or goes on in a way that is not understood.
func classify(value string) (v workflow.Verdict, sure bool) {
	value = strings.TrimSpace(value)
	if choices.MatchString(value) {
		return "", false
	}
	if came := lastPart(value); came != value {
		return classify(came)
	}
	us, marks := unmarked(units(pieces(value)[0]))
	if len(us) == 0 {
		return "", false
	}
	is, n := words().match(us, inValue)
	rest := value[us[n-1].end:]
	switch {
	case is == 0:
		return "", false
	case is&statesDoubt != 0:
		if us[0].text == "approve" || us[0].text == "approved" || us[0].text == "accept" {
			return workflow.Pass, false
		}
		return "", false
	case is&statesFail != 0:
		if !explains(us[n:]) || zeroFollows(rest) {
			return "", false
		}
		return workflow.Fail, true
	case is&statesBlocked != 0:
		if !explains(us[n:]) {
			return "", false
		}
		return workflow.Blocked, true
	case is&statesRisk != 0, withRisk(us[n:]):
		return workflow.PassWithRisk, plainRest(rest, true) && marks&isFail == 0
	}
	return workflow.Pass, directly(us[n:]) && plainRest(rest, false) && marks&isFail == 0
}

// unmarked takes the marks off the beginning of a value, and returns what they mean.
func unmarked(us []unit) (rest []unit, marks meaning) {
	for len(us) > 0 && !us[0].isWord && !us[0].isNumber {
		is, _ := words().match(us, isPass|isFail|isPartial)
		marks |= is
		us = us[1:]
	}
	return us, marks
}

// explains reports whether what follows a word leaves it a verdict: nothing, a mark, a number, or
// a word that explains it.
func explains(rest []unit) bool {
	if len(rest) == 0 || !rest[0].isWord {
		return true
	}
	is, _ := words().match(rest, isLink)
	return is != 0 && rest[0].text != "to"
}

func zeroFollows(rest string) bool {
	for _, s := range sentences("x "+rest, inSentence) {
		return s.zeroAfter(0)
	}
	return false
}

// withRisk reads "with 2 known issues" behind a pass.
func withRisk(rest []unit) bool {
	if len(rest) < 2 || rest[0].text != "with" {
		return false
	}
	for _, u := range rest[1:min(len(rest), 5)] {
		switch strings.TrimSuffix(u.text, "s") {
		case "risk", "concern", "reservation", "issue", "comment", "change", "finding", "remark", "observation", "caveat":
			return rest[1].text != "no" && rest[1].text != "zero" && rest[1].text != "0" && rest[1].text != "all"
		}
		if is, _ := words().match([]unit{u}, isFail|isFailures); is != 0 {
			return false
		}
	}
	return false
}

// directly reports whether the words right behind a pass belong to it as words that explain do.
func directly(rest []unit) bool {
	if len(rest) == 0 || !rest[0].isWord || wordless(firstRune(rest[0].text)) {
		return len(rest) == 0 || rest[0].text != "?" && rest[0].text != "？"
	}
	is, _ := words().match(rest, isLink|isTests|isNumber|isResolved|isExpected|isEarlier|isNone|isNobody)
	if is&(isNone|isNobody) != 0 {
		return len(rest) > 1 && rest[1].isWord && is&isNobody == 0
	}
	return is != 0 || rest[0].text == "without" || rest[0].text == "before"
}

// plainRest reports whether the words behind a pass leave it one.
func plainRest(rest string, risk bool) bool {
	rest = pieces(rest)[0]
	if asked := strings.TrimSpace(rest); strings.HasPrefix(asked, "?") || strings.HasPrefix(asked, "？") {
		return false
	}
	for i, s := range sentences(rest, inSentence|isProviso|isHarmless|isOrnament) {
		if i == 0 && denies(s) || s.has(isProviso) && !risk && !s.has(isHarmless) && !s.provisoOfFindings() {
			return false
		}
	}
	for _, s := range sentences(rest, inSentence|isRefusal|isOrnament|isHarmless) {
		if !risk && !harmlessRest(s) {
			return false
		}
	}
	for _, s := range sentences(rest, inSentence) {
		if s.takesBack() {
			return false
		}
	}
	return true
}

// takesBack reports whether a sentence behind a pass says that something failed or is missing.
func (s sentence) takesBack() bool {
	return s.has(isNobody) || rateAgainst(s) || s.criticalNamed() || s.ratioBelow() || summaryAgainst(s) || countAgainst(s) || s.phraseAgainst() || s.failureNamed()
}

// criticalNamed reports whether a sentence behind a pass names something critical that is there.
func (s sentence) criticalNamed() bool {
	if s.has(isResolved) && !s.has(isUnresolved) {
		return false
	}
	for i, t := range s.tokens {
		if t.has(isCritical) && !t.has(isPass) && i+1 < len(s.tokens) && s.tokens[i+1].has(isFindings) && !s.negated(i) && !s.zeroAfter(i) {
			return true
		}
	}
	return false
}

// failureNamed reports whether a sentence behind a pass names a failure that is not over.
func (s sentence) failureNamed() bool {
	if s.has(isResolved|isExpected) && !s.has(isUnresolved) {
		return false
	}
	for j, t := range s.tokens {
		if (t.has(isFail) || t.has(isFailures) && !t.has(isWeak)) && !t.glued && !s.negated(j) && !s.zeroAfter(j) {
			return true
		}
	}
	return false
}

// denies reports whether what follows a pass is a no: "Pass: no", "approved? No.", "not granted".
func denies(s sentence) bool {
	i := s.head()
	if i >= len(s.tokens) {
		return false
	}
	t := s.tokens[i]
	if !t.has(isNo) && !(t.isNumber && t.number == 0) {
		return false
	}
	n, marks := s.next(i)
	return n >= len(s.tokens) || marks && !t.isNumber || t.text == "not" || t.text == "never"
}

// provisoOfFindings reports whether a proviso only says that few things were found: "only minor
// findings", "no open points".
func (s sentence) provisoOfFindings() bool {
	for i, t := range s.tokens {
		if t.has(isProviso) && !s.negated(i) {
			return false
		}
	}
	return true
}

// ratioBelow reports whether a sentence has a ratio of less than all, as behind a pass it is one
// of what passed: "passed 0 of 40 tests".
func (s sentence) ratioBelow() bool {
	for i, t := range s.tokens {
		if t.isNumber && !t.glued && i+2 < len(s.tokens) && s.tokens[i+1].has(isOf) && s.tokens[i+2].isNumber &&
			t.number < s.tokens[i+2].number && s.tokens[i+2].number != 100 && !restSkipped(s, i) {
			return true
		}
		if t.isNumber && i+1 < len(s.tokens) && s.tokens[i+1].text == "%" && t.number < 100 && s.has(isPass|isTests|isNeutral) {
			return true
		}
	}
	return false
}

// verdictOf returns the verdict that the words of a report state, and the statements that make
// it doubtful. Statements about the whole go before those of a status, and these before others.
// Where those about the whole contradict each other, the pass is the stated one and the rest
// speaks against it.
func verdictOf(all []statement) (workflow.Verdict, []statement) {
	for _, kind := range []meaning{isWholeLabel, isStatusLabel, isSoftLabel} {
		verdict := workflow.Verdict("")
		for _, s := range all {
			if s.label&kind == 0 || s.label&(kind-1)&inLabel != 0 {
				continue
			}
			switch {
			case s.verdict == "":
			case verdict == "":
				verdict = s.verdict
			case kind == isWholeLabel && passes(s.verdict) != passes(verdict):
				verdict = better(verdict, s.verdict)
			case passes(s.verdict) == passes(verdict):
				verdict = worse(verdict, s.verdict)
			}
		}
		if verdict == "" {
			continue
		}
		var doubts []statement
		for _, s := range all {
			unread := s.verdict == "" && s.label&isWholeLabel != 0
			if unread || passes(s.verdict) && !s.sure && s.label&(kind|isWholeLabel|isStatusLabel) != 0 || s.verdict != "" && !passes(s.verdict) && s.label&(isWholeLabel|isStatusLabel) != 0 {
				doubts = append(doubts, s)
			}
		}
		return verdict, doubts
	}
	return "", nil
}

func passes(v workflow.Verdict) bool { return v == workflow.Pass || v == workflow.PassWithRisk }

// better returns the more favourable of two verdicts.
func better(a, b workflow.Verdict) workflow.Verdict {
	if rank[b] < rank[a] {
		return b
	}
	return a
}

// footnoted reports whether a line ends with a star that closes no emphasis: "Status: Pass*".
func footnoted(text string) bool {
	trimmed := strings.TrimLeft(text, "*-+> \t")
	return strings.HasSuffix(trimmed, "*") && strings.Count(text, "*")%2 == 1 && !strings.HasPrefix(strings.TrimSpace(text), "* ")
}
