package criteria

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

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
		for _, one := range r.rowsOf(row) {
			r.readRow(i, one)
		}
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
			r.list = newList(l, l.depth())
			r.list.guessed = true
		}
	}
}

// leave ends what a line cannot belong to.
func (r *reader) leave(l line) {
	switch {
	case l.form == Heading:
		r.close(10*l.level, l.at)
		if r.list != nil && r.list.depth >= 10*l.level {
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
	if l.form == Paragraph && !l.bold && !strings.Contains(body[:min(len(body), 60)], ":") {
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
	text := markdown.Unnumbered(body)
	kind, id, ok := readWord(text, l.form == Heading)
	isListed := r.list != nil && r.list.criterion >= 0 && r.list.depth >= depthOfLabel && l.form != Heading && !l.bold
	if !ok || isListed {
		return false
	}
	depth := l.depth()
	r.endList(depth)
	title := titleBehind(text, id.Written)
	if id.Written == "" {
		_, title, _ = strings.Cut(text, ":")
		title = clipTitle(title)
	}
	r.add(Node{Kind: kind, Form: l.form, Identifier: id, Title: title, Text: r.textOf(l, title), Line: l.at}, depth)
	return true
}

// readWord reads the word and the number at the beginning of a text. Epics and features are named by headings only, and
// so is what has no number.
func readWord(text string, heading bool) (kind Kind, id Identifier, ok bool) {
	switch {
	case epicWord.MatchString(text):
		return Epic, wordID(epicWord, text), heading
	case storyWord.MatchString(text):
		id = wordID(storyWord, text)
		if strings.HasPrefix(strings.ToLower(text), "user") {
			id.Family = "US"
		}
		return Story, id, true
	case featureWord.MatchString(text):
		return Section, wordID(featureWord, text), heading
	case requirementWord.MatchString(text):
		return Requirement, wordID(requirementWord, text), true
	case requirementName.MatchString(text):
		return Requirement, id, heading
	case storyName.MatchString(text):
		return Story, id, heading
	}
	return 0, id, false
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
	if isStruck(body) {
		r.endList(l.depth())
		r.add(Node{Kind: Section, Form: l.form, Line: l.at, struck: true}, l.depth())
		return true
	}
	if story, id, rest, ok := readQualified(body); ok && l.form != Heading {
		r.addBelow(r.newNode(l, id, rest, Criterion), story, l.depth())
		return true
	}
	id, rest, ok := r.identify(l)
	if ok {
		r.addDefined(l, id, rest, kindOf(id.Family))
	}
	return ok
}

// kindOf returns the kind of the nodes whose ids have the letters of a family.
func kindOf(family string) Kind {
	if kind, ok := kindOfLetters[stem(family)]; ok {
		return kind
	}
	return Requirement
}

// addDefined adds a node with an id.
func (r *reader) addDefined(l line, id Identifier, rest string, kind Kind) int {
	depth := l.depth()
	if kind != Criterion {
		r.endList(depth)
	}
	return r.add(r.newNode(l, id, rest, kind), depth)
}

// newNode returns the node of a line with an id and the text behind it.
func (r *reader) newNode(l line, id Identifier, rest string, kind Kind) Node {
	return Node{Kind: kind, Form: l.form, Identifier: id, Title: clipTitle(firstBytes(rest, 120)), Text: r.textOf(l, rest), Line: l.at}
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
