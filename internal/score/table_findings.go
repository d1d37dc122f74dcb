package score

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Tables of findings, and those that count them.

// severityColumn returns the column by which a table is one of findings, or -1. A priority beside
// the results of tests is one of what was asked for.
func (t mdTable) severityColumn() int {
	sev := slices.IndexFunc(t.is, func(m meaning) bool { return m&colSeverity != 0 && m&colPriority == 0 })
	if sev < 0 {
		sev = t.column(colSeverity)
	}
	if sev < 0 {
		return t.severityCells()
	}
	if sev >= 0 && t.is[sev]&colPriority != 0 && (t.holdsTests(sev) || !t.holdsSeverities(sev)) {
		return -1
	}
	return sev
}

// severityCells returns the column that holds severities, one of them critical, under whatever
// head, or -1.
func (t mdTable) severityCells() int {
	for col, is := range t.is {
		if is&(colResult|colOther|colEvidence|colFix|colCount|colFailures) != 0 {
			continue
		}
		critical, all := false, len(t.rows) > 0
		if col == 0 && len(t.rows) > 1 && numberedCells(t.rows) {
			continue
		}
		for _, row := range t.rows {
			us := units(t.cell(row, col))
			if len(us) == 0 || len(us) > 3 {
				all = false
				break
			}
			m, n := words().match(us, isCritical|isMajor|isMinor)
			all = all && m != 0 && n == len(us)
			critical = critical || m&isCritical != 0
		}
		if all && critical {
			return col
		}
	}
	return -1
}

// numberedCells reports whether the first cells of the rows are ids that count: "S1", "S2", "S3".
func numberedCells(rows [][]string) bool {
	for i, row := range rows {
		us := units(row[0])
		if len(us) != 1 || !strings.HasSuffix(us[0].text, strconv.Itoa(i+1)) {
			return false
		}
	}
	return true
}

// holdsSeverities reports whether most cells of a column are levels of severity.
func (t mdTable) holdsSeverities(col int) bool {
	known := 0
	for _, row := range t.rows {
		if us := units(t.cell(row, col)); len(us) > 0 && len(us) <= 4 {
			for i := range us {
				if m, _ := words().match(us[i:], isCritical|isMajor|isMinor); m != 0 {
					known++
					break
				}
			}
		}
	}
	return known*2 >= len(t.rows)
}

// holdsTests reports whether a column beside the severity holds the results of tests, and not
// what became of findings.
func (t mdTable) holdsTests(sev int) bool {
	col := t.resultColumn(sev)
	if col < 0 || len(t.rows) == 0 {
		return false
	}
	for _, row := range t.rows {
		for _, s := range sentences(t.cell(row, col), isStillOpen|isResolved|isWaived|isWithdrawn) {
			if s.all != 0 {
				return false
			}
		}
	}
	return true
}

// findings reads a table with a severity and a problem in each row; one that counts findings by
// severity has no problem.
func (t mdTable) findings() []workflow.Finding {
	sev := t.severityColumn()
	if sev < 0 {
		return nil
	}
	status := t.column(colStatus, sev, t.column(colProblem&^colStatus, sev))
	problem := t.problemColumn(sev, status)
	if problem < 0 {
		return nil
	}
	id, file := t.column(colID, sev, status, problem), t.column(colFile, sev, status, problem)
	fix := t.column(colFix, sev, status, problem)
	var out []workflow.Finding
	for _, row := range t.rows {
		f := workflow.Finding{
			ID: t.cell(row, id), Severity: severity(row[sev]), File: t.cell(row, file), Problem: t.cell(row, problem), Fix: t.cell(row, fix),
		}
		f.Status = findingStatus(t.cell(row, status), f.Severity)
		if status >= 0 && f.Status != "" && stillOpen(t.header[status]) { // "Open: no"
			f.Status = map[string]string{"open": "fixed", "fixed": "open"}[f.Status]
		}
		if f.Problem != "" && !noFinding.MatchString(f.Problem) {
			out = append(out, f)
		}
	}
	return out
}

// stillOpen reports whether the head of a column asks whether a finding is open.
func stillOpen(header string) bool {
	us := units(header)
	if len(us) == 0 {
		return false
	}
	is, _ := words().match(us, isStillOpen)
	return is != 0
}

// problemColumn is the column of the problems: of those with such a head, or of all columns
// without one, the one with most words.
func (t mdTable) problemColumn(sev, status int) int {
	named := t.column(colProblem, sev, status)
	best, most := named, 0
	for col, is := range t.is {
		other := is&(colCount|colFix|colFile|colID|colEvidence|colFailures|colOther) != 0
		if col == sev || col == status || is&colProblem == 0 && (named >= 0 || other) {
			continue
		}
		n := 0
		for _, row := range t.rows {
			if cell := t.cell(row, col); len(units(cell)) >= 2 {
				n += len(cell)
			}
		}
		if n > most {
			best, most = col, n
		}
	}
	if best < 0 { // whatever else has words
		for col := range t.is {
			if col != sev && col != status && len(t.rows) > 0 && len(units(t.cell(t.rows[0], col))) >= 3 {
				return col
			}
		}
	}
	return best
}

// criticalCount reports whether a row of a table that counts findings has critical ones open.
func (t mdTable) criticalCount(row []string) bool {
	if t.column(colSeverity) != 0 || t.column(colCount) <= 0 || severity(row[0]) != "critical" || noFinding.MatchString(row[0]) && len(units(row[0])) == 0 {
		return false
	}
	if is, _ := words().match(append(units(row[0]), unit{}), isCritical); is == 0 {
		return false
	}
	counts := []int{}
	for col, is := range t.is {
		if col == 0 || is&(colFix|colEvidence) != 0 {
			continue
		}
		if h, _ := words().match(append(units(t.header[col]), unit{}), isStillOpen|isResolved); h&isResolved != 0 {
			return false // a row of findings and of those that were fixed
		} else if h&isStillOpen != 0 {
			counts = []int{col}
			break
		}
		if is&colCount != 0 {
			counts = append(counts, col)
		}
	}
	for _, col := range counts {
		if us := units(row[col]); len(us) == 1 && us[0].isNumber && us[0].number > 0 {
			return true
		}
	}
	return false
}
