package verdict

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/internal/jsonblock"
)

// The lines around the tables rendered from a block. The text between them is rendered from the
// block each time, and never read.
const (
	tablesBegin = "<!-- results: made from the block of JSON below; edit the block -->"
	tablesEnd   = "<!-- end of the results -->"
)

// Tables renders rows, findings and checks as Markdown, the worst rows first; "" if there are
// none.
func Tables(l lang.Language, rec *workflow.Record) string {
	var b strings.Builder
	table := func(title, said string, head []string, rows [][]string) {
		if len(rows) == 0 {
			return
		}
		b.WriteString("\n## " + title + "\n\n")
		if said != "" {
			b.WriteString(l.Say("%s.", said) + "\n\n")
		}
		b.WriteString(tableRow(head) + strings.Repeat("|---", len(head)) + "|\n")
		for _, cells := range rows {
			b.WriteString(tableRow(cells))
		}
	}
	var rows, findings, checks [][]string
	for _, c := range WorstFirst(rec.Criteria) {
		rows = append(rows, []string{c.ID, c.Criterion, c.Result, describeBasis(l, c), Evidence(c)})
	}
	for _, f := range rec.Findings {
		status := f.Status
		if f.Open() {
			status = "open"
		}
		findings = append(findings, []string{f.ID, f.Severity, f.File, f.Problem, f.Fix, status})
	}
	for _, c := range rec.Checks {
		by := l.Say("the report")
		if c.Server {
			by = l.Say("the server")
		}
		checks = append(checks, []string{c.ID, "`" + c.Command + "`", strconv.Itoa(c.Exit), by, lastLine(c.Output)})
	}
	table(l.Say("Criteria"), CountRows(rec.Criteria).Text(l), []string{l.Say("Id"), l.Say("Criterion"), l.Say("Result"), l.Say("Basis"), l.Say("Evidence")}, rows)
	table(l.Say("Findings"), "", []string{l.Say("Id"), l.Say("Severity"), l.Say("File"), l.Say("Problem"), l.Say("Fix"), l.Say("Status")}, findings)
	table(l.Say("Checks"), "", []string{l.Say("Id"), l.Say("Command"), l.Say("Exit code"), l.Say("Run by"), l.Say("Output")}, checks)
	return strings.TrimPrefix(b.String(), "\n")
}

// describeBasis returns the basis of a passed row: nothing but the word of the report, an
// earlier round, a command run by the server, or a claim that can be looked up.
func describeBasis(l lang.Language, c workflow.Criterion) string {
	switch {
	case c.Result != workflow.ResultPass:
		return ""
	case c.ByWord:
		return l.Say("by word only")
	case c.From > 0:
		return l.Say("round %d", c.From)
	case c.Proved:
		return l.Say("ran")
	}
	return l.Say("not run")
}

// Evidence returns the evidence of a row: the text, the check, or the reason.
func Evidence(c workflow.Criterion) string {
	return strings.Join(dropEmpty(c.Evidence, c.Check, c.Why), "; ")
}

// WorstFirst returns rows with the failed and the untested ones first.
func WorstFirst(rows []workflow.Criterion) []workflow.Criterion {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b workflow.Criterion) int { return badnessOf(b.Result) - badnessOf(a.Result) })
	return out
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return visible.Fit(s[strings.LastIndexByte(s, '\n')+1:], 160)
}

// cell makes a text safe inside a cell; a backslash before a pipe would undo the pipe's mark.
var cell = strings.NewReplacer(`\|`, `\ \|`, "|", `\|`, "<", "&lt;")

func tableRow(cells []string) string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = cell.Replace(strings.Join(strings.Fields(c), " "))
	}
	return "| " + strings.Join(out, " | ") + " |\n"
}

// Document returns the text of a round: the body, the tables, and the block as it was handed in.
func (r Report) Document(tables string) string {
	if tables != "" {
		tables = tablesBegin + "\n\n" + strings.TrimSpace(tables) + "\n\n" + tablesEnd
	}
	parts := dropEmpty(r.Body, tables)
	for _, block := range r.Blocks {
		parts = append(parts, fenceJSON(block))
	}
	return strings.Join(parts, "\n\n")
}

// fenceJSON puts JSON into a fence longer than any in it.
func fenceJSON(block string) string {
	mark := "```"
	for strings.Contains(block, mark) {
		mark += "`"
	}
	return mark + "json\n" + block + "\n" + mark
}

// Artifact returns the text of a round without the block: the deliverable has the tables.
func Artifact(document string, keys []string) string {
	lines := strings.Split(withoutBlocks(document, chooseBlocks(findBlocks(document), keys)), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == tablesBegin || l == tablesEnd })
	return strings.TrimSpace(blankLines.ReplaceAllString(strings.Join(lines, "\n"), "\n\n"))
}

// blankLines are several blank lines, left by the removed parts.
var blankLines = pattern.New(`\n{3,}`)

// TablesIn returns the rendered tables of a round's text; "" if there are none.
func TablesIn(document string) string {
	_, after, ok := strings.Cut(document, tablesBegin)
	tables, _, closed := strings.Cut(after, tablesEnd)
	if !ok || !closed {
		return ""
	}
	return strings.TrimSpace(tables)
}

// withoutTables empties the lines of rendered tables.
func withoutTables(text string) string {
	lines := strings.Split(text, "\n")
	begin, end := slices.Index(lines, tablesBegin), slices.Index(lines, tablesEnd)
	if begin < 0 || end < begin {
		return text
	}
	clear(lines[begin : end+1])
	return strings.Join(lines, "\n")
}

// Form returns the block owed by a report, laid out with the ids of the criteria.
func (c Contract) Form() string {
	type formRow struct {
		ID       string `json:"id"`
		Result   string `json:"result"`
		Evidence string `json:"evidence"`
	}
	form := struct {
		Summary  string    `json:"summary"`
		Checks   []any     `json:"checks"`
		Criteria []formRow `json:"criteria,omitempty"`
		Findings []any     `json:"findings"`
	}{Checks: []any{}, Findings: []any{}}
	if c.Owes == workflow.OwesCriteria {
		for _, id := range c.Criteria.Owed() {
			form.Criteria = append(form.Criteria, formRow{ID: id})
		}
	}
	return fenceJSON(jsonblock.Format(form, " "))
}
