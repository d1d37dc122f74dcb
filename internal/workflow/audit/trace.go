package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// findUntraced lists the ids explained in an earlier document and never named in this one.
func findUntraced(c check, s *document) *miss {
	from := s.earlier[workflow.StageID(c.From)]
	if from == nil {
		if c.Alone > 0 && !namesAny(s.Lines, c.IDs) {
			return &miss{line: -1, share: c.Alone / max(c.Points, c.Each), either: c.IDs, problem: "no {name} of the earlier document is named"}
		}
		return nil
	}
	var promised []criteria.Node
	for _, letters := range c.IDs { // stories stand in if a document has no requirements
		if promised = from.nodesOf(letters); len(promised) > 0 {
			break
		}
	}
	if c.Only == "must" {
		promised = essentialNodes(from, promised)
	}
	if plan := s.earlier[s.wanted.Plan]; plan != nil && c.From != string(s.wanted.Plan) {
		promised = s.inScope(from, plan, promised)
	}
	named := from.namedIn(s.text, nil)
	out := miss{want: strconv.Itoa(len(promised))}
	for _, n := range promised {
		if !named[n.Line] && !s.servedThrough(c.Through, from.Lines[n.Line]) {
			out.addItem(-1, plainText(nodeLabel(n)))
		}
	}
	return out.orNil()
}

// namesAny reports whether the document names an id with some letters.
func namesAny(lines []string, letters []string) bool {
	return pattern.New(`\b(?:` + strings.Join(letters, "|") + `)[-_]?\d`).MatchString(strings.Join(lines, "\n"))
}

// namedIn returns the lines of the nodes that lines of another document name; nil means all lines.
func (d *text) namedIn(other *text, lines []int) map[int]bool {
	if lines == nil {
		for i := range other.Lines {
			lines = append(lines, i)
		}
	}
	out := map[int]bool{}
	for i, named := range d.read().Named(other.Document, lines) {
		if named {
			out[d.read().Nodes[i].Line] = true
		}
	}
	return out
}

// servedThrough reports whether the ids in a requirement's own line stand for it: a requirement of US-1 is met in the
// stories of US-1.
func (s *document) servedThrough(through []string, line string) bool {
	for _, id := range idsIn(line) {
		letters := strings.TrimRight(id, "-_.0123456789")
		if slices.Contains(through, letters) && mentions(s.Lines, id) {
			return true
		}
	}
	return false
}

// mentions reports whether the document has an id anywhere.
func mentions(lines []string, id string) bool {
	return slices.ContainsFunc(lines, func(l string) bool {
		return strings.ContainsAny(l, "0123456789") && slices.ContainsFunc(idsIn(l), func(other string) bool { return criteria.Key(other) == criteria.Key(id) })
	})
}

// priority is a tag, for example "(Must)", "| Should |" or "Priority: P0".
var priority = pattern.New(`(?i)(?:^|[(（\[【|:：—–,，;·*]\s*|\s-\s)(must|should|could|won'?t|P[0-4]|high|medium|low|必须` +
	`|必需|必做|应该|应有|应做|可以|可选|可做|不做|高|中|低)(?:[ -]have)?[*_]*\s*(?:$|[,，;；)）\]】|.。·])`)

// readPriorities returns the priority of each node, from the line, the one below that names it, or the heading.
func readPriorities(d *text, nodes []criteria.Node) []string {
	byHeading := make(map[int]string)
	for _, h := range d.Heads {
		if m := headPriority.FindStringSubmatch(h.Text); m != nil {
			for i := h.Line; i < h.End; i++ {
				byHeading[i] = strings.ToLower(m[1])
			}
		}
	}
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = byHeading[n.Line]
		if m := priority.FindStringSubmatch(d.Lines[n.Line]); m != nil {
			out[i] = strings.ToLower(m[1])
			continue
		}
		for line := n.Line + 1; line < min(n.End, n.Line+12); line++ {
			if l := d.Lines[line]; priorityLabel.MatchString(l) {
				if m := priority.FindStringSubmatch(l); m != nil {
					out[i] = strings.ToLower(m[1])
				}
			}
		}
	}
	return out
}

var priorityLabel = pattern.New(`(?i)^[\s>*_+-]*(?:priority|优先级|priorität|priorité|prioridad|prioridade|優先度|우선순위)\b?`)

var headPriority = pattern.New(`(?i)(?:^|[(（\s])(must|should|could|won'?t|P[0-4]|必须|必需|必做|应该|应有|应做|可以|可选|可做)(?:[ -]have)?s?(?:$|[)）:：\s])`)

// essentialNodes keeps the nodes that the first release cannot do without; all of them if the document gives no
// priorities.
func essentialNodes(d *text, nodes []criteria.Node) []criteria.Node {
	tag := readPriorities(d, nodes)
	for _, level := range [][]string{{"must", "p0", "必须", "必需", "必做", "high", "高"}, {"p1"}} {
		var out []criteria.Node
		for i, n := range nodes {
			if slices.Contains(level, tag[i]) {
				out = append(out, n)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nodes
}

// inScope keeps the criteria of the sprints that this document is about, if it names some of the
// plan's sprints and not all.
func (s *document) inScope(from, plan *text, nodes []criteria.Node) []criteria.Node {
	sprints := plan.planned()
	about := map[int]bool{}
	for _, l := range s.Said {
		if strings.Contains(l, "print") || strings.Contains(l, "冲刺") || strings.Contains(l, "迭代") {
			for _, m := range sprintNamed.FindAllStringSubmatch(l, -1) {
				n, _ := strconv.Atoi(m[1])
				about[n] = true
				if to, err := strconv.Atoi(m[2]); err == nil {
					for ; n <= to && n < 100; n++ {
						about[n] = true
					}
				}
			}
		}
	}
	lines := []int{}
	covered := 0
	for _, sp := range sprints {
		if about[sp.Number] {
			covered++
			for i := sp.Line; i < sp.End; i++ {
				lines = append(lines, i)
			}
		}
	}
	if covered == 0 || covered == len(sprints) {
		return nodes
	}
	planned := from.namedIn(plan, lines)
	return slices.DeleteFunc(slices.Clone(nodes), func(n criteria.Node) bool { return !planned[n.Line] })
}

var sprintNamed = pattern.New(`(?i)(?:sprints?|冲刺|迭代)\s*(\d{1,3})(?:\s*(?:–|-|to|and|至|到|、|和)\s*(\d{1,3}))?`)

// findDuplicates lists ids explained twice below one heading.
func findDuplicates(c check, s *document) *miss {
	first := map[string]criteria.Node{}
	listed := map[string]bool{}
	var out miss
	for _, n := range s.nodesOf(c.IDs...) {
		key := fmt.Sprint(n.Parent, n.Family, n.Number, string(n.Form))
		before, twice := first[key]
		switch {
		case n.Family == "":
		case !twice:
			first[key] = n
		case !listed[key]:
			listed[key] = true
			out.addItem(n.Line, lang.T("%s (lines %d and %d)", n.Written, before.Line+1, n.Line+1))
		}
	}
	return out.orNil()
}
