package criteria

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
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

// announce reads a line that announces criteria. What follows it on the same line is the criterion of a story; that of
// a requirement with an id is the requirement itself.
func (r *reader) announce(l line) bool {
	if l.label == "" || len(l.label) > 120 || !isAcceptance(l.label) {
		return false
	}
	sentence := l.form != Heading && !l.bold && l.rest != "" && l.number >= 0
	if l.at == r.titleLine && l.form == Heading {
		r.aboutCriteria = true
		return false
	}
	if sentence || r.sections[l.at]&(isOmitted|isNaming) != 0 {
		return false
	}
	if _, _, ok := r.identify(l); ok || criterionWord.MatchString(l.label) {
		return false // it defines a criterion
	}
	out := &list{depth: depthOfLabel, indent: -1, base: -1, criterion: -1}
	switch {
	case l.form == Heading:
		out.depth = 10 * l.level
	case l.form == Item:
		out.depth, out.indent = depthOfItem+l.indent, l.indent
	case l.indent > 1:
		out.depth, out.indent = depthOfItem+l.indent, l.indent-1
	default:
		r.close(depthOfItem, l.at)
	}
	if r.list != nil && r.list.criterion >= 0 && out.depth > r.list.depth && r.nodes[r.list.criterion].placed && l.form == Item {
		return false // a part of a criterion
	}
	out.scenarios = slices.ContainsFunc(scenarios, func(w string) bool { return markdown.MatchesName(markdown.NameOf(l.label), []string{w}) })
	if l.form == Heading {
		r.add(Node{Kind: Section, Form: Heading, Line: l.at}, 10*l.level)
	}
	r.list = out
	if around := r.near(); l.rest != "" && l.form != Heading && around >= 0 && r.nodes[around].Kind == Story && hasWords(l.rest) && !r.itemsFollow(l.at) {
		l.number = -1
		r.addPlaced(l, l.rest)
	}
	return true
}

// itemsFollow reports whether the next line with text is an item.
func (r *reader) itemsFollow(i int) bool {
	next := r.nextText(i)
	if next < 0 {
		return false
	}
	_, _, ok := markdown.Item(r.doc.Lines[next])
	return ok
}

// isAcceptance reports whether a label announces criteria.
func isAcceptance(label string) bool {
	name := markdown.NameOf(label)
	return name != "" && utf8.RuneCountInString(name) <= 80 && markdown.MatchesName(name, acceptance)
}

// endList ends the list of criteria at a node of a depth.
func (r *reader) endList(depth int) {
	if r.list != nil && (depth < r.list.depth || depth <= depthOfBold && r.list.depth > 60) {
		r.list = nil
	}
}

// addScenario adds a named scenario, a criterion of the node around.
func (r *reader) addScenario(l line, number, title string) {
	if r.sections[l.at]&(isOmitted|isNaming) != 0 {
		return
	}
	depth := l.depth()
	if l.form == Paragraph {
		depth = depthOfLabel + min(l.indent, 4)
	}
	if r.list == nil {
		r.list = &list{depth: depth, indent: -1, base: -1, scenarios: true}
		if l.form == Item {
			r.list.indent = l.indent - 1
		}
	}
	n := Node{Kind: Criterion, Form: l.form, Title: clipTitle(title), Line: l.at, placed: true}
	n.Number = parseNumber(number)
	n.Text = r.textOf(l, n.Title)
	r.list.criterion, r.list.begun, r.list.done = r.add(n, depth), true, false
	r.list.base = -1
}

// readListed reads a line below an announcement of criteria.
func (r *reader) readListed(l line) bool {
	s := r.list
	if m := numberAlone.FindStringSubmatch(l.body); l.form == Paragraph && m != nil {
		l.form, l.body = Item, m[2]
		l.number, _ = strconv.Atoi(m[1])
	}
	body := strip(l.body)
	struck := strings.HasPrefix(body, "~~")
	if id, rest, ok := r.identify(l); ok && !struck {
		first := stem(id.Family)
		if l.form == Paragraph && s.depth >= depthOfLabel && !criterionFamilies[first] {
			r.list = nil
			return false
		}
		if l.form == Heading && storyFamilies[first] { // the criteria of one story
			s.criterion, s.base = -1, -1
			n := Node{Kind: Story, Form: Heading, Identifier: id, Title: clipTitle(firstSentence(rest)), Line: l.at}
			n.Text = r.textOf(l, rest)
			r.add(n, l.depth())
			return true
		}
		if s.criterion >= 0 && r.nodes[s.criterion].placed && l.form == Item && s.base >= 0 && l.indent > s.base+1 {
			return true
		}
		if l.form == Item && s.base < 0 {
			s.base = l.indent
		}
		s.criterion = r.addDefined(l, id, rest, Criterion)
		r.nodes[s.criterion].listed = true
		r.nodes[s.criterion].marked = l.bold || l.form == Heading || !strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, " - ")
		s.begun = false
		return true
	}
	switch l.form {
	case Heading:
		return false
	case Item:
		return r.readListedItem(l, body, struck)
	}
	given, step := isGiven(body), isStep(body)
	switch {
	case struck:
	case l.indent > s.base+1 && s.base >= 0 && s.criterion >= 0: // a line of the item above
	case given && !(s.begun && s.criterion >= 0 && !s.done && !r.hasStep(s.criterion)):
		r.addPlaced(l, body)
		s.begun, s.done = true, thenWord.MatchString(body)
	case step && s.criterion < 0:
		r.addPlaced(l, body)
		s.begun, s.done = true, thenWord.MatchString(body)
	case step:
		s.done = s.done || thenWord.MatchString(body)
	case l.bold && l.rest == "" || l.bold && s.depth >= depthOfLabel && !isInside(l.label):
		// A label right below the announcement divides the list, as others then do; else another label ends it.
		s.grouped = s.grouped || s.criterion < 0
		if s.depth >= depthOfLabel && (!s.grouped || endLabel.MatchString(l.label)) && !r.stepsFollow(l.at) {
			r.list = nil
			return false
		}
		s.criterion, s.base = -1, -1
	case s.depth >= depthOfLabel && r.blank && s.base >= 0 && l.indent <= 1 && l.label != "" && l.rest == "":
		r.list = nil
		return false
	}
	return true
}

// isInside reports whether a label is one of a step, and not of a section.
func isInside(label string) bool { return isGiven(label) || isStep(label) }

// hasStep reports whether a scenario has its first step already.
func (r *reader) hasStep(node int) bool { return !r.nodes[node].placed || r.nodes[node].Title == "" }

// stepsFollow reports whether the next line with text is a step of a scenario.
func (r *reader) stepsFollow(i int) bool {
	next := r.nextText(i)
	return next >= 0 && isGiven(strip(Narrow(r.doc.Said[next])))
}

// groupWord is a label that divides a list of criteria.
var groupWord = pattern.New(`(?i)^(?:functional|functionality|function|integration|quality|non-?functional|performance|security|usability|accessibility|error handling|edge cases?|happy path|negative|positive|ui|ux|backend|frontend|must have|should have|core|general|功能|集成|质量|性能|安全|异常|边界|正常|界面|可用性|funktional|qualität|fonctionnel|qualité|funcional|calidad|qualidade|desempenho|integração)`)

// readListedItem reads an item below an announcement of criteria.
func (r *reader) readListedItem(l line, body string, struck bool) bool {
	s := r.list
	if s.base < 0 {
		if s.criterion >= 0 && s.begun { // the steps of a scenario
			s.done = s.done || thenWord.MatchString(body)
			return true
		}
		s.base = l.indent
	}
	switch {
	case l.indent > s.base+1:
		return true // a part of the criterion above
	case l.indent < s.base:
		s.base = l.indent
	}
	if struck {
		s.criterion, s.begun = -1, false
		return true
	}
	given, step, whole := isGiven(body), isStep(body), thenWord.MatchString(body)
	continues := step && s.criterion >= 0 && s.begun && (!s.done || !whole && !strings.HasPrefix(strings.ToLower(body), "when")) && !(l.number >= 0 && whole && s.done)
	if step && !given && continues {
		s.done = s.done || whole
		return true
	}
	if isGroup(l) && r.deeperFollows(l) {
		s.base, s.criterion = -1, -1
		return true
	}
	r.addPlaced(l, body)
	s.begun, s.done = given || step, whole
	return true
}

// isGroup reports whether an item is only the name of a group of criteria.
func isGroup(l line) bool {
	short := len(strings.Fields(l.label)) <= 5 && len(l.label) <= 60
	return l.number < 0 && l.label != "" && l.rest == "" && short && (l.bold || groupWord.MatchString(markdown.NameOf(l.label)))
}

// deeperFollows reports whether the next line is an item below this one.
func (r *reader) deeperFollows(l line) bool {
	next := r.nextText(l.at)
	if next < 0 {
		return false
	}
	indent, _, ok := markdown.Item(r.doc.Lines[next])
	return ok && indent > l.indent
}

// addPlaced adds a criterion without an id of its own.
func (r *reader) addPlaced(l line, body string) {
	if r.sections[l.at]&(isOmitted|isNaming) != 0 || !hasWords(body) {
		return
	}
	depth := l.depth()
	if l.form == Paragraph {
		depth = depthOfLabel + 1
	}
	n := Node{Kind: Criterion, Form: l.form, Line: l.at, placed: true, scenario: r.list.scenarios, guessed: r.list.guessed}
	if l.number > 0 {
		n.Number = []int{l.number}
	}
	n.Text = r.textOf(l, body)
	r.list.criterion = r.add(n, depth)
}

// readSteps reads a scenario in paragraphs or items below a story that has announced none.
func (r *reader) readSteps(l line) bool {
	if r.list != nil || l.form == Heading || !isGiven(strip(l.body)) || r.near() < 0 || r.sections[l.at]&(isOmitted|isNaming) != 0 {
		return false
	}
	next := r.nextText(l.at)
	if !thenWord.MatchString(l.body) && (next < 0 || !isStep(strip(Narrow(r.doc.Said[next])))) {
		return false
	}
	r.list = &list{depth: depthOfLabel, indent: l.indent - 1, base: -1, criterion: -1, scenarios: true}
	if l.form == Paragraph {
		r.list.indent = -1
	}
	return r.readListed(l)
}
