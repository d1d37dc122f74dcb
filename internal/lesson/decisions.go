package lesson

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// decisionNames are the headings below which an architecture lists its decisions.
var decisionNames = []string{"decisions", "decision", "decision log", "decision records", "key decisions",
	"design decisions", "technical decisions", "architecture decisions", "architectural decisions",
	"决策", "决定", "关键决策", "设计决策", "技术决策", "架构决策", "架构决定", "décisions", "décisions clés"}

// decisions returns the lessons of a document: one for each decision, if it lists any.
func decisions(s *standing.Standing, st workflow.Stage, document string) []Lesson {
	var out []Lesson
	for _, text := range readDecisions(document) {
		if len(out) < maxDecisions {
			out = append(out, Lesson{Session: s.SessionID, Finding: key(st,
				workflow.Hash([]byte(plain(text)))[:12]), Type: Decisions, Agent: string(st.ID), Text: clip(text),
				Tags: []string{string(st.ID)}})
		}
	}
	return out
}

// readDecisions lists the decisions of a document: the items, table rows and headings below such a
// heading, each with the lines that continue it.
func readDecisions(document string) []string {
	d := markdown.Read(document, decisionNames)
	heads := map[int]string{}
	for _, h := range d.Heads {
		heads[h.Line] = h.Text
	}
	columns := map[int]bool{}
	for _, t := range d.Tables {
		columns[t.Line] = true
	}
	var out []string
	next := 0 // sections can lie in each other
	for _, section := range d.Sections(decisionNames) {
		open := false
		for i := max(section.Line+1, next); i < section.End; i++ {
			line := strings.TrimSpace(d.Lines[i])
			_, body, item := markdown.Item(d.Lines[i])
			head, headed := heads[i]
			row, inTable := d.Rows[i]
			switch {
			case line == "":
			case d.Code[i], columns[i], markdown.IsTableRule(line):
				open = false
			case inTable:
				out, open = append(out, strings.Join(row.Cells, " — ")), false
			case headed && markdown.MatchesName(markdown.NameOf(head), decisionNames): // the heading of one of them
			case headed:
				out, open = append(out, head), true
			case item && (!open || !indents(d.Lines[i])):
				out, open = append(out, body), true
			case open:
				out[len(out)-1] += " " + line
			}
		}
		next = max(next, section.End)
	}
	return out
}

func indents(line string) bool { return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") }
