package criteria

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	// mentionForm matches an id in a text: a word or letters, and the number.
	mentionForm = pattern.New(`((?:[A-Za-z][A-Za-z0-9]{0,11}[-_]){0,3}[A-Za-z]{1,12}|[\p{Han}\p{Hangul}\p{Katakana}]{2,6})?` +
		`([-_ .#:：]{0,2})([A-Za-z][.])?(\d{1,6}(?:\.\d{1,4}){0,3}[a-zA-Z]?)`)
	// rangeTo and alsoOf match the text between the ids of a range, and of a list that names the letters once.
	rangeTo = pattern.New(`(?i)^[*_\x60\s]*(?:a\b|[-~…]|\.{2,3}|` + oneOf("to") + `)[*_\x60\s]*` +
		`(?:(?:US[-_ ]?\d[\d.]*[/ ])?[A-Z]{1,12}(?:-[A-Z]{1,12}){0,2}[-_ .]{0,2})?(\d{1,6}(?:\.\d{1,4}){0,3})\b`)
	alsoOf = pattern.New(`(?i)^[*_\x60\s]*(?:, ?and\b|[,、，&/]|` + oneOf("and") + `)[*_\x60\s]*(\d{1,6}(?:\.\d{1,4}){0,3})\b`)
	// hyphenedPart is the second part of a number with a hyphen.
	hyphenedPart = pattern.New(`^-\d{1,4}\b`)
	// ofNumbers announces numbers of requirements or criteria.
	ofNumbers = pattern.New(`(?i)\b` + oneOf("about") + `|` + oneOf("about without spaces"))
)

var lettersOf = map[Kind]string{Story: storyLetters, Requirement: requirementLetters, Epic: epicLetters}

// mention is an id that a text names, or a range of them.
type mention struct {
	family, story string
	kind          Kind
	from, to      []int
}

// key tells different mentions apart.
func (m mention) key() string {
	return m.family + string(rune('0'+m.kind)) + m.story + " " + FormatNumber(m.from) + " " + FormatNumber(m.to)
}

// index finds the nodes that a text may name.
type index struct {
	doc *Document
	// byNumber has the names of nodes by letters and number, and by each beginning of the number; families has those of
	// each family in their order.
	byNumber map[string][]name
	families map[string][]name
	// hyphened are the families whose numbers have a hyphen, as in "S1-2", which is then no range.
	hyphened map[string]bool
	// below has the nodes below each, titles the named scenarios.
	below  [][]int
	titles []int
}

// name is the letters and the number by which a text may name a node.
type name struct {
	family string
	number []int
	node   int
}

// newIndex returns the index of a document's nodes.
func (d *Document) newIndex() *index {
	x := &index{doc: d, byNumber: map[string][]name{}, families: map[string][]name{}, hyphened: map[string]bool{}, below: make([][]int, len(d.Nodes))}
	for i, n := range d.Nodes {
		if number := strings.TrimPrefix(n.Written, n.Family); len(n.Number) == 2 && strings.Contains(strings.TrimLeft(number, "-_ "), "-") {
			x.hyphened[n.Family] = true
		}
		for at := n.Parent; at >= 0; at = d.Nodes[at].Parent {
			x.below[at] = append(x.below[at], i)
		}
		if n.Kind == Criterion && n.Title != "" && n.placed && utf8.RuneCountInString(n.Title) > 5 {
			x.titles = append(x.titles, i)
		}
		for _, name := range x.namesOf(i) {
			x.families[name.family] = append(x.families[name.family], name)
			for parts := 1; parts <= len(name.number); parts++ {
				key := name.family + " " + FormatNumber(name.number[:parts])
				x.byNumber[key] = append(x.byNumber[key], name)
			}
		}
	}
	return x
}

// Letters of nodes that are named by a word: "Story 1.2".
const (
	storyLetters       = "#story"
	epicLetters        = "#epic"
	requirementLetters = "#requirement"
)

// plainRequirements are the letters of requirements that a text may name by the word.
var plainRequirements = []string{"FR", "REQ", "RF", "R"}

// namesOf returns the names of a node.
func (x *index) namesOf(i int) (out []name) {
	n := x.doc.Nodes[i]
	families := []string{n.Family}
	switch {
	case len(n.Number) == 0 || n.Kind == Section && n.Written == "":
		return nil
	case n.placed:
		families = []string{"AC", "AS"}
		if around := x.doc.around(i); around >= 0 && x.doc.Nodes[around].Kind == Requirement && x.doc.Nodes[around].Family == "" {
			out = append(out, name{"", slices.Concat(x.doc.Nodes[around].Number, n.Number), i})
		}
	case n.Family != "" && n.Kind == Story:
		families = append(families, storyLetters)
	case n.Family == "" && n.Kind == Story:
		families = []string{storyLetters, "US"}
	case n.Kind == Requirement && slices.Contains(plainRequirements, n.Family):
		families = append(families, requirementLetters)
	case n.Kind == Epic:
		families = append(families, epicLetters)
	case n.Family == "" && n.Kind == Requirement:
		families = []string{requirementLetters, ""}
	}
	for _, family := range families {
		out = append(out, name{family, n.Number, i})
	}
	return out
}

// Named reports for each node whether one of the lines of another document names it: itself, what it stands below, or
// a range that it is in.
func (d *Document) Named(in *markdown.Document, lines []int) []bool {
	x := d.newIndex()
	out := make([]bool, len(d.Nodes))
	known := map[string]bool{}
	mark := func(n name) {
		out[n.node] = true
		for _, j := range x.below[n.node] {
			out[j] = true
		}
	}
	x.eachLine(in, lines, func(_ int, line string, all []mention) {
		for _, m := range all {
			if key := m.key(); !known[key] {
				known[key] = true
				x.find(m, mark)
			}
		}
		x.findTitles(line, out)
	})
	return out
}

// EachMention calls found for each line of a document and each node that the line names by an id of its own, or by the
// range that it is in, until found returns false. An id of several stories or requirements names none of them.
func (d *Document) EachMention(in *markdown.Document, found func(line, node int) bool) {
	x, known := d.newIndex(), map[string][]int{}
	lines, goesOn := make([]int, len(in.Lines)), true
	for i := range lines {
		lines[i] = i
	}
	x.eachLine(in, lines, func(i int, _ string, all []mention) {
		for _, m := range all {
			if !goesOn {
				return
			}
			key := m.key()
			nodes, isKnown := known[key]
			if !isKnown {
				nodes = x.nodesNamedBy(m)
				known[key] = nodes
			}
			for _, node := range nodes {
				if goesOn {
					goesOn = found(i, node)
				}
			}
		}
	})
}

// nodesNamedBy returns the nodes that a mention names, none if several stories or requirements have its id.
func (x *index) nodesNamedBy(m mention) (nodes []int) {
	same := 0
	x.find(m, func(n name) {
		nodes = append(nodes, n.node)
		kind := x.doc.Nodes[n.node].Kind
		if m.to == nil && len(n.number) == len(m.from) && (kind == Story || kind == Requirement) {
			same++
		}
	})
	if same > 1 {
		return nil
	}
	return nodes
}

// eachLine calls found for the lines that say something, with the ids that they name.
func (x *index) eachLine(in *markdown.Document, lines []int, found func(i int, line string, all []mention)) {
	story := ""
	for _, i := range lines {
		if in.Code[i] || in.Said[i] == "" {
			continue
		}
		line := Narrow(in.Written(i)) // nobody who approves a plan sees the comments in it
		body := line
		if _, item, ok := markdown.Item(line); ok {
			body = item
		}
		if m := storyWord.FindStringSubmatch(strip(markdown.Unnumbered(strip(body)))); m != nil {
			story = FormatNumber(parseNumber(strings.TrimLeft(m[2], ".-")))
		}
		all := x.mentionsIn(line)
		for k := range all {
			m := &all[k]
			if m.kind == Story || kindOfLetters[m.family] == Story {
				story = FormatNumber(m.from)
			}
			if m.story == "" {
				m.story = story
			}
		}
		found(i, line, all)
	}
}

// findTitles marks the scenarios whose titles a line has.
func (x *index) findTitles(line string, out []bool) {
	lower := ""
	for _, i := range x.titles {
		if out[i] || len(line) < len(x.doc.Nodes[i].Title) {
			continue
		}
		if lower == "" {
			lower = strings.ToLower(line)
		}
		out[i] = strings.Contains(lower, strings.ToLower(x.doc.Nodes[i].Title))
	}
}

// mentionsIn returns the ids that a line names, alone, in a list or as the ends of a range.
func (x *index) mentionsIn(line string) (out []mention) {
	if !strings.ContainsAny(line, "0123456789") {
		return nil
	}
	isAbout := sync.OnceValue(func() bool { return ofNumbers.MatchString(line) })
	for at := 0; at < len(line); {
		m := mentionForm.FindStringSubmatchIndex(line[at:])
		if m == nil {
			break
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		at = m[1]
		id, ok := x.readMention(line, m, isAbout)
		if !ok {
			continue
		}
		if part := hyphenedPart.FindString(line[at:]); part != "" && x.hyphened[id.family] && len(id.from) == 1 {
			id.from = append(id.from, parseNumber(part[1:])...)
			at += len(part)
		}
		for range 200 {
			if r := rangeTo.FindStringSubmatch(line[at:]); r != nil && id.to == nil {
				id.to = completeNumber(id.from, parseNumber(r[1]))
				at += len(r[0])
			} else if l := alsoOf.FindStringSubmatch(line[at:]); l != nil {
				out = append(out, id)
				id = mention{family: id.family, kind: id.kind, story: id.story, from: completeNumber(id.from, parseNumber(l[1]))}
				at += len(l[0])
			} else {
				break
			}
		}
		if last := len(out) - 1; last >= 0 && isCriterionOf(id, out[last], line, m[0]) {
			id.story = FormatNumber(out[last].from)
			out = out[:last]
		}
		out = append(out, id)
	}
	return out
}

// isCriterionOf reports whether an id is qualified by the one right before it: "US-1/AC2".
func isCriterionOf(id, before mention, line string, at int) bool {
	if kindOfLetters[id.family] != Criterion || before.to != nil || before.kind != Story && kindOfLetters[before.family] != Story && before.family != "" {
		return false
	}
	gap := line[max(0, at-3):at]
	end := strings.LastIndexAny(gap, "0123456789")
	return end >= 0 && strings.Trim(gap[end+1:], " /.:,-") == ""
}

// readMention reads one id of a line, from the parts of its match. isAbout reports whether the line is about requirements.
func (x *index) readMention(line string, m []int, isAbout func() bool) (mention, bool) {
	word, number := line[max(0, m[2]):max(0, m[3])], parseNumber(line[m[8]:m[9]])
	before, after := line[:m[0]], line[m[1]:]
	isInside := word == "" && before != "" && strings.ContainsAny(before[len(before)-1:], ".0123456789")
	if isInside || after != "" && markdown.IsWordByte(after[0]) {
		return mention{}, false
	}
	lower := strings.ToLower(word)
	for _, w := range []string{lower, lower[strings.LastIndexAny(lower, "-_")+1:]} {
		if kind, ok := kindOfWord[w]; ok {
			return mention{kind: kind, family: lettersOf[kind], from: number}, true
		}
	}
	family := strings.ToUpper(strings.ReplaceAll(word, "_", "-"))
	switch {
	case family != "" && x.families[family] != nil && !strings.Contains(line[m[4]:m[5]], ":"):
		return mention{family: family, from: number}, true
	case x.families[""] != nil && len(number) > 1 && isAbout():
		return mention{from: number}, true
	}
	return mention{kind: Story, from: number}, word == "" && strings.HasPrefix(after, "/")
}

// completeNumber returns a number with the first parts of another: "AC-1.1 to 3" ends at 1.3.
func completeNumber(first, number []int) []int {
	if len(number) < len(first) {
		return append(append([]int(nil), first[:len(first)-len(number)]...), number...)
	}
	return number
}

// find calls found for the names that a mention means.
func (x *index) find(m mention, found func(name)) {
	if m.to != nil {
		for _, n := range x.families[m.family] {
			upTo := n.number[:min(len(n.number), len(m.to))]
			if slices.Compare(m.from, n.number) <= 0 && slices.Compare(upTo, m.to) <= 0 && x.isOf(n, m.story) {
				found(n)
			}
		}
		return
	}
	same := x.byNumber[m.family+" "+FormatNumber(m.from)]
	whole := slices.ContainsFunc(same, func(n name) bool { return len(n.number) == len(m.from) && x.doc.Nodes[n.node].Owed })
	for _, n := range same {
		part := len(n.number) > len(m.from)
		if (!part || !whole) && x.isOf(n, m.story) {
			found(n)
		}
	}
}

// isOf reports whether a name may be used below a story: of criteria that are numbered again in each, only those of the story.
func (x *index) isOf(called name, story string) bool {
	n := x.doc.Nodes[called.node]
	unique := !n.placed && len(n.keys) > 0 && n.keys[0] == n.keys[1]
	if n.Kind != Criterion || unique || len(called.number) > len(n.Number) {
		return true
	}
	around := x.doc.around(called.node)
	return around < 0 || FormatNumber(x.doc.Nodes[around].Number) == story
}
