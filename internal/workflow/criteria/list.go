package criteria

import (
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// list is a list of criteria: an announcement, and what was read below it.
type list struct {
	// depth is the depth of the announcement; items of at most indent end the list.
	depth, indent int
	// base is the indentation of the list's items, -1 before the first.
	base int
	// scenarios is true if the parts of the list are called scenarios.
	scenarios bool
	// criterion is the node of the last criterion, -1 before the first; begun is true if it begins with a step of a
	// scenario, and done if it has told what is then.
	criterion   int
	begun, done bool
	// background is true at the steps before all scenarios of a feature.
	background bool
	// grouped is true if labels divide the list.
	grouped bool
	// guessed is true if the list is one only by the name of the document.
	guessed bool
}

// newList returns an empty list that begins at a line. Items further out end it.
func newList(l line, depth int) *list {
	out := &list{depth: depth, indent: -1, base: -1, criterion: -1}
	if l.form == Item {
		out.indent = l.indent - 1
	}
	return out
}

// listBelow returns the list that a line announces.
func listBelow(l line) *list {
	out := newList(l, l.depth())
	switch {
	case l.form == Item:
		out.indent = l.indent
	case l.form == Paragraph && l.indent > 1:
		out.indent = l.indent - 1
	case l.form == Paragraph:
		out.depth = depthOfLabel
	}
	return out
}

// announce reads a line that announces criteria. What follows it on the same line is the criterion of a story; that of
// a requirement with an id is the requirement itself.
func (r *reader) announce(l line) bool {
	if !isAcceptance(l.label) || r.sections[l.at]&isOmitted != 0 {
		return false
	}
	if l.at == r.titleLine {
		r.aboutCriteria = true
		return false
	}
	out := listBelow(l)
	if isSentence := l.number >= 0 && !l.bold && l.rest != ""; isSentence || r.isPart(l, out.depth) || r.defines(l) {
		return false
	}
	if out.scenarios = markdown.MatchesName(markdown.NameOf(l.label), scenarios); l.form == Heading {
		r.add(Node{Kind: Section, Form: Heading, Line: l.at}, out.depth)
	} else if out.depth == depthOfLabel {
		r.close(depthOfItem, l.at)
	}
	r.list = out
	follows := isItem(r.nextText(l.at))
	if l.form == Item {
		follows = r.deeperFollows(l)
	}
	if around := r.near(); around >= 0 && r.nodes[around].Kind == Story && hasWords(l.rest) && !follows {
		l.number = -1
		r.addPlaced(l, l.rest)
	}
	return true
}

// isPart reports whether an item belongs to the criterion above.
func (r *reader) isPart(l line, depth int) bool {
	return l.form == Item && r.list != nil && r.list.criterion >= 0 && r.nodes[r.list.criterion].placed && depth > r.list.depth
}

// defines reports whether a line defines a criterion.
func (r *reader) defines(l line) bool {
	_, _, ok := r.identify(l)
	return ok || criterionWord.MatchString(l.label)
}

// endList ends the list of criteria at a node of a depth.
func (r *reader) endList(depth int) {
	if r.list != nil && depth < r.list.depth {
		r.list = nil
	}
}

// addScenario adds a named scenario, a criterion of the node around.
func (r *reader) addScenario(l line, number, title string) {
	if title = strings.TrimSpace(title); strings.HasPrefix(title, "[") && strings.HasSuffix(title, "]") || strings.HasPrefix(title, "<") && strings.HasSuffix(title, ">") {
		if r.list != nil { // a template, with the steps below
			r.list.background, r.list.criterion = true, -1
		}
		return
	}
	depth := l.depthInList()
	if r.list == nil {
		r.list = newList(l, depth)
		r.list.scenarios = true
	}
	n := Node{Kind: Criterion, Form: l.form, Identifier: Identifier{Number: parseNumber(number)}, Title: clipTitle(title), Line: l.at, placed: true}
	n.Text = r.textOf(l, n.Title)
	r.list.criterion, r.list.begun, r.list.done = r.add(n, depth), true, false
	r.list.base = -1
}

// readListed reads a line below an announcement of criteria.
func (r *reader) readListed(l line) bool {
	if m := numberAlone.FindStringSubmatch(l.body); l.form == Paragraph && m != nil {
		l.form, l.body = Item, m[2]
		l.number, _ = strconv.Atoi(m[1])
	}
	body := strip(l.body)
	if id, rest, ok := r.identify(l); ok && !isStruck(body) {
		kind := kindOf(id.Family)
		switch {
		case l.form == Paragraph && r.list.depth >= depthOfLabel && kind != Criterion: // behind the list
			r.list = nil
			return false
		case l.form == Heading && kind == Story: // the criteria of one story follow
			r.list.criterion, r.list.base = -1, -1
			n := Node{Kind: Story, Form: Heading, Identifier: id, Title: clipTitle(firstBytes(rest, 120)), Line: l.at}
			n.Text = r.textOf(l, rest)
			r.add(n, l.depth())
			return true
		}
		r.readListedID(l, id, rest)
		return true
	}
	switch l.form {
	case Heading:
		return false
	case Item:
		if r.headsSection(l) {
			r.list = nil
			return false
		}
		r.readListedItem(l, body)
		return true
	}
	return r.readListedText(l, body)
}

// headsSection reports whether a numbered line is a heading without marks behind a list of bullets: a blank line stands
// on both sides.
func (r *reader) headsSection(l line) bool {
	s := r.list
	isFirst := s.criterion < 0 || r.nodes[s.criterion].Form != Item
	apart := r.blank && (l.at+1 == len(r.doc.Said) || strings.TrimSpace(r.doc.Said[l.at+1]) == "")
	if isFirst || !apart || l.number < 0 || l.indent > 0 || s.depth < depthOfLabel {
		return false
	}
	before := r.doc.Lines[r.nodes[s.criterion].Line]
	return !itemNumber.MatchString(before)
}

// readListedID reads a criterion with an id, which may also be a part of the criterion above.
func (r *reader) readListedID(l line, id Identifier, rest string) {
	s := r.list
	if l.form == Item {
		if s.criterion >= 0 && r.nodes[s.criterion].placed && s.base >= 0 && l.indent > s.base+1 {
			return
		}
		if s.base < 0 {
			s.base = l.indent
		}
	}
	s.criterion, s.begun = r.addDefined(l, id, rest, Criterion), false
	n := &r.nodes[s.criterion]
	n.listed, n.marked = true, l.bold || l.form == Heading || !strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, " - ")
}

// readListedText reads a paragraph below an announcement of criteria.
func (r *reader) readListedText(l line, body string) bool {
	s := r.list
	given, step, then := isGiven(body), isStep(body), thenWord.MatchString(body)
	isFirst := s.criterion >= 0 && s.begun && !s.done && r.nodes[s.criterion].placed && r.nodes[s.criterion].Title != ""
	switch {
	case isStruck(body):
	case l.indent > s.base+1 && s.base >= 0 && s.criterion >= 0: // a line of the item above
	case given && !isFirst, step && s.criterion < 0:
		r.addPlaced(l, body)
		s.begun, s.done = true, then
	case step:
		s.done = s.done || then
	default:
		return r.readListedLabel(l)
	}
	return true
}

// readListedLabel reads a label in a list. Below a heading labels divide the list. Below another label, one right behind
// it divides the list, as further ones then do; else they end it.
func (r *reader) readListedLabel(l line) bool {
	s := r.list
	isBelowLabel := s.depth >= depthOfLabel
	if l.bold && (l.rest == "" || isBelowLabel && !isGiven(l.label) && !isStep(l.label)) {
		s.grouped = s.grouped || s.criterion < 0
		if !isBelowLabel || s.grouped && !endLabel.MatchString(l.label) || isGiven(bare(r.nextText(l.at))) {
			s.criterion, s.base = -1, -1
			return true
		}
	} else if !isBelowLabel || !r.blank || s.base < 0 || l.indent > 1 || l.label == "" || l.rest != "" {
		return true
	}
	r.list = nil
	return false
}

func isStruck(body string) bool { return strings.HasPrefix(body, "~~") }

// readListedItem reads an item below an announcement of criteria.
func (r *reader) readListedItem(l line, body string) {
	s := r.list
	given, step, then := isGiven(body), isStep(body), thenWord.MatchString(body)
	inScenario := s.criterion >= 0 && s.begun
	if s.base < 0 && inScenario { // a step of a scenario with a name
		s.done = s.done || then
		return
	}
	if s.base < 0 {
		s.base = l.indent
	}
	if l.indent > s.base+1 {
		return // a part of the criterion above
	}
	s.base = min(s.base, l.indent)
	isNext := !s.done || !then && !whenWord.MatchString(body)
	switch {
	case isStruck(body):
		s.criterion, s.begun = -1, false
	case inScenario && step && isNext:
		s.done = s.done || then
	case isGroup(l) && r.deeperFollows(l):
		s.base, s.criterion = -1, -1
	default:
		r.addPlaced(l, body)
		s.begun, s.done = given || step, then
	}
}

// isGroup reports whether an item is only the name of a group of criteria.
func isGroup(l line) bool {
	short := len(strings.Fields(l.label)) <= 5 && len(l.label) <= 60
	return l.number < 0 && l.label != "" && l.rest == "" && short && (l.bold || groupWord.MatchString(markdown.NameOf(l.label)))
}

// deeperFollows reports whether the next line is an item below this one.
func (r *reader) deeperFollows(l line) bool {
	indent, _, ok := markdown.Item(r.nextText(l.at))
	return ok && indent > l.indent
}

// addPlaced adds a criterion without an id of its own.
func (r *reader) addPlaced(l line, body string) {
	if !hasWords(body) {
		return
	}
	n := Node{Kind: Criterion, Form: l.form, Line: l.at, placed: true, scenario: r.list.scenarios, guessed: r.list.guessed}
	if l.number > 0 {
		n.Number = []int{l.number}
	}
	n.Text = r.textOf(l, body)
	r.list.criterion = r.add(n, l.depthInList())
}

// readSteps reads a scenario in paragraphs or items below a story that has announced none.
func (r *reader) readSteps(l line) bool {
	if r.list != nil || l.form == Heading || !isGiven(strip(l.body)) || r.near() < 0 {
		return false
	}
	if !thenWord.MatchString(l.body) && !isStep(bare(r.nextText(l.at))) {
		return false
	}
	r.list = newList(l, depthOfLabel)
	r.list.scenarios = true
	return r.readListed(l)
}
