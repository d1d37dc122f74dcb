package trace

import (
	"slices"
	"strconv"

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
	t := &tracer{facts: f, links: map[link]bool{}}
	if c := f.Criteria; c != nil && len(c.All) > 0 && c.Defined < len(f.Documents) {
		t.base = c.Document()
		t.addNodes()
		t.linkAbove()
		for i, d := range f.Documents {
			if i == c.Defined {
				t.linkMentions(t.base.Document, nil, nil, i)
			} else if i > c.Defined {
				t.linkDocument(d, i)
			}
		}
		t.linkCriteria()
		t.linkSprints()
		t.addRows()
	}
	t.write()
	t.findHoles()
	return t.out
}

// entity is a requirement, story, criterion or epic of a trace, by its kind and place in the list.
type entity struct {
	kind criteria.Kind
	at   int
}

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
	// epics are the names of the epics; wholes and places the requirements that are parts, and the stories' nodes.
	epics []string
	whole []int
	links map[link]bool
	// ids counts the uses of each name of a kind.
	ids map[string]int
	// storyByKey has the stories by the canonical forms of their ids.
	storyByKey map[string]int
	tooMany    bool
	// defined has the stories that lines of the plan define, and named those that they name, by line.
	defined, named map[int][]int
	report         bool
	// strangers are the ids of rows without a criterion.
	strangers []string
}

// owner has the innermost entities that a node or line stands in, none where there is none.
type owner struct{ requirement, story, criterion, epic int }

var nobody = owner{none, none, none, none}

// addLink links two entities, in any order.
func (t *tracer) addLink(a, b entity) {
	if a.at == none || b.at == none || a.kind == b.kind {
		return
	}
	if order[a.kind] > order[b.kind] {
		a, b = b, a
	}
	t.links[link{a, b}] = true
}

// order is the order of the kinds in a link.
var order = map[criteria.Kind]int{criteria.Requirement: 0, criteria.Epic: 1, criteria.Story: 2, criteria.Criterion: 3}

// hasLink reports whether two entities are linked; a has the earlier kind.
func (t *tracer) hasLink(a, b entity) bool { return t.links[link{a, b}] }

// uniqueID returns a name that no other entity of its kind has.
func (t *tracer) uniqueID(kind criteria.Kind, id string) string {
	key := string(rune('0'+kind)) + id
	t.ids[key]++
	if n := t.ids[key]; n > 2 {
		return id + "′" + strconv.Itoa(n)
	} else if n == 2 {
		return id + "′"
	}
	return id
}

// addNodes adds the entities of the document that defines the criteria.
func (t *tracer) addNodes() {
	t.ids, t.storyByKey = map[string]int{}, map[string]int{}
	t.defined, t.named = map[int][]int{}, map[int][]int{}
	stage := t.facts.Documents[t.facts.Criteria.Defined].Stage
	t.of = make([]owner, len(t.base.Nodes))
	for i, n := range t.base.Nodes {
		t.of[i] = nobody
		name := t.base.Name(i)
		place := Place{stage, n.Line + 1}
		switch {
		case name == "":
		case n.IsWork():
			t.of[i].story = t.addStory(Story{ID: name, Title: n.Title, Place: place})
		case n.Kind == criteria.Requirement:
			t.of[i].requirement = len(t.out.Requirements)
			t.out.Requirements = append(t.out.Requirements, Requirement{ID: t.uniqueID(n.Kind, name), Text: n.Text, Place: place})
			t.whole = append(t.whole, none)
		case n.Kind == criteria.Epic:
			t.of[i].epic = t.addEpic(n)
		}
	}
	for i, c := range t.facts.Criteria.All {
		n := t.base.Nodes[c.Node]
		t.of[c.Node].criterion = i
		t.out.Criteria = append(t.out.Criteria, Criterion{ID: c.ID, Text: c.Text, Place: Place{stage, n.Line + 1}, Sprints: c.Sprints, State: Open})
	}
}

func (t *tracer) addStory(s Story) int {
	at := len(t.out.Stories)
	if key := criteria.Key(s.ID); key != "" {
		if _, known := t.storyByKey[key]; !known {
			t.storyByKey[key] = at
		}
	}
	s.ID = t.uniqueID(criteria.Story, s.ID)
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

// linkAbove links the nodes of the document with those that they stand below, or that their numbers name.
func (t *tracer) linkAbove() {
	parts := map[string]int{}
	for i, n := range t.base.Nodes {
		if r := t.of[i].requirement; r != none && n.Family != "" {
			parts[n.Family+" "+criteria.FormatNumber(n.Number)] = r
		}
	}
	for i, n := range t.base.Nodes {
		own, around := t.of[i], t.around(t.base, i, t.of)
		if around.story == none && own.criterion != none {
			if s := t.base.Story(i); s != none {
				around.story = t.of[s].story
			}
		}
		if own.requirement != none {
			if t.whole[own.requirement] = around.requirement; around.requirement == none && len(n.Number) > 1 {
				if at, ok := parts[n.Family+" "+criteria.FormatNumber(n.Number[:len(n.Number)-1])]; ok {
					t.whole[own.requirement] = at
				}
			}
		}
		around.criterion = none // what stands below a criterion explains it
		for _, a := range own.entities() {
			for _, b := range around.entities() {
				t.addLink(a, b)
			}
		}
		for _, a := range own.entities() { // a leaf is its own criterion
			t.addLink(a, entity{criteria.Criterion, own.criterion})
		}
	}
}

// entities returns the entities of an owner.
func (o owner) entities() (out []entity) {
	for _, e := range []entity{{criteria.Requirement, o.requirement}, {criteria.Epic, o.epic}, {criteria.Story, o.story}, {criteria.Criterion, o.criterion}} {
		if e.at != none {
			out = append(out, e)
		}
	}
	return out
}

// around returns the innermost entities that a node stands below.
func (t *tracer) around(doc *criteria.Document, i int, of []owner) owner {
	out := nobody
	for at := doc.Nodes[i].Parent; at >= 0; at = doc.Nodes[at].Parent {
		out = out.within(of[at])
	}
	return out
}

// within fills in the entities around the ones of an owner.
func (o owner) within(outer owner) owner {
	if o.requirement == none {
		o.requirement = outer.requirement
	}
	if o.story == none {
		o.story = outer.story
	}
	if o.criterion == none {
		o.criterion = outer.criterion
	}
	if o.epic == none {
		o.epic = outer.epic
	}
	return o
}

// ownersOf returns the entities that each line of a document stands in.
func (t *tracer) ownersOf(doc *criteria.Document, of []owner) []owner {
	out := make([]owner, len(doc.Lines))
	for i := range out {
		out[i] = nobody
	}
	whole := make([]owner, len(doc.Nodes))
	for i, n := range doc.Nodes {
		whole[i] = of[i]
		if n.Parent >= 0 {
			whole[i] = of[i].within(whole[n.Parent])
		}
		for line := n.Line; line < min(n.End, len(out)); line++ {
			out[line] = whole[i]
		}
	}
	return out
}

// linkDocument adds the stories of a later document, and the links in its lines. A story that the first document has,
// too, is the same.
func (t *tracer) linkDocument(d Document, at int) {
	doc := criteria.Read(d.Text)
	of := make([]owner, len(doc.Nodes))
	for i, n := range doc.Nodes {
		of[i] = nobody
		switch name := doc.Name(i); {
		case name == "":
		case n.Kind == criteria.Story, n.IsWork() && d.IsPlan:
			story, known := t.storyByKey[criteria.Key(name)]
			if !known {
				story = t.addStory(Story{ID: name, Title: n.Title, Place: Place{d.Stage, n.Line + 1}})
			}
			of[i].story = story
			if d.IsPlan {
				t.defined[n.Line] = append(t.defined[n.Line], story)
			}
		case n.Kind == criteria.Epic:
			of[i].epic = t.addEpic(n)
		}
		if around := t.around(doc, i, of); of[i].story != none && around.epic != none {
			t.addLink(entity{criteria.Story, of[i].story}, entity{criteria.Epic, around.epic})
		}
	}
	t.linkMentions(doc.Document, doc, of, at)
}

// linkMentions links the entities that each line of a document names with each other, and with those that the line
// stands in. of has the entities of its own nodes, own the document if it is not the one that defines the criteria.
func (t *tracer) linkMentions(doc *markdown.Document, own *criteria.Document, of []owner, at int) {
	isPlan := t.facts.Documents[at].IsPlan
	names := make([][]entity, len(doc.Lines))
	t.collect(t.base, t.of, doc, own == nil, names)
	owners := t.ownersOf(t.base, t.of)
	if own != nil {
		t.collect(own, of, doc, true, names)
		owners = t.ownersOf(own, of)
	}
	skipped := doc.LinesOf(doc.Sections(markdown.Omissions))
	for line, list := range names {
		if len(list) == 0 {
			continue
		}
		if skipped[line] || isAside(doc.Said[line]) {
			continue
		}
		if isPlan {
			t.noteNamed(line, list)
		}
		t.linkLine(doc, line, owners[line], list, own == nil)
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

// noteNamed notes the stories that a line of the plan names, by themselves or by their epic.
func (t *tracer) noteNamed(line int, list []entity) {
	seen := map[entity]bool{}
	for _, e := range list {
		if seen[e] {
			continue
		}
		seen[e] = true
		switch e.kind {
		case criteria.Story:
			t.named[line] = append(t.named[line], e.at)
		case criteria.Epic:
			t.named[line] = append(t.named[line], t.storiesOf(e.at)...)
		default:
		}
	}
}

// storiesOf returns the stories of an epic of the first document.
func (t *tracer) storiesOf(epic int) (out []int) {
	for s := range t.out.Stories {
		if t.hasLink(entity{criteria.Epic, epic}, entity{criteria.Story, s}) {
			out = append(out, s)
		}
	}
	return out
}

// linkLine links what a line names.
func (t *tracer) linkLine(doc *markdown.Document, line int, in owner, names []entity, isBase bool) {
	_, isRow := doc.Rows[line]
	byKind := map[criteria.Kind][]entity{}
	for _, e := range names {
		if !slices.Contains(byKind[e.kind], e) && len(byKind[e.kind]) < maxOfLine {
			byKind[e.kind] = append(byKind[e.kind], e)
		}
	}
	around := in.entities()
	if in.requirement == none && in.story == none {
		around = nil
		if isRow || criteria.BeginsEntry(doc.Written(line)) {
			t.linkEntry(byKind, isRow)
		}
		if in.epic != none {
			around = []entity{{criteria.Epic, in.epic}}
		}
	}
	for _, a := range around {
		for kind, list := range byKind {
			isOther := kind == criteria.Epic || kind == criteria.Story && a.kind != criteria.Requirement
			if isOther || isBase && kind == criteria.Criterion && a.kind == criteria.Story {
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
func (t *tracer) linkEntry(byKind map[criteria.Kind][]entity, isRow bool) {
	for _, pair := range [][2]criteria.Kind{
		{criteria.Requirement, criteria.Story}, {criteria.Requirement, criteria.Epic}, {criteria.Requirement, criteria.Criterion}, {criteria.Story, criteria.Criterion},
	} {
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
