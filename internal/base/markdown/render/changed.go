package render

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// Changes renders a document with the differences from an earlier version: the sections of the page have ins around
// added words, and del of the class gone around removed ones; removed blocks, rows and items stand where they stood. All
// text of the new version is there, with its lines. A page that is Plain is not compared.
func Changes(before, after string) Page {
	page, old := Document(after), Document(before)
	if page.Plain || old.Plain {
		return page
	}
	page.HTML = ""
	page.Compared = changes.Sections(before, after)
	c := &comparer{left: workOfPage}
	compared := page.Compared
	if len(page.Outline)+len(old.Outline) == 0 { // blocks are found again without sections
		whole := max(len(before), len(after))
		compared = []changes.Section{{Kind: changes.Changed, From: 1, To: whole, OldFrom: 1, OldTo: whole}}
	}
	page.Sections = c.compareSections(compared, partsOf(old), page.Sections)
	return page
}

// workOfPage bounds the pairs of words compared for a page; beyond it, blocks count as replaced.
const workOfPage = 1 << 23

// comparer compares the blocks of two pages.
type comparer struct {
	left int
	// gone counts the removed blocks.
	gone int
}

func partsOf(p Page) (out []Part) {
	for _, s := range p.Sections {
		out = append(out, s.Parts...)
	}
	return out
}

// compareSections returns the sections of the new page with the changes. compared has for each part of either the section
// in which the words are counted.
func (c *comparer) compareSections(compared []changes.Section, old []Part, now []Section) []Section {
	var out []Section
	for _, s := range now {
		parts := s.Parts
		n := countBefore(compared, parts[0].From)
		out = append(out, c.removeSections(compared[:n], old)...)
		compared = compared[n:]
		s.Parts, s.Folds = nil, true
		for len(parts) > 0 {
			n := countBefore(compared, parts[0].From)
			for _, gone := range c.removeSections(compared[:n], old) { // within a section of the page
				s.Parts, s.Folds = append(s.Parts, gone.Parts...), false
			}
			compared = compared[n:]
			n, of := 1, changes.Section{Kind: changes.Added}
			if len(compared) > 0 {
				of = compared[0]
			}
			for n < len(parts) && parts[n].From <= of.To {
				n++
			}
			done := c.compareParts(partsIn(old, of.OldFrom, of.OldTo), parts[:n])
			if of.Kind == changes.Moved || of.Kind == changes.Added {
				s.Change = of.Kind
			}
			keeps := of.Kind == changes.Same || of.Kind == changes.Moved
			for _, p := range done {
				isNumber := keeps && p.Kind == "heading" // the rest need not be read because of a new number
				s.Folds = s.Folds && (p.Change == "" || isNumber)
			}
			s.Parts, parts = append(s.Parts, done...), parts[n:]
		}
		out = append(out, s)
	}
	return append(out, c.removeSections(compared, old)...)
}

// removeSections returns the sections of the old version that the new one lacks.
func (c *comparer) removeSections(compared []changes.Section, old []Part) (out []Section) {
	for _, s := range compared {
		if s.From > 0 {
			continue
		}
		gone := Section{Title: s.Title, Change: changes.Removed}
		for _, p := range partsIn(old, s.OldFrom, s.OldTo) {
			gone.Parts = append(gone.Parts, c.removePart(p))
		}
		gone.ID = fmt.Sprintf("gone%d", c.gone)
		out = append(out, gone)
	}
	return out
}

// countBefore counts the first sections that end before a line.
func countBefore(all []changes.Section, line int) int {
	n := slices.IndexFunc(all, func(s changes.Section) bool { return s.To >= line })
	if n < 0 {
		return len(all)
	}
	return n
}

// partsIn returns the parts that begin in some lines.
func partsIn(all []Part, from, to int) []Part {
	i := slices.IndexFunc(all, func(p Part) bool { return p.From >= from })
	if from == 0 || i < 0 {
		return nil
	}
	n := i
	for n < len(all) && all[n].From <= to {
		n++
	}
	return all[i:n]
}

func (c *comparer) removePart(p Part) Part {
	c.gone++
	return Part{ID: fmt.Sprintf("g%d", c.gone), Kind: p.Kind, HTML: writeAll(readNodes(p.HTML), writeGone), Change: changes.Removed}
}

// compareParts returns the new parts with the changes, and the removed ones between them.
func (c *comparer) compareParts(old, now []Part) []Part {
	before, after := nodesOf(old), nodesOf(now)
	isPair := func(x, y int) bool {
		isDrawn := hasDiagram(old[x].HTML) || hasDiagram(now[y].HTML)
		return old[x].Kind == now[y].Kind && !isDrawn && isSimilar(before[x], after[y])
	}
	var out []Part
	for _, m := range matchNodes(before, after, isPair) {
		if m.y < 0 {
			out = append(out, c.removePart(old[m.x]))
			continue
		}
		p := now[m.y]
		switch {
		case m.x < 0:
			p.Change, p.HTML = changes.Added, writeAll(after[m.y].kids, writeNew)
		case before[m.x].key() != after[m.y].key():
			var b strings.Builder
			c.writeKids(&b, before[m.x], after[m.y], false)
			p.Change, p.HTML = changes.Changed, HTML(b.String())
		}
		out = append(out, p)
	}
	return out
}

func hasDiagram(source HTML) bool { return strings.Contains(string(source), "<pre data-diagram") }

// nodesOf reads the parts, each into one node.
func nodesOf(parts []Part) []*node {
	out := make([]*node, len(parts))
	for i, p := range parts {
		out[i] = &node{kids: readNodes(p.HTML)}
	}
	return out
}

func writeAll(nodes []*node, write func(*strings.Builder, *node)) HTML {
	var b strings.Builder
	for _, n := range nodes {
		write(&b, n)
	}
	return HTML(b.String())
}

// link is a pair of nodes; -1 is none.
type link struct{ x, y int }

// matchNodes pairs equal nodes, and between them the ones for which isPair is true, in order.
func matchNodes(before, after []*node, isPair func(x, y int) bool) []link {
	from := textdiff.Common(keysOf(after), keysOf(before))
	x, until := 0, nextOld(from, len(before))
	for y := range after {
		if from[y] >= 0 {
			x = from[y] + 1
			continue
		}
		for k := x; k < min(until[y], x+maxAhead); k++ {
			if isPair(k, y) {
				from[y], x = k, k+1
				break
			}
		}
	}
	var out []link
	x, until = 0, nextOld(from, len(before))
	for y := range from {
		for ; x < until[y]; x++ {
			out = append(out, link{x, -1})
		}
		out = append(out, link{from[y], y})
		x = max(x, from[y]+1)
	}
	for ; x < len(before); x++ {
		out = append(out, link{x, -1})
	}
	return out
}

func keysOf(nodes []*node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.key()
	}
	return out
}

// nextOld returns for each new one the old one of the first pair from there on, or the number of all old ones.
func nextOld(from []int, all int) []int {
	out := make([]int, len(from))
	for y, x := range slices.Backward(from) {
		if x >= 0 {
			all = x
		}
		out[y] = all
	}
	return out
}

// maxAhead bounds how many nodes are compared with one.
const maxAhead = 12

// isSimilar reports whether two nodes have enough words in common to show one as a change of the other.
func isSimilar(a, b *node) bool {
	before, after := a.words(), b.words()
	shorter, longer := min(len(before), len(after)), max(len(before), len(after))
	common := textdiff.CountCommon(before, after)
	return 2*common >= shorter && 4*common >= longer
}

// writeKids writes the inside of a node with the changes from another one.
func (c *comparer) writeKids(b *strings.Builder, old, now *node, isCode bool) {
	isCode = isCode || now.tag == "pre"
	before, after := old.blocks(), now.blocks()
	if before == nil || after == nil {
		c.writeRun(b, old, now, isCode)
		return
	}
	if now.tag == "tr" && len(before) == len(after) { // cell by cell
		for i := range after {
			c.writePair(b, before[i], after[i], isCode)
		}
		return
	}
	for _, m := range matchNodes(before, after, func(x, y int) bool { return isNodePair(before[x], after[y]) }) {
		switch {
		case m.y < 0:
			writeGone(b, before[m.x])
		case m.x < 0:
			writeNew(b, after[m.y])
		default:
			c.writePair(b, before[m.x], after[m.y], isCode)
		}
	}
}

func isNodePair(a, b *node) bool {
	switch {
	case a.tag != b.tag:
		return false
	case slices.Contains([]string{"", "div", "table", "thead", "tbody", "pre"}, a.tag):
		return true // one of each, or compared by the part
	}
	return isSimilar(a, b)
}

func (c *comparer) writePair(b *strings.Builder, old, now *node, isCode bool) {
	if old.key() == now.key() {
		writeNode(b, now)
		return
	}
	b.WriteString(now.open)
	c.writeKids(b, old, now, isCode)
	writeEnd(b, now)
}

func writeEnd(b *strings.Builder, n *node) {
	switch n.tag {
	case "", "br", "hr":
	default:
		b.WriteString("</" + n.tag + ">")
	}
}

// writeNode writes a node as it is.
func writeNode(b *strings.Builder, n *node) {
	b.WriteString(html.EscapeString(n.text) + n.open)
	for _, k := range n.kids {
		writeNode(b, k)
	}
	writeEnd(b, n)
}

// writeNew writes a node with marks around all words; the source of a diagram stays whole.
func writeNew(b *strings.Builder, n *node) {
	writeText(b, n.text, "<ins>", "</ins>")
	b.WriteString(n.open)
	write := writeNew
	if hasDiagram(HTML(n.open)) {
		write = writeNode
	}
	for _, k := range n.kids {
		write(b, k)
	}
	writeEnd(b, n)
}

// writeGone writes a node of the old version, without the attributes that lead to a place of this page.
func writeGone(b *strings.Builder, n *node) {
	writeText(b, n.text, goneStart, "</del>")
	switch n.tag {
	case "tr", "td", "th", "li":
		b.WriteString("<" + n.tag + ` class="gone">`)
	default:
		b.WriteString(withoutPlaces(n.open))
	}
	for _, k := range n.kids {
		writeGone(b, k)
	}
	writeEnd(b, n)
}

const goneStart = `<del class="gone">`

// writeText writes a text between marks; white space needs none.
func writeText(b *strings.Builder, text, start, end string) {
	if strings.TrimSpace(text) == "" {
		start, end = "", ""
	}
	b.WriteString(start + html.EscapeString(text) + end)
}
