package trace

import (
	"fmt"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
)

// Bounds of one run: the ids followed in a document, and the links made by one line.
const (
	maxMentions = 200_000
	maxOfLine   = 400
)

// Link follows the requirements of a run.
func Link(f Facts) Trace {
	t := &tracer{
		facts: f, links: map[link]bool{}, ids: map[string]int{}, storyByKey: map[string]int{},
		named: map[int][]entity{}, out: Trace{[]Requirement{}, []Story{}, []Criterion{}, []Sprint{}, []Hole{}, []Unknown{}},
	}
	if c := f.Criteria; c != nil && len(c.All) > 0 && c.Defined < len(f.Documents) {
		t.base = c.Document()
		t.addNodes()
		t.linkAbove()
		t.linkMentions(t.base, t.of, f.Documents[c.Defined])
		for _, d := range f.Documents[c.Defined+1:] {
			t.linkDocument(d)
		}
		t.linkCriteria()
		t.linkSprints()
		t.addRows()
		t.write()
	}
	t.findHoles()
	return t.out
}

// The kinds of entities, in the order of a link.
const (
	requirement = iota
	epic
	story
	criterion
)

// entity is a requirement, epic, story or criterion of a trace, by its place in the list.
type entity struct{ kind, at int }

// none is the place of a missing entity.
const none = -1

// link is a link between two entities, the one of the earlier kind first.
type link struct{ from, to entity }

type tracer struct {
	facts Facts
	out   Trace
	base  *criteria.Document
	// of has the entities of each node of the document that defines the criteria. A leaf is a criterion, too.
	of []owner
	// epics are the names of the epics, and whole has for each requirement the one that it is a part of.
	epics []string
	whole []int
	links map[link]bool
	// ids counts the uses of names, behind a letter for the kind.
	ids map[string]int
	// storyByKey has the stories by the canonical forms of their ids.
	storyByKey map[string]int
	tooMany    bool
	// defined has the stories that lines of the plan define, and named the stories and epics that they name, by line.
	defined, named map[int][]entity
	// ofEpic has the stories of each epic.
	ofEpic map[int][]int
	report bool
	// strangers are the ids of rows without a criterion.
	strangers []string
}

// owner has for each kind the innermost entity that a node or line stands in, none where there is none.
type owner [criterion + 1]int

var nobody = owner{none, none, none, none}

// addLink links two entities, in any order.
func (t *tracer) addLink(a, b entity) {
	if a.at == none || b.at == none || a.kind == b.kind {
		return
	}
	if a.kind > b.kind {
		a, b = b, a
	}
	t.links[link{a, b}] = true
}

// uniqueID returns a name that no other entity of its kind, which has a letter, has.
func (t *tracer) uniqueID(kind, id string) string {
	unique := id
	for t.ids[kind+unique] > 0 {
		t.ids[kind+id]++
		unique = fmt.Sprintf("%s′%d", id, t.ids[kind+id])
	}
	t.ids[kind+unique]++
	return unique
}

// addNodes adds the entities of the document that defines the criteria.
func (t *tracer) addNodes() {
	stage := t.facts.Documents[t.facts.Criteria.Defined].Stage
	t.of = make([]owner, len(t.base.Nodes))
	for i, n := range t.base.Nodes {
		t.of[i] = nobody
		name := t.base.Name(i)
		place := Place{stage, n.Line + 1}
		switch {
		case name == "":
		case n.IsWork():
			t.of[i][story] = t.addStory(Story{ID: name, Title: n.Title, Place: place})
		case n.Kind == criteria.Requirement:
			t.of[i][requirement] = len(t.out.Requirements)
			t.out.Requirements = append(t.out.Requirements, Requirement{ID: t.uniqueID("r", name), Text: n.Text, Place: place})
			t.whole = append(t.whole, none)
		case n.Kind == criteria.Epic:
			t.of[i][epic] = t.addEpic(n)
		}
	}
	for i, c := range t.facts.Criteria.All {
		t.of[c.Node][criterion] = i
		place := Place{stage, t.base.Nodes[c.Node].Line + 1}
		t.out.Criteria = append(t.out.Criteria, Criterion{ID: c.ID, Text: c.Text, Place: place, Sprints: append([]int{}, c.Sprints...), State: Open})
	}
}

func (t *tracer) addStory(s Story) int {
	at := len(t.out.Stories)
	if key := criteria.Key(s.ID); key != "" {
		if _, known := t.storyByKey[key]; !known {
			t.storyByKey[key] = at
		}
	}
	s.ID = t.uniqueID("s", s.ID)
	s.Sprints = []int{}
	t.out.Stories = append(t.out.Stories, s)
	return at
}

// addEpic adds an epic. A list of epics and the part about each have the same names.
func (t *tracer) addEpic(n criteria.Node) int {
	name := n.Title
	if n.Written != "" {
		name = "Epic " + n.Written
	}
	if at := slices.Index(t.epics, name); at >= 0 {
		return at
	}
	t.epics = append(t.epics, name)
	return len(t.epics) - 1
}

// linkAbove links the nodes of the document with the nodes that they stand below, or that their numbers name.
func (t *tracer) linkAbove() {
	parts := map[string]int{}
	for i, n := range t.base.Nodes {
		if r := t.of[i][requirement]; r != none && n.Family != "" {
			parts[n.Family+" "+criteria.FormatNumber(n.Number)] = r
		}
	}
	whole := enclose(t.base, t.of)
	for i, n := range t.base.Nodes {
		own, around := t.of[i], nobody
		if n.Parent >= 0 {
			around = whole[n.Parent]
		}
		if s := t.base.Story(i); around[story] == none && own[criterion] != none && s != none {
			around[story] = t.of[s][story]
		}
		if r := own[requirement]; r != none {
			if t.whole[r] = around[requirement]; around[requirement] == none && len(n.Number) > 1 {
				if at, ok := parts[n.Family+" "+criteria.FormatNumber(n.Number[:len(n.Number)-1])]; ok {
					t.whole[r] = at
				}
			}
		}
		around[criterion] = none // what stands below a criterion explains it
		for _, a := range own.entities() {
			for _, b := range around.entities() {
				t.addLink(a, b)
			}
			t.addLink(a, entity{criterion, own[criterion]}) // a leaf is its own criterion
		}
	}
}

// entities returns the entities of an owner.
func (o owner) entities() (out []entity) {
	for kind, at := range o {
		if at != none {
			out = append(out, entity{kind, at})
		}
	}
	return out
}

// enclose returns for each node the innermost entities of it and of the nodes around it. of has the entities of each node alone.
func enclose(doc *criteria.Document, of []owner) []owner {
	out := slices.Clone(of)
	for i, n := range doc.Nodes {
		for kind := range out[i] {
			if out[i][kind] == none && n.Parent >= 0 {
				out[i][kind] = out[n.Parent][kind]
			}
		}
	}
	return out
}

// ownersOf returns the entities that each line of a document stands in.
func ownersOf(doc *criteria.Document, of []owner) []owner {
	out := slices.Repeat([]owner{nobody}, len(doc.Lines))
	whole := enclose(doc, of)
	for i, n := range doc.Nodes {
		for line := n.Line; line < min(n.End, len(out)); line++ {
			out[line] = whole[i]
		}
	}
	return out
}

// linkDocument adds the stories of a later document, and the links in its lines. A story that the first document has,
// too, is the same.
func (t *tracer) linkDocument(d Document) {
	doc := criteria.Read(d.Text)
	of := slices.Repeat([]owner{nobody}, len(doc.Nodes))
	defined := map[int][]entity{}
	for i, n := range doc.Nodes {
		switch name := doc.Name(i); {
		case name == "":
		case n.Kind == criteria.Story, n.IsWork() && d.IsPlan:
			at, known := t.storyByKey[criteria.Key(name)]
			if !known {
				at = t.addStory(Story{ID: name, Title: n.Title, Place: Place{d.Stage, n.Line + 1}})
			}
			of[i][story] = at
			defined[n.Line] = append(defined[n.Line], entity{story, at})
		case n.Kind == criteria.Epic:
			of[i][epic] = t.addEpic(n)
		}
	}
	for i, whole := range enclose(doc, of) {
		if of[i][story] != none {
			t.addLink(entity{story, of[i][story]}, entity{epic, whole[epic]})
		}
	}
	if d.IsPlan {
		t.defined = defined
	}
	t.linkMentions(doc, of, d)
}

// linkMentions links the entities that each line of a document names with each other, and with those that the line
// stands in. of has the entities of its nodes.
func (t *tracer) linkMentions(doc *criteria.Document, of []owner, d Document) {
	isBase := doc == t.base
	names := make([][]entity, len(doc.Lines))
	t.collect(t.base, t.of, doc.Document, isBase, names)
	if !isBase {
		t.collect(doc, of, doc.Document, true, names)
	}
	owners := ownersOf(doc, of)
	skipped := doc.LinesOf(doc.Sections(markdown.Omissions))
	for line, list := range names {
		if len(list) == 0 || skipped[line] || isAside(doc.Said[line]) {
			continue
		}
		if d.IsPlan {
			t.named[line] = list
		}
		t.linkLine(doc.Document, line, owners[line], list, isBase)
	}
}

// collect collects the entities of one document that the lines of another, or of itself, name.
func (t *tracer) collect(from *criteria.Document, of []owner, doc *markdown.Document, isSelf bool, names [][]entity) {
	left := maxMentions
	from.EachMention(doc, func(line, node int) bool {
		if left--; left < 0 {
			t.tooMany = true
			return false
		}
		if of[node] != nobody && (!isSelf || from.Nodes[node].Line != line) {
			names[line] = append(names[line], of[node].entities()[0]) // of a leaf not the criterion
		}
		return true
	})
}

// linkLine links what a line names.
func (t *tracer) linkLine(doc *markdown.Document, line int, in owner, names []entity, isBase bool) {
	_, isRow := doc.Rows[line]
	var byKind [criterion + 1][]entity
	seen := map[entity]bool{}
	for _, e := range names {
		if !seen[e] && len(byKind[e.kind]) < maxOfLine {
			seen[e] = true
			byKind[e.kind] = append(byKind[e.kind], e)
		}
	}
	around := in.entities()
	if in[requirement] == none && in[story] == none {
		around = nil
		if isRow || criteria.BeginsEntry(doc.Written(line)) {
			t.linkEntry(byKind, isRow)
		}
		if in[epic] != none {
			around = []entity{{epic, in[epic]}}
		}
	}
	for _, a := range around {
		for kind, list := range byKind {
			isOther := kind == epic || kind == story && a.kind != requirement
			if isOther || isBase && kind == criterion && a.kind == story {
				continue // a neighbour, or what comes before
			}
			for _, b := range list {
				t.addLink(a, b)
			}
		}
	}
}

// linkEntry links the ids of a row or item that stands in none of them. Which of several belong together is known only
// in the cells of a row, or if one side has a single id.
func (t *tracer) linkEntry(byKind [criterion + 1][]entity, isRow bool) {
	for _, pair := range [][2]int{{requirement, story}, {requirement, epic}, {requirement, criterion}, {story, criterion}} {
		a, b := byKind[pair[0]], byKind[pair[1]]
		isClear := isRow || len(a) == 1 || len(b) == 1
		if !isClear || len(a)*len(b) > maxOfLine {
			continue
		}
		for _, x := range a {
			for _, y := range b {
				t.addLink(x, y)
			}
		}
	}
}
