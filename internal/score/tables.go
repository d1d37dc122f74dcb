package score

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// mdTable is a Markdown table: what its columns mean, and rows of at least the same width.
type mdTable struct {
	header []string // in lower case
	is     []meaning
	rows   [][]string
	lines  []line // of the rows
	// verdictsFirst is true where the first column holds verdicts and no names.
	verdictsFirst bool
}

// markdownTables reads the tables of a report but those about an earlier round. taken has the
// numbers of the lines that they take up.
func markdownTables(lines []line) (out []mdTable, taken map[int]bool) {
	taken = map[int]bool{}
	open := false
	for i, l := range lines {
		text := strings.TrimSpace(strings.TrimLeft(l.text, "> \t"))
		follows := i > 0 && lines[i-1].number == l.number-1 && strings.Contains(lines[i-1].text, "|")
		switch {
		case !strings.Contains(text, "|") || l.data || l.comment:
			open = false
		case follows && !open && markdown.IsTableRule(text):
			t := mdTable{header: markdown.Cells(strings.TrimLeft(lines[i-1].text, "> \t"), "*_`")}
			for i := range t.header {
				t.header[i] = strings.ToLower(t.header[i])
				t.is = append(t.is, headerMeaning(t.header[i]))
			}
			out, open = append(out, t), true
			taken[l.number], taken[lines[i-1].number] = true, true
		case open && follows && markdown.IsTableRule(text):
			taken[l.number] = true
		case open && follows:
			// A row may lack cells at its end, or have an unescaped bar in its last.
			t := &out[len(out)-1]
			row := markdown.Cells(text, "*_`")
			for len(row) < len(t.header) {
				row = append(row, "")
			}
			taken[l.number] = true
			if !l.earlier {
				t.rows, t.lines = append(t.rows, row), append(t.lines, l)
			}
		default:
			open = false
		}
	}
	return out, taken
}

// headerMeaning reads the head of a column: as a whole, else by its first words, else by its last.
func headerMeaning(cell string) meaning {
	us := units(inParens.ReplaceAllString(cell, ""))
	us = slices.DeleteFunc(us, func(u unit) bool { return !u.isWord && !u.isNumber && u.text != "#" })
	if len(us) == 0 {
		us = units(cell)
		if len(us) == 0 {
			return 0
		}
	}
	if us[0].text == "#" {
		return colID
	}
	first, n := heads().match(us, inHeader)
	if n == len(us) {
		return first
	}
	all := first
	for i := range us {
		is, n := heads().match(us[i:], inHeader)
		if is&colOther != 0 && is&(colSeverity|colEvidence|colFix) == 0 {
			return colOther // the result that was expected, or of another round
		}
		if i > 0 && i+n == len(us) {
			if first == 0 || is&colSeverity != 0 {
				return is
			}
			all |= is & (colResult | colSeverity)
		}
	}
	return all
}

// column returns the index of the first column that means one of the things, or -1.
func (t mdTable) column(is meaning, but ...int) int {
	for i, m := range t.is {
		if m&is != 0 && !slices.Contains(but, i) {
			return i
		}
	}
	return -1
}

func (t mdTable) cell(row []string, col int) string {
	if col < 0 || col >= len(row) {
		return ""
	}
	return row[col]
}

// resultColumn is the last column of results: of several rounds the last counts.
func (t mdTable) resultColumn(but int) int {
	for col := len(t.is) - 1; col >= 0; col-- {
		if col != but && t.is[col]&colResult != 0 && (t.is[col]&(colOther|colProblem) == 0 || t.is[col]&colQuestion != 0) {
			return col
		}
	}
	return -1
}

var criterionID = pattern.New(`(?i)^AC[-_ .]?\d[\w.-]*`)

// criteria reads a table in which a column begins with the ids of acceptance criteria (AC-1.1)
// and another holds results.
func (t mdTable) criteria() []workflow.Criterion {
	res := t.resultColumn(-1)
	if res < 0 || t.severityColumn() >= 0 {
		return nil
	}
	var out []workflow.Criterion
	for _, row := range t.rows {
		col := slices.IndexFunc(row, criterionID.MatchString)
		if col < 0 || col >= res && t.is[min(col, len(t.is)-1)]&(colCriterion|colID) == 0 || col == res {
			continue
		}
		id := criterionID.FindString(row[col])
		text := strings.Trim(row[col][len(id):], " :：.-–—*_`")
		if text == "" {
			text = t.cell(row, t.column(colCriterion&^colID, col, res))
		}
		out = append(out, workflow.Criterion{
			ID: clipRunes(id, maxID), Criterion: text, Result: result(row[res]), Evidence: t.cell(row, t.column(colEvidence, col, res)),
		})
	}
	return out
}

// tally counts the rows of a report's tables of results.
type tally struct{ tested, untested int }

func (t *tally) count(kind resultKind) {
	if kind == resultUntested {
		t.untested++
	} else {
		t.tested++
	}
}

// against returns the lines of the rows that speak against a pass: a failed result, in a column
// of results or in one of marks, and a count of failures above zero.
func (t mdTable) against(total *tally) []line {
	if t.listsFindings() {
		return nil
	}
	res, ticks := t.resultColumn(-1), t.tickColumn()
	if ticks >= 0 {
		res = -1
	}
	vocabulary := res >= 0 && t.passesIn(res)
	t.verdictsFirst = t.beginsWithVerdicts()
	inferred := t.inferred(res)
	expected, actual := t.comparison()
	var out []line
	for i, row := range t.rows {
		if t.earlier(i) {
			continue
		}
		failed := false
		if res >= 0 {
			kind := resultOf(t.cell(row, res), t.is[res]&colQuestion != 0, vocabulary)
			total.count(kind)
			failed = kind == resultFailed || kind == resultPartial
		}
		if ticks >= 0 {
			total.count(resultPassed)
			failed = strings.Trim(row[ticks], "-–— ") != ""
		}
		failed = failed || slices.ContainsFunc(inferred, func(col int) bool { return outlies(t.cell(row, col)) })
		differ := expected >= 0 && actual >= 0 && differs(t.cell(row, expected), t.cell(row, actual))
		if failed || differ || t.marked(row, res) || t.counted(row) || t.criticalCount(row) || t.pairAgainst(row) {
			out = append(out, t.lines[i])
		}
	}
	return out
}

// listsFindings reports whether the table is one of findings, which are read as such.
func (t mdTable) listsFindings() bool { return t.severityColumn() >= 0 && t.findings() != nil }

// earlier reports whether a row is of an earlier round than the last.
func (t mdTable) earlier(i int) bool {
	return earlierRow(t.rows[i]) || t.is[0]&colRound != 0 && i < len(t.rows)-1
}

// passesIn reports whether a column has words of passing.
func (t mdTable) passesIn(col int) bool {
	return slices.ContainsFunc(t.rows, func(row []string) bool {
		return resultOf(t.cell(row, col), false, false) == resultPassed
	})
}

// tickColumn returns the column "Fail" of a table that ticks one of the columns "Pass" and "Fail" in
// each row, or -1.
func (t mdTable) tickColumn() int {
	fail := t.column(colFailures)
	if fail <= 0 || t.column(colResult, fail) < 0 {
		return -1
	}
	for _, row := range t.rows {
		if cell := strings.Trim(row[fail], "-–— "); cell != "" && !ticked[strings.ToLower(cell)] {
			return -1
		}
	}
	for _, row := range t.rows {
		if cell := strings.Trim(t.cell(row, t.column(colResult, fail)), "-–— "); cell != "" && !ticked[strings.ToLower(cell)] {
			return -1
		}
	}
	return fail
}

var ticked = marksOf("x ✓ ✔ ✅ ☑ ❌ ✗ ✘ • ● yes y 是 √")

// beginsWithVerdicts reports whether the first column holds verdicts and no names or labels.
func (t mdTable) beginsWithVerdicts() bool {
	return len(t.header) > 1 && !slices.ContainsFunc(t.rows, func(row []string) bool {
		kind, second := resultOf(row[0], false, false), units(t.cell(row, 1))
		return kind == resultNeutral || kind == resultPartial || len(units(row[0])) > 2 || len(second) > 0 && second[0].isNumber
	})
}

// earlierRow reports whether the first cell of a row is about an earlier round.
func earlierRow(row []string) bool {
	for _, s := range sentences(row[0], isEarlierHead|isPresent) {
		if s.has(isEarlierHead) && !s.has(isPresent) {
			return true
		}
	}
	return false
}

// marked reports whether a cell of a column that is not known otherwise is nothing but a verdict
// of failure, as in a table of browsers.
func (t mdTable) marked(row []string, res int) bool {
	for col := range t.header {
		if col == 0 && !t.verdictsFirst || col == res || t.is[col]&(colOther|colSeverity|colStatus|colProblem|colFix|colFile|colEvidence) != 0 {
			continue
		}
		if speaksOfRound(t.header[col]) {
			continue
		}
		ss := sentences(row[col], isPass|isFail|isWeak|isNeutral)
		if len(ss) != 1 {
			continue
		}
		n := 0
		failed := false
		for _, tok := range ss[0].tokens {
			if tok.isWord || tok.isNumber || tok.is != 0 {
				n++
				failed = tok.has(isFail) && (!tok.has(isWeak) || tok.caps)
			}
		}
		if n == 1 && failed {
			return true
		}
	}
	return false
}

// speaksOfRound reports whether a column is one of an earlier round.
func speaksOfRound(header string) bool {
	for _, s := range sentences(header, isEarlier|isEarlierHead) {
		if s.has(isEarlier | isEarlierHead) {
			return true
		}
	}
	return false
}

// counted reports whether a column of failures has a number above zero.
func (t mdTable) counted(row []string) bool {
	for col, is := range t.is {
		if is&colFailures == 0 || col == 0 {
			continue
		}
		if us := units(row[col]); len(us) > 0 && us[0].isNumber && us[0].number > 0 {
			return true
		}
	}
	return false
}

// pairAgainst reads a row of two cells as a label with its value.
func (t mdTable) pairAgainst(row []string) bool {
	if len(row) != 2 || len(t.is) != 2 || t.is[1]&colOther != 0 {
		return false
	}
	l := line{text: row[0] + ": " + row[1]}
	for _, s := range sentences(l.text, inSentence) {
		if s.head() < len(s.tokens) && !s.has(isExpected|isEarlier) && (countAgainst(s) || ratioAgainst(s) || labelAgainst(s, false) && len(units(row[1])) <= 4) {
			return !undone(s, nil)
		}
	}
	return false
}

// listedResult matches an item of a list of results: its id, a mark, and the result.
var listedResult = pattern.New(`^[\s>*+-]*(?:\d+[.)]\s*)?[*_\x60]*[A-Za-z]{1,5}[-_ ]?\d[\w.-]*[^:：–—]{0,80}(?:[:：]| [–—-] )(.+)$`)

// item counts a result of a list, where a line is one.
func (t *tally) item(text string) {
	if len(text) > 400 {
		return
	}
	m := listedResult.FindStringSubmatch(text)
	if m == nil {
		return
	}
	switch resultOf(m[1], false, false) {
	case resultUntested:
		t.untested++
	case resultPassed, resultFailed:
		t.tested++
	}
}

// untestedRows says so where most of a report's rows were not tested, and all of them where the
// risk was named.
func (t tally) untestedRows(verdict workflow.Verdict) lang.Text {
	switch {
	case t.untested == 0:
		return lang.Text{}
	case t.tested == 0:
		return lang.T("none of its %d rows of results was tested", t.untested)
	case verdict == workflow.Pass && t.untested >= t.tested:
		return lang.T("%d of its %d rows of results were not tested", t.untested, t.untested+t.tested)
	}
	return lang.Text{}
}
