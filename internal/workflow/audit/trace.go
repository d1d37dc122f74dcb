package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// findUntraced lists the ids explained in an earlier document and never named in this one.
func findUntraced(c check, s *document) *miss {
	from := s.earlier[workflow.StageID(c.From)]
	here := s.named()
	if from == nil {
		if c.Alone > 0 && !slices.ContainsFunc(c.IDs, here.hasPrefix) {
			return &miss{line: -1, share: c.Alone / max(c.Points, c.Each), either: c.IDs, problem: "no {name} of the earlier document is named"}
		}
		return nil
	}
	var defs []definition
	for _, prefix := range c.IDs {
		// Stories stand in if a document has no requirements.
		if defs = from.promisedDefinitions([]string{prefix}); len(defs) > 0 {
			break
		}
	}
	if c.Only == "must" {
		defs = essentialDefinitions(from, defs)
	}
	if s.earlier[s.wanted.Plan] != nil && c.From != string(s.wanted.Plan) {
		defs = s.inScope(defs)
	}
	bodies := map[string][]string{}
	for _, def := range defs {
		bodies[def.id.String()] = append(bodies[def.id.String()], def.body)
	}
	promised := distinctIDs(defs)
	out := miss{want: strconv.Itoa(len(promised))}
	for _, id := range promised {
		if !here.has(id) && !servedThrough(c.Through, bodies[id.String()], here) {
			out.addItem(-1, plainText(id.String()))
		}
	}
	return out.orNil()
}

// promisedDefinitions returns the definitions of a document, except those that it leaves out.
func (d *text) promisedDefinitions(prefixes []string) []definition {
	omitted := d.omitted()
	return slices.DeleteFunc(d.definitionsOf(prefixes...), func(def definition) bool { return omitted[def.line] })
}

// servedThrough reports whether the ids in a definition's own line stand for it here: a requirement
// of US-1 is met in the stories of US-1.
func servedThrough(through, bodies []string, here mentions) bool {
	if len(through) == 0 {
		return false
	}
	for _, body := range bodies {
		for other := range idsIn(body) {
			if slices.Contains(through, other.prefix) && here.has(other.id()) {
				return true
			}
		}
	}
	return false
}

// priority is a tag, for example "(Must)", "| Should |" or "Priority: P0".
var priority = pattern.New(`(?i)(?:^|[(（\[【|:：—–,，;·*]\s*|\s-\s)(must|should|could|won'?t|P[0-4]|high|medium|low|必须` +
	`|必需|必做|应该|应有|应做|可以|可选|可做|不做|高|中|低)(?:[ -]have)?[*_]*\s*(?:$|[,，;；)）\]】|.。·])`)

// readPriorities returns the priority of each definition, from the line or the heading.
func readPriorities(d *text, defs []definition) []string {
	byHeading := make(map[int]string)
	for _, h := range d.Heads {
		if m := headPriority.FindStringSubmatch(h.Text); m != nil {
			for i := h.Line; i < h.End; i++ {
				byHeading[i] = strings.ToLower(m[1])
			}
		}
	}
	out := make([]string, len(defs))
	for i, def := range defs {
		out[i] = byHeading[def.line]
		if m := priority.FindStringSubmatch(d.Lines[def.line]); m != nil {
			out[i] = strings.ToLower(m[1])
		}
	}
	return out
}

var headPriority = pattern.New(`(?i)(?:^|[(（\s])(must|should|could|won'?t|P[0-4]|必须|必需|必做|应该|应有|应做|可以|可选|可做)(?:[ -]have)?s?(?:$|[)）:：\s])`)

// essentialDefinitions keeps the definitions that the first release cannot do without; all of them
// if the document gives no priorities.
func essentialDefinitions(d *text, defs []definition) []definition {
	tag := readPriorities(d, defs)
	for _, level := range [][]string{{"must", "p0", "必须", "必需", "必做", "high", "高"}, {"p1"}} {
		var out []definition
		for i, def := range defs {
			if slices.Contains(level, tag[i]) {
				out = append(out, def)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return defs
}

// inScope keeps the criteria of the sprints that this document is about, if it names some of the
// plan's sprints and not all.
func (s *document) inScope(defs []definition) []definition {
	plan := s.earlier[s.wanted.Plan]
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
	var lines []string
	covered := 0
	for _, sp := range sprints {
		if about[sp.Number] {
			covered++
			lines = append(lines, plan.Lines[sp.Line:sp.End]...)
		}
	}
	if covered == 0 || covered == len(sprints) {
		return defs
	}
	planned := mentionsIn(lines)
	return slices.DeleteFunc(slices.Clone(defs), func(d definition) bool { return !planned.has(d.id) })
}

var sprintNamed = pattern.New(`(?i)(?:sprints?|冲刺|迭代)\s*(\d{1,3})(?:\s*(?:–|-|to|and|至|到|、|和)\s*(\d{1,3}))?`)

// findDuplicates lists ids explained twice in the same way: two headings, two items or two rows of
// one section.
func findDuplicates(c check, s *document) *miss {
	section := s.SectionOf()
	seen := map[string]int{}
	var out miss
	listed := map[string]bool{}
	for _, def := range s.definitionsOf(c.IDs...) {
		if def.form == 'p' || s.listsOthers(def.line) {
			continue
		}
		where := strconv.Itoa(section[def.line])
		if row, ok := s.Rows[def.line]; ok {
			where = "t" + strconv.Itoa(row.Table)
		}
		key := def.id.String() + string(def.form) + where
		first, twice := seen[key]
		if !twice {
			seen[key] = def.line
			continue
		}
		if !listed[def.id.String()] {
			listed[def.id.String()] = true
			out.addItem(def.line, lang.T("%s (lines %d and %d)", def.id, first+1, def.line+1))
		}
	}
	return out.orNil()
}
