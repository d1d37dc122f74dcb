package score

import (
	"regexp"
	"slices"
	"strings"

	"bmad-mcp/internal/workflow"
)

// mdTable is a Markdown table: lower-case header cells and rows of the same width.
type mdTable struct {
	header []string
	rows   [][]string
}

var tableRule = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)

func markdownTables(document string) []mdTable {
	var out []mdTable
	var previous string
	open := false
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.Contains(line, "|"):
			open = false
		case tableRule.MatchString(line) && strings.Contains(previous, "|"):
			header := Cells(previous, "*_`")
			for i := range header {
				header[i] = strings.ToLower(header[i])
			}
			out, open = append(out, mdTable{header: header}), true
		case open:
			// A row may lack cells at its end, or have an unescaped bar in its last.
			t := &out[len(out)-1]
			row := Cells(line, "*_`")
			for len(row) < len(t.header) {
				row = append(row, "")
			}
			t.rows = append(t.rows, row)
		}
		previous = line
	}
	return out
}

// Cells splits a row of a Markdown table at its bars, but for escaped ones, and takes the
// marks off the ends of each cell.
func Cells(line, marks string) []string {
	const escaped = "\x00"
	line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, escaped)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	parts := strings.Split(line, "|")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(strings.ReplaceAll(parts[i], escaped, "|")), marks)
	}
	return parts
}

// column returns the index of the first header that is or begins with one of the words, or -1.
func (t mdTable) column(words ...string) int {
	return slices.IndexFunc(t.header, func(h string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			rest, ok := strings.CutPrefix(h, w)
			return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
		})
	})
}

func (t mdTable) cell(row []string, col int) string {
	if col < 0 || col >= len(row) {
		return ""
	}
	return row[col]
}

// findings reads a table with a severity and a problem in each row; one that
// counts findings by severity has no problem.
func (t mdTable) findings() []workflow.Finding {
	sev := t.column("severity", "级别", "严重程度", "严重性", "严重")
	problem := t.column("problem", "finding", "findings", "issue", "description", "defect", "summary", "title", "问题", "描述")
	id, file := t.column("id", "finding id", "no", "#", "编号"), t.column("file", "location", "place", "where", "文件", "位置")
	if sev < 0 || problem < 0 || id < 0 && file < 0 {
		return nil
	}
	var out []workflow.Finding
	for _, row := range t.rows {
		f := workflow.Finding{
			ID:       t.cell(row, id),
			Severity: severity(row[sev]),
			File:     t.cell(row, file),
			Problem:  t.cell(row, problem),
			Fix:      t.cell(row, t.column("fix", "recommendation", "suggestion", "修复", "建议")),
			Status:   findingStatus(t.cell(row, t.column("status", "state", "resolution", "now", "verified", "状态"))),
		}
		if f.Problem != "" && !noFinding.MatchString(f.Problem) {
			out = append(out, f)
		}
	}
	return out
}

var criterionID = regexp.MustCompile(`(?i)^AC[-_ .]?\d[\w.-]*`)

// criteria reads a table in which a column begins with the ids of acceptance
// criteria (AC-1.1) and another holds results.
func (t mdTable) criteria() []workflow.Criterion {
	// Of several rounds the last column counts.
	res := -1
	for i := range t.header {
		if (mdTable{header: t.header[i : i+1]}).column("result", "status", "verdict", "outcome", "met", "pass/fail", "结果", "状态", "结论") == 0 {
			res = i
		}
	}
	if res < 0 || t.column("severity", "严重") >= 0 {
		return nil
	}
	var out []workflow.Criterion
	for _, row := range t.rows {
		col := slices.IndexFunc(row, criterionID.MatchString)
		if col < 0 || col == res {
			continue
		}
		id := criterionID.FindString(row[col])
		text := strings.Trim(row[col][len(id):], " :：.-–—*_`")
		if text == "" {
			text = t.cell(row, t.column("criterion", "description", "acceptance", "标准", "描述"))
		}
		out = append(out, workflow.Criterion{
			ID: id, Criterion: text, Result: result(row[res]),
			Evidence: t.cell(row, t.column("evidence", "notes", "证据", "说明")),
		})
	}
	return mergeCriteria(nil, out)
}
