package audit

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	settled     = pattern.New(`(?i)\b(?:answered|resolved|decided|closed|settled|agreed|decision:|answer:)|~~|→|已(?:决|确认|解决|回答|答复|关闭|定|明确|有结论)|答[:：]|结论[:：]`)
	closedTitle = pattern.New(`(?i)answered|resolved|closed|settled|decisions? taken|none|已`)
	noneLeft    = pattern.New(`(?i)^[\s*_>|.:：(（-]*(?:none\b|no open (?:questions|points|issues)|nothing\b|n/?a\b|无\s*[。.]?$|没有|暂无|$)`)
)

// findOpenQuestions counts the questions that a section of open questions still asks.
func findOpenQuestions(c check, s *document) *miss {
	var lines []int
	for _, h := range s.Sections(c.Names) {
		if closedTitle.MatchString(h.Text) {
			continue
		}
		for i := h.Line; i < h.End; i++ {
			if s.isOpenQuestion(i, h) {
				lines = append(lines, i)
			}
		}
	}
	slices.Sort(lines) // of sections in a section
	return atLines(slices.Compact(lines))
}

// isOpenQuestion reports whether a line of the section is a question still open.
func (d *text) isOpenQuestion(i int, h markdown.Heading) bool {
	l := d.Said[i]
	if i == h.Line {
		l = h.Rest
	}
	if d.Code[i] || strings.TrimSpace(l) == "" || settled.MatchString(l) || noneLeft.MatchString(l) {
		return false
	}
	if row, ok := d.Rows[i]; ok {
		// A column of answers with something in it settles the row.
		answer := row.Cell(d.Tables[row.Table].Column("answer", "decision", "resolution", "outcome", "status", "答复", "结论", "回答", "答案", "决定", "处理", "状态"))
		return !hasSubstance(answer) || answer == "?" || strings.Contains(strings.ToLower(answer), "open") || strings.Contains(answer, "未") || strings.Contains(answer, "待")
	}
	depth, body, isItem := markdown.Item(l)
	if isItem {
		return depth < 2 && !strings.HasPrefix(l, "\t") && len(body) > 3
	}
	return i > h.Line && strings.ContainsAny(l, "?？")
}
