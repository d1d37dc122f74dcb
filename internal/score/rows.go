package score

import (
	"fmt"
	"regexp"
	"strings"

	"bmad-mcp/internal/workflow"
)

func objects(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, item := range list {
		switch item := item.(type) {
		case map[string]any:
			out = append(out, item)
		case string:
			out = append(out, map[string]any{"problem": item})
		}
	}
	return out
}

func readFindings(v any) []workflow.Finding {
	var out []workflow.Finding
	for _, o := range objects(v) {
		f := workflow.Finding{
			ID:       field(o, "id"),
			Severity: severity(field(o, "severity", "level")),
			File:     field(o, "file", "location", "path"),
			Problem:  field(o, "problem", "description", "issue", "title", "message", "finding"),
			Fix:      field(o, "fix", "suggestion", "recommendation"),
			Status:   findingStatus(field(o, "status")),
		}
		if line := field(o, "line"); line != "" && f.File != "" && !strings.Contains(f.File, ":") {
			f.File += ":" + line
		}
		if f.Problem != "" || f.ID != "" {
			out = append(out, f)
		}
	}
	return numbered(out)
}

// numbered gives missing finding ids and replaces repeated ones.
func numbered(findings []workflow.Finding) []workflow.Finding {
	used := map[string]bool{}
	for i := range findings {
		if used[findings[i].ID] {
			findings[i].ID = ""
		}
		used[findings[i].ID] = true
	}
	n := 0
	for i := range findings {
		for findings[i].ID == "" {
			n++
			if id := fmt.Sprintf("F%d", n); !used[id] {
				findings[i].ID = id
			}
		}
	}
	return findings
}

func severity(s string) string {
	switch s = strings.ToLower(strings.Trim(s, "*_ `")); s {
	case "critical", "blocker", "严重", "致命":
		return "critical"
	case "major", "high", "主要", "重要":
		return "major"
	case "":
		return ""
	default:
		return "minor"
	}
}

var (
	statusFixed     = regexp.MustCompile(`^(?:fixed|resolved|closed|done|verified|mended|已修复|已解决)`)
	statusWithdrawn = regexp.MustCompile(`^(?:withdrawn|invalid|won'?t[ -]?fix|not a (?:bug|defect)|撤回)`)
)

// findingStatus reads words such as "Fixed, verified"; anything else given is open.
func findingStatus(s string) string {
	s = strings.ToLower(strings.TrimLeft(s, " *_`✅☑✔\ufe0f"))
	switch {
	case s == "":
		return ""
	case statusFixed.MatchString(s):
		return "fixed"
	case statusWithdrawn.MatchString(s):
		return "withdrawn"
	}
	return "open"
}

func readCriteria(v any) []workflow.Criterion {
	var out []workflow.Criterion
	for _, o := range objects(v) {
		c := workflow.Criterion{
			ID:        field(o, "id", "ac"),
			Criterion: field(o, "criterion", "description", "problem"),
			Result:    result(field(o, "result", "status", "verdict")),
			Evidence:  field(o, "evidence", "notes"),
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("row %d", len(out)+1)
		}
		out = append(out, c)
	}
	return out
}

// result reads the outcome of one criterion; what is neither pass nor fail was not tested.
func result(s string) string {
	switch Classify(s) {
	case workflow.Pass, workflow.PassWithRisk:
		return workflow.ResultPass
	case workflow.Fail:
		return workflow.ResultFail
	}
	return workflow.ResultNotTested
}

func readResolved(v any) []workflow.Resolution {
	var out []workflow.Resolution
	for _, o := range objects(v) {
		r := workflow.Resolution{ID: field(o, "id", "finding", "problem"), How: field(o, "how", "resolution", "fix")}
		if r.ID != "" {
			out = append(out, r)
		}
	}
	return out
}

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
			header := cells(previous)
			for i := range header {
				header[i] = strings.ToLower(header[i])
			}
			out, open = append(out, mdTable{header: header}), true
		case open:
			row, t := cells(line), &out[len(out)-1]
			if len(row) == len(t.header) {
				t.rows = append(t.rows, row)
			}
		}
		previous = line
	}
	return out
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), "*_`")
	}
	return parts
}

// column returns the index of the first header that begins with one of the words, or -1.
func (t mdTable) column(words ...string) int {
	for i, h := range t.header {
		for _, w := range words {
			if strings.HasPrefix(h, w) {
				return i
			}
		}
	}
	return -1
}

func (t mdTable) cell(row []string, col int) string {
	if col < 0 {
		return ""
	}
	return row[col]
}

func (t mdTable) findings() []workflow.Finding {
	sev := t.column("severity", "严重")
	if sev < 0 {
		return nil
	}
	var out []workflow.Finding
	for _, row := range t.rows {
		out = append(out, workflow.Finding{
			ID:       t.cell(row, t.column("id", "finding id", "#", "编号")),
			Severity: severity(row[sev]),
			File:     t.cell(row, t.column("file", "location", "place", "where", "文件", "位置")),
			Problem:  t.cell(row, t.column("problem", "finding", "issue", "description", "问题")),
			Fix:      t.cell(row, t.column("fix", "recommendation", "suggestion", "修复", "建议")),
			Status:   findingStatus(t.cell(row, t.column("status", "state", "状态"))),
		})
	}
	return numbered(out)
}

func (t mdTable) criteria() []workflow.Criterion {
	id, res := t.column("ac", "id", "criterion id", "编号"), t.column("result", "status", "verdict", "结果", "状态")
	if id < 0 || res < 0 || t.column("severity", "严重") >= 0 {
		return nil
	}
	var out []workflow.Criterion
	for _, row := range t.rows {
		if !strings.HasPrefix(strings.ToUpper(row[id]), "AC") {
			continue
		}
		out = append(out, workflow.Criterion{
			ID:        row[id],
			Criterion: t.cell(row, t.column("criterion", "description", "acceptance", "标准")),
			Result:    result(row[res]),
			Evidence:  t.cell(row, t.column("evidence", "notes", "证据")),
		})
	}
	return out
}
