package render

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// writer writes a parsed document. It knows the elements that it may write, so that no other gets
// into the page.
type writer struct {
	out    strings.Builder
	page   Page
	source []byte
	lines  lines
	// line is the one that is being written.
	line int
	// last is the last line of the blocks before.
	last int
}

// text writes text, with a mark for each character that is invisible.
func (w *writer) text(s string) {
	visible.Parts(s, func(shown string) { w.out.WriteString(html.EscapeString(shown)) }, func(r rune) {
		name := fmt.Sprintf("U+%04X", r)
		w.hide(Unseen, name)
		w.out.WriteString(`<span class="unseen">‹` + name + `›</span>`)
	})
}

// seen returns a text for an attribute: invisible characters are written out.
func seen(s string) string { return html.EscapeString(visible.Line(s)) }

func (w *writer) hide(kind HiddenKind, text string) {
	if len(w.page.Hidden) < maxHidden {
		w.page.Hidden = append(w.page.Hidden, Hidden{w.line, kind, visible.Text(text)})
	}
}

// frontMatter writes the YAML at the beginning of a document as code, and returns the document
// with blanks in its place, so that the lines stay.
func (w *writer) frontMatter() []byte {
	rest, ok := bytes.CutPrefix(w.source, []byte("---\n"))
	end := bytes.Index(rest, []byte("\n---\n"))
	if !ok || end < 0 {
		return w.source
	}
	to := len("---\n") + end + len("\n---\n")
	last := w.lines.at(to - 2)
	w.open("pre", 1, last, `><code class="language-yaml"`)
	w.text(string(rest[:end]))
	w.out.WriteString("</code></pre>\n")
	body := bytes.Clone(w.source)
	for i := range to {
		if body[i] != '\n' {
			body[i] = ' '
		}
	}
	return body
}

// open begins the element of a block, which names its lines.
func (w *writer) open(element string, from, to int, more string) {
	// A block that does not know its lines stands behind those before it.
	from = max(from, 1)
	to = max(min(to, len(w.lines)), from)
	w.line = from
	w.page.Blocks = append(w.page.Blocks, Block{from, to})
	w.out.WriteString("<" + element + ` data-l="` + strconv.Itoa(from) + "-" + strconv.Itoa(to) + `"`)
	if from > w.last { // an address leads to the first block of a line
		w.out.WriteString(` id="l` + strconv.Itoa(from) + `"`)
		w.last = from
	}
	w.out.WriteString(more + ">")
}

func (w *writer) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeInline {
			w.inline(c, depth+1)
		} else {
			w.block(c, depth+1)
		}
	}
}

// within writes a block as an element with its content.
func (w *writer) within(n ast.Node, element, more string, depth int) {
	from, to := w.lines.span(n)
	if n.Kind() == ast.KindHeading && from > 0 && !bytes.HasPrefix(bytes.TrimLeft(w.source[w.lines[from-1]:], " >-+*0123456789.)\t"), []byte("#")) {
		to++ // the line below it makes it a heading
	}
	w.open(element, from, to, more)
	w.children(n, depth)
	w.out.WriteString("</" + element + ">\n")
}

// around writes an element without lines of its own.
func (w *writer) around(n ast.Node, element, more string, depth int) {
	w.out.WriteString("<" + element + more + ">")
	w.children(n, depth)
	w.out.WriteString("</" + element + ">\n")
}

func (w *writer) block(n ast.Node, depth int) {
	if depth > maxDepth {
		w.rest(n)
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		w.heading(n, depth)
	case *ast.Paragraph:
		w.within(n, "p", "", depth)
	case *ast.TextBlock:
		w.children(n, depth)
	case *ast.Blockquote:
		w.around(n, "blockquote", "", depth)
	case *ast.List:
		w.list(n, depth)
	case *ast.ListItem:
		w.within(n, "li", "", depth)
	case *ast.ThematicBreak:
		w.out.WriteString("<hr>\n")
	case *ast.FencedCodeBlock:
		w.fenced(n)
	case *ast.CodeBlock:
		w.code(n, "", 0)
	case *ast.HTMLBlock:
		w.html(n)
	case *ast.LinkReferenceDefinition: // it shows where it is used
	case *extended.Table:
		w.table(n, depth)
	default:
		w.around(n, "div", "", depth)
	}
}

// heading writes a heading one level lower, since the page has a heading of its own.
func (w *writer) heading(n *ast.Heading, depth int) {
	from, _ := w.lines.span(n)
	begin := w.out.Len()
	element := "h" + strconv.Itoa(min(n.Level+1, 6))
	w.within(n, element, "", depth)
	w.page.Outline = append(w.page.Outline, Heading{Level: n.Level, Line: from, ID: "l" + strconv.Itoa(from), Text: textOf(w.out.String()[begin:])})
}

// textOf is the text of HTML that this package wrote.
func textOf(written string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(written, "<") {
		if _, after, ok := strings.Cut(part, ">"); ok {
			out.WriteString(after)
		}
	}
	return strings.TrimSpace(html.UnescapeString(out.String()))
}

func (w *writer) list(n *ast.List, depth int) {
	switch {
	case !n.IsOrdered():
		w.around(n, "ul", "", depth)
	case n.Start == 1:
		w.around(n, "ol", "", depth)
	default:
		w.around(n, "ol", ` start="`+strconv.Itoa(n.Start)+`"`, depth)
	}
}

// table writes a table, whose rows are blocks.
func (w *writer) table(n *extended.Table, depth int) {
	w.out.WriteString("<table>\n")
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		cell, section := "td", "tbody"
		if row.Kind() == extended.KindTableHeader {
			cell, section = "th", "thead"
		}
		w.out.WriteString("<" + section + ">")
		from, to := w.lines.span(row)
		w.open("tr", from, to, "")
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			w.around(c, cell, "", depth)
		}
		w.out.WriteString("</tr></" + section + ">\n")
	}
	w.out.WriteString("</table>\n")
}

func (w *writer) fenced(n *ast.FencedCodeBlock) {
	language := strings.ToLower(string(n.Language(w.source)))
	if strings.Trim(language, "abcdefghijklmnopqrstuvwxyz0123456789+-#_") != "" {
		language = ""
	}
	w.code(n, language, 1)
}

// code writes a code block. around counts the lines before and behind its content that belong to
// it.
func (w *writer) code(n ast.Node, language string, around int) {
	from, to := w.lines.span(n)
	var content strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		content.Write(at.Value(w.source))
	}
	if around > 0 && n.Lines().Len() > 0 {
		from, to = min(from, w.lines.at(n.Lines().At(0).Start)-1), min(to+1, len(w.lines))
	}
	more := ""
	if language == "mermaid" {
		more = ` data-diagram="` + strconv.Itoa(len(w.page.Diagrams)) + `"`
		w.page.Diagrams = append(w.page.Diagrams, Diagram{from, to, content.String()})
	}
	if language != "" {
		more += `><code class="language-` + html.EscapeString(language) + `"`
	} else {
		more += "><code"
	}
	w.open("pre", from, to, more)
	w.text(content.String())
	w.out.WriteString("</code></pre>\n")
}

// html shows HTML as its source.
func (w *writer) html(n *ast.HTMLBlock) {
	from, to := w.lines.span(n)
	var content strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		content.Write(at.Value(w.source))
	}
	if n.HasClosure() {
		content.Write(n.ClosureLine.Value(w.source))
		to = max(to, w.lines.at(n.ClosureLine.Start))
	}
	raw := strings.TrimRight(content.String(), "\n")
	kind := kindOf(raw)
	w.open("div", from, to, ` class="hidden-html" data-kind="`+string(kind)+`"`)
	w.hide(kind, raw)
	w.text(raw)
	w.out.WriteString("</div>\n")
}

func kindOf(raw string) HiddenKind {
	if strings.HasPrefix(strings.TrimSpace(raw), "<!--") {
		return Comment
	}
	return HTML
}

// rest writes the source of what stands too deep.
func (w *writer) rest(n ast.Node) {
	from, to := w.lines.span(n)
	if from == 0 {
		return
	}
	w.open("pre", from, to, "")
	end := len(w.source)
	if to < len(w.lines) {
		end = w.lines[to]
	}
	w.text(string(w.source[w.lines[from-1]:end]))
	w.out.WriteString("</pre>\n")
}

func (w *writer) inline(n ast.Node, depth int) {
	if depth > 2*maxDepth {
		w.text(string(plainOf(n, w.source)))
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		w.line = w.lines.at(n.Segment.Start)
		w.text(string(unescaped(n, w.source)))
		switch {
		case n.HardLineBreak():
			w.out.WriteString("<br>\n")
		case n.SoftLineBreak():
			w.out.WriteString("\n")
		}
	case *ast.String:
		w.text(string(n.Value))
	case *ast.CodeSpan:
		w.out.WriteString("<code>")
		w.text(strings.ReplaceAll(string(plainOf(n, w.source)), "\n", " "))
		w.out.WriteString("</code>")
	case *ast.Emphasis:
		w.mark(n, map[int]string{1: "em", 2: "strong"}[min(n.Level, 2)], depth)
	case *extended.Strikethrough:
		w.mark(n, "del", depth)
	case *ast.Link:
		w.link(n, string(n.Destination), string(n.Title), depth)
	case *ast.AutoLink:
		w.autoLink(n)
	case *ast.Image:
		w.image(n)
	case *ast.RawHTML:
		w.rawHTML(n)
	case *extended.TaskCheckBox:
		w.out.WriteString(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
	default:
		w.children(n, depth)
	}
}

func (w *writer) mark(n ast.Node, element string, depth int) {
	w.out.WriteString("<" + element + ">")
	w.children(n, depth)
	w.out.WriteString("</" + element + ">")
}

// unescaped is the text of a node without the signs that only Markdown needs.
func unescaped(n *ast.Text, source []byte) []byte {
	value := n.Segment.Value(source)
	if n.IsRaw() {
		return value
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
}

// plainOf is the text of a node without its marks.
func plainOf(n ast.Node, source []byte) []byte {
	var out []byte
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out = append(out, n.Segment.Value(source)...)
			if n.SoftLineBreak() {
				out = append(out, '\n')
			}
		case *ast.String:
			out = append(out, n.Value...)
		}
		return ast.WalkContinue, nil
	})
	return out
}

// follows reports whether an address may be followed from the page.
func follows(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	scheme = strings.ToLower(scheme)
	return ok && (scheme == "http" || scheme == "https" || scheme == "mailto") && !visible.Hides(address)
}

// link writes a link to other sites. One that leads to a file stays text, with its address: the
// page has no such file.
func (w *writer) link(n ast.Node, address, title string, depth int) {
	if !follows(address) {
		w.out.WriteString(`<span class="path" title="` + seen(address) + `">`)
		w.children(n, depth)
		w.out.WriteString("</span>")
		w.concealed(n, address)
		return
	}
	w.out.WriteString(`<a href="` + html.EscapeString(address) + `" rel="noopener noreferrer nofollow"`)
	if title != "" {
		w.out.WriteString(` title="` + seen(title) + `"`)
	}
	w.out.WriteString(">")
	w.children(n, depth)
	w.out.WriteString("</a>")
}

// concealed writes the address of a link that does something else than to lead somewhere.
func (w *writer) concealed(n ast.Node, address string) {
	if scheme, _, ok := strings.Cut(address, ":"); ok && !strings.ContainsAny(scheme, "/.#? ") && string(plainOf(n, w.source)) != address {
		w.out.WriteString(` <code class="hidden-html">`)
		w.hide(HTML, address)
		w.text(address)
		w.out.WriteString("</code>")
	}
}

func (w *writer) autoLink(n *ast.AutoLink) {
	label, address := string(n.Label(w.source)), string(n.URL(w.source))
	if n.AutoLinkType == ast.AutoLinkEmail {
		address = "mailto:" + label
	}
	if !follows(address) {
		w.text(label)
		return
	}
	w.out.WriteString(`<a href="` + html.EscapeString(address) + `" rel="noopener noreferrer nofollow">`)
	w.text(label)
	w.out.WriteString("</a>")
}

// image writes the address of an image, which the page does not load.
func (w *writer) image(n *ast.Image) {
	w.out.WriteString(`<span class="image">🖼 `)
	w.text(string(plainOf(n, w.source)))
	w.out.WriteString(" (")
	w.hide(Image, string(n.Destination))
	w.text(string(n.Destination))
	w.out.WriteString(")</span>")
}

func (w *writer) rawHTML(n *ast.RawHTML) {
	var raw strings.Builder
	for i := range n.Segments.Len() {
		at := n.Segments.At(i)
		raw.Write(at.Value(w.source))
	}
	kind := kindOf(raw.String())
	w.out.WriteString(`<code class="hidden-html" data-kind="` + string(kind) + `">`)
	w.hide(kind, raw.String())
	w.text(raw.String())
	w.out.WriteString("</code>")
}
