package score

import (
	"embed"
	"strings"
	"sync"
)

// meaning is a set of the things that a word or phrase of a report can say. Each is a section of
// the word lists in words/, which say what it takes in.
type meaning uint64

const (
	isPass meaning = 1 << iota
	isFail
	isWeak
	isThing
	isFailures
	isNeutral
	isNone
	isNegation
	isNo
	isNobody
	isCondition
	isRule
	isProviso
	isHarmless
	isResolved
	isUnresolved
	isExpected
	isEarlier
	isEarlierHead
	isLaterHead
	isTests
	isCopula
	isLink
	isNumber
	isOf
	isUntested
	isPartial
	isNeutralResult
	isNoResult
	isCritical
	isMajor
	isMinor
	isFindings
	isStillOpen
	isWithdrawn
	isWaived
	isTool
	isLog
	isWorks
	isSettled
	isExit
	isAgainst
	isNothingTested
	statesPass
	statesRisk
	statesFail
	statesBlocked
	statesDoubt
	isTarget
	isPresent
	isRefusal
	isUnwanted
	isOrnament
	isRate
	isDone
	isFunction
	isUnable
	isLimit
	isCoverage
	isAnswer
	isInstead
	isExpectedHead
	isActualHead
	isFailureRate
)

// What labels and the heads of columns mean, in a list of their own.
const (
	isWholeLabel meaning = 1 << iota
	isStatusLabel
	isSoftLabel
	colResult
	colQuestion
	colCriterion
	colOther
	colSeverity
	colPriority
	colRound
	colProblem
	colStatus
	colFile
	colID
	colFix
	colEvidence
	colCount
	colFailures
	isBugs
)

// sections are the names of the meanings of words.
var sections = map[string]meaning{
	"pass": isPass, "fail": isFail, "weak": isWeak, "thing": isThing, "failures": isFailures, "neutral": isNeutral,
	"none": isNone, "negation": isNegation, "no": isNo, "nobody": isNobody, "condition": isCondition, "rule": isRule,
	"proviso": isProviso, "harmless": isHarmless, "resolved": isResolved, "unresolved": isUnresolved, "expected": isExpected,
	"earlier": isEarlier, "earlier head": isEarlierHead, "later head": isLaterHead, "tests": isTests, "copula": isCopula,
	"link": isLink, "number": isNumber, "of": isOf, "untested": isUntested, "partial": isPartial,
	"neutral result": isNeutralResult, "no result": isNoResult, "critical": isCritical, "major": isMajor, "minor": isMinor,
	"findings": isFindings, "still open": isStillOpen, "withdrawn": isWithdrawn, "waived": isWaived, "tool": isTool, "log": isLog, "works": isWorks, "settled": isSettled,
	"exit": isExit, "against": isAgainst, "nothing tested": isNothingTested, "stated pass": statesPass,
	"stated risk": statesRisk, "stated fail": statesFail, "stated blocked": statesBlocked, "stated doubt": statesDoubt,
	"target": isTarget, "present": isPresent, "refusal": isRefusal, "unwanted": isUnwanted, "ornament": isOrnament, "rate": isRate, "done": isDone, "function": isFunction, "unable": isUnable, "limit": isLimit,
	"coverage": isCoverage, "answer": isAnswer, "instead": isInstead, "expected head": isExpectedHead, "actual head": isActualHead,
	"failure rate": isFailureRate,
}

// headSections are those of labels and heads of columns.
var headSections = map[string]meaning{
	"column round": colRound, "whole label": isWholeLabel, "status label": isStatusLabel, "soft label": isSoftLabel,
	"column result": colResult, "column question": colQuestion, "column criterion": colCriterion, "column other": colOther,
	"column severity": colSeverity, "column priority": colPriority, "column problem": colProblem, "column status": colStatus,
	"column file": colFile, "column id": colID, "column fix": colFix, "column evidence": colEvidence, "column count": colCount,
	"column failures": colFailures, "bugs": isBugs,
}

// Which meanings count where: a longer phrase must not take words from a reader that it does not
// concern.
const (
	inSentence = isPass | isFail | isWeak | isThing | isFailures | isNeutral | isNone | isNegation | isNo | isNobody | isCondition | isRule |
		isResolved | isUnresolved | isExpected | isEarlier | isTests | isCopula | isLink | isNumber | isOf | isUntested | isCritical |
		isMajor | isMinor | isFindings | isStillOpen | isWithdrawn | isWaived | isExit | isAgainst | isNothingTested | isLog | isWorks | isHarmless | isUnwanted | isRate | isDone | isFunction | isUnable |
		isLimit | isCoverage | isAnswer | isInstead | isFailureRate
	inValue  = statesPass | statesRisk | statesFail | statesBlocked | statesDoubt
	inHeader = colResult | colQuestion | colCriterion | colOther | colSeverity | colPriority | colRound | colProblem | colStatus | colFile | colID | colFix |
		colEvidence | colCount | colFailures
	inResult = isPass | isFail | isWeak | isNone | isNeutral | isUntested | isPartial | isNeutralResult | isNoResult
	inLabel  = isWholeLabel | isStatusLabel | isSoftLabel
)

//go:embed words/*.txt
var wordFiles embed.FS

// phrase is an entry of the word lists: its units after the first, and what it means.
type phrase struct {
	rest []string
	is   meaning
}

// lexicon has the phrases by their first unit.
type lexicon map[string][]phrase

// lists returns the phrases of sentences, and those of labels and columns. They are read when
// they are first needed: most calls of the program read no submission.
var lists = sync.OnceValues(loadWords)

func words() lexicon { w, _ := lists(); return w }

func heads() lexicon { _, h := lists(); return h }

func loadWords() (words, heads lexicon) {
	words, heads = lexicon{}, lexicon{}
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err) // embedded
	}
	for _, f := range files {
		data, err := wordFiles.ReadFile("words/" + f.Name())
		if err != nil {
			panic(err)
		}
		var section meaning
		var lex lexicon
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			switch name, isSection := strings.CutPrefix(line, "["); {
			case line == "" || strings.HasPrefix(line, "#"):
			case isSection:
				name = strings.TrimSuffix(name, "]")
				if section, lex = sections[name], words; section == 0 {
					section, lex = headSections[name], heads
				}
				if section == 0 {
					panic("words/" + f.Name() + " has the unknown section " + line)
				}
			default:
				lex.add(line, section)
			}
		}
	}
	return words, heads
}

func (lex lexicon) add(entry string, is meaning) {
	var texts []string
	for _, u := range units(entry) {
		texts = append(texts, u.text)
	}
	if len(texts) == 0 {
		return
	}
	first, rest := texts[0], texts[1:]
	for i, p := range lex[first] {
		if strings.Join(p.rest, " ") == strings.Join(rest, " ") {
			lex[first][i].is |= is
			return
		}
	}
	lex[first] = append(lex[first], phrase{rest: rest, is: is})
}

// match returns the meaning of the longest phrase that begins at the first unit and means
// something that counts here, and how many units it takes; at least one.
func (lex lexicon) match(us []unit, counts meaning) (is meaning, n int) {
	n = 1
	for _, p := range lex[us[0].text] {
		if p.is&counts == 0 || len(p.rest) >= len(us) || len(p.rest)+1 < n || len(p.rest)+1 == n && is != 0 {
			continue
		}
		same := true
		for i, text := range p.rest {
			same = same && us[i+1].text == text //nolint:gosec // p.rest is shorter than us, see above
		}
		if same {
			is, n = p.is&counts, len(p.rest)+1
		}
	}
	return is, n
}
