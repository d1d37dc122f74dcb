package audit

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// hanID matches an id in Chinese.
var hanID = pattern.New(`(?:功能需求|需求) ?\d+(?:\.\d+)*`)

// nextID returns the place of the next id in a text: capitals with hyphens, and a number. ok is false if there is none.
func nextID(s string, at int) (from, to int, ok bool) {
	for ; at < len(s); at++ {
		if !isCapital(s[at]) || at > 0 && markdown.IsWordByte(s[at-1]) {
			continue
		}
		end, digits := endOfID(s, at)
		if inWord := end < len(s) && markdown.IsWordByte(s[end]); digits && !inWord && end-at <= maxID {
			return at, end, true
		}
		at = end - 1
	}
	return 0, 0, false
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool   { return '0' <= c && c <= '9' }

// endOfID returns the end of the capitals and digits at a place, with a small letter behind them, and whether there are
// digits.
func endOfID(s string, at int) (end int, digits bool) {
	for end = at; end < len(s) && (isCapital(s[end]) || isDigit(s[end]) || strings.IndexByte("-_.", s[end]) >= 0); end++ {
		digits = digits || isDigit(s[end])
	}
	for strings.IndexByte("-_.", s[end-1]) >= 0 {
		end--
	}
	isLetter := end < len(s) && 'a' <= s[end] && s[end] <= 'z' && isDigit(s[end-1])
	if isLetter && (end+1 == len(s) || !markdown.IsWordByte(s[end+1])) {
		end++
	}
	return end, digits
}

// maxID is more than an id takes, in bytes.
const maxID = 40

// idsIn returns the ids in a text.
func idsIn(s string) (out []string) {
	for at := 0; ; {
		from, to, ok := nextID(s, at)
		if !ok {
			return append(out, hanID.FindAllString(s, -1)...)
		}
		out, at = append(out, s[from:to]), to
	}
}

func hasID(s string) bool {
	if !strings.ContainsAny(s, "0123456789") {
		return false
	}
	_, _, ok := nextID(s, 0)
	return ok || hanID.MatchString(s)
}

// blankIDs returns a text with a space in place of each id.
func blankIDs(s string) string {
	if !strings.ContainsAny(s, "0123456789") {
		return s
	}
	var b strings.Builder
	at := 0
	for {
		from, to, ok := nextID(s, at)
		if !ok {
			break
		}
		b.WriteString(s[at:from] + " ")
		at = to
	}
	if at > 0 {
		s = b.String() + s[at:]
	}
	return hanID.ReplaceAllString(s, " ")
}

// nodesOf returns the nodes with ids of the letters that a rubric names, in the order of the document: stories by any
// letters or by the word for US, functional requirements by any but those of qualities for FR.
func (d *text) nodesOf(letters ...string) (out []criteria.Node) {
	for _, n := range d.read().Nodes {
		if n.Written != "" && slices.ContainsFunc(letters, func(l string) bool { return isOf(n, l) }) {
			out = append(out, n)
		}
	}
	return out
}

func isOf(n criteria.Node, letters string) bool {
	quality := strings.Contains(n.Family, "NF")
	switch letters {
	case "US":
		return n.Kind == criteria.Story
	case "FR":
		return n.Kind == criteria.Requirement && !quality
	case "AC":
		return n.Kind == criteria.Criterion && n.Family != ""
	case "NFR":
		return n.Kind == criteria.Requirement && quality
	}
	return strings.TrimRight(n.Family, "0123456789") == letters
}

// nodeLabel names a node in a finding.
func nodeLabel(n criteria.Node) string {
	switch {
	case n.ID != "":
		return n.ID
	case n.Family == "US" && !strings.HasPrefix(n.Written, "US"):
		return "US" + n.Written
	case n.Family == "" && n.Kind == criteria.Story && n.Written != "":
		return "Story " + n.Written
	case n.Written != "":
		return n.Written
	}
	return n.Title
}

// markCriteria finds the lines that state an acceptance criterion, and cells of a column of criteria.
func markCriteria(d *criteria.Document) []bool {
	out := make([]bool, len(d.Lines))
	for i, n := range d.Nodes {
		if n.Kind != criteria.Criterion {
			continue
		}
		end := n.End
		if i+1 < len(d.Nodes) {
			end = min(end, d.Nodes[i+1].Line)
		}
		for line := n.Line; line < max(end, n.Line+1); line++ {
			if n.Form == criteria.Item && strings.TrimSpace(d.Lines[line]) == "" {
				break
			}
			out[line] = !markdown.IsTableRule(d.Lines[line]) && strings.TrimSpace(d.Lines[line]) != ""
		}
	}
	for i, l := range d.Said {
		out[i] = out[i] || containsAny(l, "cceptance", "验收", "标准") && announced.MatchString(l) && !emptyLabel.MatchString(l)
	}
	for _, t := range d.Tables {
		if column := t.Column(criteriaHeader...); column >= 0 {
			for _, row := range t.Rows {
				out[row.Line] = out[row.Line] || hasSubstance(row.Cell(column))
			}
		}
	}
	return out
}

// criteriaHeader names a column that holds criteria.
var criteriaHeader = []string{"acceptance criteria", "acceptance criterion", "acceptance", "criteria", "criterion",
	"accepted when", "done when", "given", "given/when/then", "验收标准", "验收条件", "验收", "标准", "通过条件", "完成条件"}

// announced matches a criterion on the line that announces it.
var announced = pattern.New(`(?i)^[\s>*_#+-]*(?:acceptance[^:：|]{0,40}|验收[^:：|]{0,10}|接受标准|通过标准)[:：][*_\s]*[^\s*_]`)
