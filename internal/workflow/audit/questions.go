package audit

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	// settled matches the mark or the words with which an answer begins, and what is struck out.
	settled = pattern.New(`(?i)(?:^|[.?!:;)–—|>-]\s*|[(\[（【]\s*|\*\*|__|[✅✔☑]\S?\s*)(?:answered|resolved|decided|closed|settled|agreed|done)\b` +
		`|(?:^[\s>*_+-]*|[.?!;(\[（*_–—]\s*)(?:answers?|decisions?|resolution|resolved|conclusion|outcome|response)(?:\s+[^\s:：]{1,20})?(?:\*\*|__)?\s*[:：]|^[\s*_>+-]*A\d*[.:：]` +
		`|~~|→|⇒|[✅✔☑]|已(?:决|确认|解决|回答|答复|关闭|定|明确|有结论)|(?:^|[\s（(*_-])(?:答|答案|回答|答复|结论|决定|决议|决策|处理)(?:\*\*|__)?[:：]`)
	ticked      = pattern.New(`^\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]`)
	yesOrNo     = pattern.New(`(?i)^\s*(?:[-*+]\s+|\d+[.)]\s+)?[*_]*(?:yes|no|是|否|不需要|需要)\b?[*_]*(?:[,.;:，。；：–—-]|\s*$)`)
	closedTitle = pattern.New(`(?i)\b(?:answered|resolved|closed|settled|decided|decisions? (?:taken|made)|none)\b|已`)
	noneLeft    = pattern.New(`(?i)^[\s*_>|.:：(（-]*(?:none\b|no open (?:questions|points|issues)|nothing\b|n/?a\b|无\s*[。.]?$|没有|暂无|$)`)
	stillOpen   = pattern.New(`(?i)open|pending|tbd|discuss|unclear|unresolved|undecided|^\s*\?+\s*$|未|待`)
)

// answerColumns are the headers of columns with an answer in them.
var answerColumns = []string{"answer", "decision", "decided", "resolution", "resolved", "outcome", "response", "status", "答复", "结论", "回答", "答案", "决定", "决议", "处理", "状态"}

// findOpenQuestions counts the questions that a section of open questions still asks.
func findOpenQuestions(c check, s *document) *miss {
	var lines []int
	for _, h := range s.Sections(c.Names) {
		if !closedTitle.MatchString(h.Text) {
			lines = append(lines, s.openQuestions(h, c.Names)...)
		}
	}
	slices.Sort(lines) // of sections in a section
	return atLines(slices.Compact(lines))
}

// openQuestions returns the lines of the questions in a section that no line below them settles. A section of other
// things too, or a part of it with a heading of its own, has only those with a question mark.
func (d *text) openQuestions(h markdown.Heading, names []string) (open []int) {
	alone := beginsWithName(h.Name, names)
	asked, depth, foreign := -1, 0, 0
	for i := h.Line; i < h.End; i++ {
		l := d.Said[i]
		if i == h.Line {
			l = h.Rest
		} else if part := d.headAt(i); part.Text != "" && part.Level <= markdown.BoldKnown {
			if closedTitle.MatchString(part.Text) {
				i = part.End - 1
				continue
			}
			foreign = max(foreign, endUnless(part, names))
		}
		if d.Code[i] || strings.TrimSpace(l) == "" {
			continue
		}
		at, within := d.standsBelow(i, l, depth)
		within = within && asked >= 0
		counts := asks(l) || alone && i >= foreign
		switch {
		case (within || asked >= 0 && !asks(l)) && (settled.MatchString(l) || yesOrNo.MatchString(l)):
			open = slices.DeleteFunc(open, func(line int) bool { return line == asked })
		case within:
		case !counts || !d.isOpenQuestion(i, l):
			asked = -1
		default:
			asked, depth = i, at
			open = append(open, i)
		}
	}
	return open
}

// standsBelow returns the indentation of a line, and whether it may belong to an item of a depth above it.
func (d *text) standsBelow(i int, l string, depth int) (indent int, below bool) {
	indent, _, isItem := markdown.Item(l)
	_, isRow := d.Rows[i]
	return indent, !isRow && (isItem && indent > depth || !isItem && (strings.HasPrefix(l, " ") || !asks(l)))
}

// endUnless returns the end of a part of a section, 0 if it has one of the section's names.
func endUnless(part markdown.Heading, names []string) int {
	if markdown.MatchesName(part.Name, names) {
		return 0
	}
	return part.End
}

// headAt returns the heading in a line, or none.
func (d *text) headAt(i int) (none markdown.Heading) {
	for _, h := range d.HeadsIn(i, i+1) {
		return h
	}
	return none
}

func asks(l string) bool { return strings.ContainsAny(l, "?？") }

// isOpenQuestion reports whether a line of a section is a question that the line itself does not settle.
func (d *text) isOpenQuestion(i int, l string) bool {
	if settled.MatchString(l) || ticked.MatchString(l) || noneLeft.MatchString(l) {
		return false
	}
	if row, ok := d.Rows[i]; ok {
		header := d.Tables[row.Table].Header
		for column, name := range header {
			answer := row.Cell(column)
			if markdown.MatchesName(markdown.NameOf(name), answerColumns) && hasSubstance(answer) && !stillOpen.MatchString(answer) {
				return false
			}
		}
		return true
	}
	if depth, body, isItem := markdown.Item(l); isItem {
		return depth < 2 && !strings.HasPrefix(l, "\t") && len(body) > 3
	}
	return asks(l)
}
