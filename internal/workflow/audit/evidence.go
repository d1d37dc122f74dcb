package audit

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	filePath = pattern.New(`(?:[\w.@-]+/)+[\w.@*-]+|\b[\w-]+\.(?:go|tsx?|jsx?|mjs|py|rs|java|kt|kts|swift|rb|php|cs` +
		`|sql|html|css|scss|vue|svelte|ya?ml|json|toml|md|sh|ps1|c|h|cc|cpp|hpp|ino|proto|tf|dart|ex|exs|scala|lua` +
		`|ini|cfg|xml|gradle)\b`)
	command = pattern.New("`\\$? ?[a-z./][\\w./-]* [^`]+`|`\\./[^`]+`|^\\s*\\$ \\S")
	results = pattern.New(`(?i)\d+ (?:unit |integration |automated |automatic |new |end-to-end |e2e )*(?:tests?` +
		`|specs?|cases?|checks?|assertions?|passed|passing|failed|examples)\b|\b(?:pass(?:ed)?|failed?|tests?` +
		`|ok)\b\s*[:：|]\s*\**\d+|\d+\s*(?:项|个|条)?\s*(?:自动|单元|集成)?\s*(?:测试|用例|通过)|(?:测试|用例|通过)[^\d|]{0,8}[:：|]?\s*\d+` +
		`|^ok\s+\S+\s+[\d.]+s`)
	shell    = pattern.New(`(?i)^(?:ba|z|fi)?sh$|^shell|^console|^powershell|^cmd$|^bash`)
	noIssues = pattern.New(`(?i)\bno (?:open |new |critical |major |blocking |serious |further |other )*(?:findings?` +
		`|issues?|defects?|problems?)\b|\bnothing (?:was )?found\b|\b0 findings\b|未发现|无(?:阻碍|严重|重大|遗留)?(?:问题|缺陷)` +
		`|没有(?:发现|问题|缺陷)|零缺陷|0 个(?:问题|缺陷)`)
	findID  = pattern.New(`^\s*(?:#+\s*|[-*+]\s+|\|\s*)?[*_\[(]*(?:R|F|CR|REV|B|BUG|D|DEF|T|Q)-?\d+(?:\.\d+)?\b`)
	sevWord = pattern.New(`(?i)\b(?:critical|major|minor|blocker|high|medium|low)\b|严重|重要|主要|次要|一般|轻微|阻断|致命|(?:^|[|（(：:，,\s])[高中低](?:$|[|）)：:，,\s])`)
)

// findHas looks for one kind of evidence anywhere in the document.
func findHas(c check, s *document) *miss {
	if s.hasEvidence(c.What) {
		return nil
	}
	return &miss{line: -1}
}

func (s *document) hasEvidence(what string) bool {
	onLine := func(matches func(string) bool) bool {
		return slices.ContainsFunc(s.Lines, func(l string) bool { return len(l) < 1<<16 && matches(l) })
	}
	some := func(re *pattern.Pattern) bool { return onLine(re.MatchString) }
	switch what {
	case "commands":
		return some(command) || s.hasShell()
	case "files":
		return some(filePath)
	case "results":
		return some(results) || slices.ContainsFunc(s.Tables, countsTests)
	case "ids":
		return len(s.nodesOf("US", "FR", "AC", "NFR")) > 0
	case "priorities":
		nodes := s.nodesOf("US", "FR")
		return len(nodes) == 0 || slices.ContainsFunc(readPriorities(s.text, nodes), func(t string) bool { return t != "" })
	case "findings":
		return len(s.reportedFindings()) > 0 || some(noIssues)
	}
	// Specifics: whatever could be looked up or run again.
	return s.hasFigures(3) || onLine(hasID) || some(filePath) || some(results) || some(command)
}

// hasShell reports whether there is a code block of a shell.
func (d *text) hasShell() bool {
	for i, l := range d.Lines {
		if d.Code[i] {
			if _, info, ok := markdown.Fence(l); ok && shell.MatchString(info) {
				return true
			}
		}
	}
	return false
}

// hasFigures reports whether at least n lines have a figure.
func (d *text) hasFigures(n int) bool {
	for i := range d.Lines {
		if n > 0 && d.hasFigure(i) {
			n--
		}
	}
	return n == 0
}

// countsTests reports whether a table has a number in a column of passed or failed.
func countsTests(t markdown.Table) bool {
	col := t.Column("passed", "pass", "failed", "tests", "通过", "失败", "用例", "测试数")
	return col >= 0 && slices.ContainsFunc(t.Rows, func(r markdown.Row) bool { return numeral.MatchString(r.Cell(col)) })
}

// reportedFindings returns the lines of the findings of a review or QA report: items, headings and
// rows with an id, for example R1, and rows of a table with a severity.
func (s *document) reportedFindings() (out []int) {
	for i, l := range s.Lines {
		if s.Code[i] || len(l) > 1<<16 {
			continue
		}
		row, isRow := s.Rows[i]
		switch {
		case isRow:
			t := s.Tables[row.Table]
			sev := t.Column("severity", "level", "priority", "级别", "严重程度", "严重性", "严重", "等级", "程度", "优先级")
			if sev >= 0 && len(row.Cells) > 2 && sevWord.MatchString(row.Cell(sev)) {
				out = append(out, i)
			}
		case findID.MatchString(l) && (isHash(l) || sevWord.MatchString(l)):
			out = append(out, i)
		}
	}
	return out
}
