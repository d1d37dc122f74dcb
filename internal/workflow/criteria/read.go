package criteria

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// Read reads the nodes of a document.
func Read(text string) *Document { return ReadDocument(markdown.Read(text, nil)) }

// ReadDocument reads the nodes of a document of Markdown.
func ReadDocument(doc *markdown.Document) *Document {
	out := readNodes(doc)
	out.markLeaves()
	out.nameNodes()
	return out
}

// ReadFormer reads the nodes that a document owed by the rules of former programs, which runs keep that began with
// them: of AC, FR and US the first family, else the ids in sections of acceptance criteria.
func ReadFormer(text string) *Document {
	out := readNodes(markdown.Read(text, nil))
	out.markFormer()
	out.nameNodes()
	return out
}

// readNodes reads the nodes without their names.
func readNodes(doc *markdown.Document) *Document {
	out := &Document{Document: doc, titleLine: -1}
	if _, at := doc.Title(); at >= 0 && slices.ContainsFunc(doc.Heads[at+1:], func(h markdown.Heading) bool { return h.Level <= 6 }) {
		out.titleLine = doc.Heads[at].Line
	}
	r := reader{doc: doc, sections: classify(doc), titleLine: out.titleLine, stories: map[string]int{}, others: map[int]bool{}}
	for i := range doc.Lines {
		r.readLine(i)
	}
	r.close(0, len(doc.Lines))
	out.Nodes = r.nodes
	out.chooseNodes(r.sections)
	return out
}

// Depths of nodes: a heading has ten times its level. Bold lines and paragraphs are below all headings, labels below
// these, and items below labels, by their indentation.
const (
	depthOfBold  = 70
	depthOfLabel = 75
	depthOfItem  = 80
	depthOfRow   = 130
	maxIndent    = 40
)

// reader goes through a document once.
type reader struct {
	doc      *markdown.Document
	sections []class
	nodes    []Node
	open     []frame
	// list is the list of criteria that the current line may belong to, nil if none was announced.
	list *list
	// blank is true if the line before is empty.
	blank bool
	// titleLine is that of the document, stories are the nodes of stories by their numbers, and others the tables
	// about something else than requirements.
	titleLine int
	stories   map[string]int
	others    map[int]bool
	// aboutCriteria is true if the document is named after criteria: each section may list some.
	aboutCriteria bool
	// gherkin is true in a code block with scenarios.
	gherkin bool
}

// frame is a node that the current line is below.
type frame struct{ depth, node int }

// readLine reads one line of the document.
func (r *reader) readLine(i int) {
	if r.doc.Code[i] {
		r.readCode(i)
		return
	}
	r.gherkin = false
	if strings.TrimSpace(r.doc.Said[i]) == "" {
		r.blank = true
		return
	}
	defer func() { r.blank = false }()
	if row, ok := r.doc.Rows[i]; ok {
		r.readRow(i, row)
		return
	}
	if strings.Contains(r.doc.Said[i], "|") && r.isTableHead(i) {
		return
	}
	l := r.splitLine(i)
	if l.body == "" && l.form != Heading {
		return
	}
	r.leave(l)
	switch {
	case r.announce(l):
	case r.name(l):
	case r.list != nil && r.readListed(l):
	case r.define(l):
	case r.readSteps(l):
	case l.form == Heading:
		r.add(Node{Kind: Section, Form: Heading, Title: clipTitle(markdown.Unnumbered(l.body)), Line: i}, 10*l.level)
		if r.aboutCriteria && r.sections[i]&isOther == 0 {
			r.list = &list{depth: 10 * l.level, indent: -1, base: -1, criterion: -1, guessed: true}
		}
	}
}

// leave ends what a line cannot belong to.
func (r *reader) leave(l line) {
	switch {
	case l.form == Heading:
		r.close(10*l.level, l.at)
		if r.list != nil && (r.list.depth >= 10*l.level || r.list.depth > 60) {
			r.list = nil
		}
	case l.form == Item:
		r.close(depthOfItem+l.indent, l.at)
		if r.list != nil && l.indent <= r.list.indent {
			r.list = nil
		}
	case r.blank && l.indent <= 1:
		r.close(depthOfItem, l.at)
		if r.list != nil && r.list.indent >= 0 {
			r.list = nil
		}
	}
}

// close ends the nodes of a depth and below.
func (r *reader) close(depth, line int) {
	for len(r.open) > 0 && r.open[len(r.open)-1].depth >= depth {
		r.nodes[r.open[len(r.open)-1].node].End = line
		r.open = r.open[:len(r.open)-1]
	}
}

// add adds a node below the open ones, and opens it.
func (r *reader) add(n Node, depth int) int {
	r.close(depth, n.Line)
	n.Parent = -1
	if len(r.open) > 0 {
		n.Parent = r.open[len(r.open)-1].node
	}
	n.End = n.Line + 1
	if number := FormatNumber(n.Number); n.Kind == Story && number != "" {
		if _, known := r.stories[number]; !known {
			r.stories[number] = len(r.nodes)
		}
	}
	r.nodes = append(r.nodes, n)
	r.open = append(r.open, frame{depth, len(r.nodes) - 1})
	return len(r.nodes) - 1
}

// name reads a line that names an epic, a story, a requirement or a scenario by a word: "Story 1.2: Sign in".
func (r *reader) name(l line) bool {
	body := strip(l.body)
	if !l.bold && l.form == Paragraph && !strings.ContainsAny(body[:min(len(body), 60)], ":：") {
		return false
	}
	if m := scenarioWord.FindStringSubmatch(body); m != nil && (l.form == Heading || l.bold || l.label != "" || m[1] != "") {
		r.addScenario(l, m[1], m[2])
		return true
	}
	if m := gherkinFeature.FindStringSubmatch(body); m != nil && l.form == Paragraph && !l.bold && r.list == nil {
		r.addFeature(l, m[1])
		return true
	}
	if r.list != nil && r.list.criterion >= 0 && l.form != Heading && r.list.depth >= depthOfLabel && !l.bold {
		return false
	}
	text := markdown.Unnumbered(body)
	kind, form := Section, Identifier{}
	switch {
	case epicWord.MatchString(text):
		kind, form = Epic, wordID(epicWord, text)
	case storyWord.MatchString(text):
		kind, form = Story, wordID(storyWord, text)
		if strings.HasPrefix(strings.ToLower(text), "user") {
			form.Family = "US"
		}
	case featureWord.MatchString(text):
		form = wordID(featureWord, text)
	case requirementWord.MatchString(text):
		kind, form = Requirement, wordID(requirementWord, text)
	case l.form == Heading && requirementName.MatchString(text):
		kind = Requirement
	case l.form == Heading && storyName.MatchString(text):
		kind = Story
	default:
		return false
	}
	if l.form != Heading && (kind == Epic || kind == Section) {
		return false
	}
	depth := l.depth()
	r.endList(depth)
	title := titleBehind(text, form.Written)
	if form.Written == "" {
		_, title, _ = strings.Cut(text, ":")
		title = clipTitle(title)
	}
	n := Node{Kind: kind, Form: l.form, Identifier: form, Title: title, Line: l.at}
	n.Text = r.textOf(l, title)
	r.add(n, depth)
	return true
}

// addFeature adds the feature that scenarios stand below, unless a story is around.
func (r *reader) addFeature(l line, title string) {
	if r.near() < 0 {
		r.add(Node{Kind: Section, Form: l.form, Title: clipTitle(title), Line: l.at}, depthOfBold+1)
	}
}

// define reads a line that defines an id.
func (r *reader) define(l line) bool {
	body := strip(l.body)
	if strings.HasPrefix(body, "~~") {
		r.endList(l.depth())
		r.add(Node{Kind: Section, Form: l.form, Line: l.at, struck: true}, l.depth())
		return true
	}
	if story, id, rest, ok := readQualified(body); ok && l.form != Heading {
		n := Node{Kind: Criterion, Form: l.form, Identifier: id, Title: clipTitle(firstSentence(rest)), Line: l.at}
		n.Text = r.textOf(l, rest)
		r.addBelow(n, story, l.depth())
		return true
	}
	id, rest, ok := r.identify(l)
	if !ok {
		return false
	}
	kind := Requirement
	switch first := stem(id.Family); {
	case criterionFamilies[first]:
		kind = Criterion
	case storyFamilies[first]:
		kind = Story
	case epicFamilies[first]:
		kind = Epic
	}
	r.addDefined(l, id, rest, kind)
	return true
}

// addDefined adds a node with an id.
func (r *reader) addDefined(l line, id Identifier, rest string, kind Kind) int {
	depth := l.depth()
	if kind != Criterion {
		r.endList(depth)
	}
	n := Node{Kind: kind, Form: l.form, Identifier: id, Title: clipTitle(firstSentence(rest)), Line: l.at}
	n.Text = r.textOf(l, rest)
	return r.add(n, depth)
}

// near returns the innermost open node that may have criteria, or -1.
func (r *reader) near() int {
	for _, f := range slices.Backward(r.open) {
		if n := r.nodes[f.node]; n.Kind == Story || n.Kind == Requirement || n.Kind == Section && n.Written != "" {
			return f.node
		}
	}
	return -1
}
