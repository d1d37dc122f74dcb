package render

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	gfm "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

func (w *writer) writeChildren(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeInline {
			w.writeInline(c)
		} else {
			w.writeBlock(c)
		}
	}
}

func (w *writer) writeBlock(n ast.Node) {
	from, to := w.linesOf(n)
	switch n := n.(type) {
	case *ast.TextBlock:
		w.writeChildren(n)
	case *ast.Heading:
		w.writeHeading(n)
	case *ast.Paragraph:
		w.writeElement(n, "p", "paragraph")
	case *ast.Blockquote:
		w.writeElement(n, "blockquote", "quote")
	case *ast.List:
		tag, start := "ul", ""
		if n.IsOrdered() {
			tag = "ol"
			if n.Start != 1 {
				start = fmt.Sprintf(` start="%d"`, n.Start)
			}
		}
		w.writeRaw("<" + tag + start + ">\n")
		w.writeChildren(n)
		w.writeRaw("</" + tag + ">\n")
	case *ast.ListItem:
		w.writeElement(n, "li", "item")
	case *ast.ThematicBreak:
		w.writeRaw("<hr" + w.addBlock("rule", from, to) + ">\n")
	case *ast.CodeBlock:
		w.writeCode(n, "", from, to)
	case *ast.FencedCodeBlock:
		w.writeFence(n, from, to)
	case *ast.HTMLBlock:
		inner := string(n.Lines().Value(w.src))
		if n.HasClosure() {
			inner += string(n.ClosureLine.Value(w.src))
		}
		w.showSource("div", htmlKind(inner), inner, w.addBlock("html", from, to))
	case *ast.LinkReferenceDefinition:
		w.showSource("div", "reference", string(n.Lines().Value(w.src)), w.addBlock("reference", from, to))
	case *gfm.Table:
		w.writeTable(n)
	case *gfm.TableHeader, *gfm.TableRow:
		w.writeRow(n, from, to)
	default:
		w.writeChildren(n)
	}
}

func (w *writer) writeElement(n ast.Node, tag, kind string) {
	from, to := w.linesOf(n)
	w.writeRaw("<" + tag + w.addBlock(kind, from, to) + ">")
	w.writeChildren(n)
	w.writeRaw("</" + tag + ">\n")
}

func (w *writer) writeHeading(n *ast.Heading) {
	id, isOwn := n.AttributeString("id")
	if !isOwn {
		w.writeElement(n, fmt.Sprintf("h%d", min(n.Level+1, 6)), "heading")
		return
	}
	w.writeRaw(fmt.Sprintf(`<h%d id="%s">`, n.Level, id))
	w.writeChildren(n)
	w.writeRaw(fmt.Sprintf("</h%d>\n", n.Level))
}

func (w *writer) writeFence(n *ast.FencedCodeBlock, from, to int) {
	language := ""
	if n.Info != nil {
		info := strings.TrimSpace(string(n.Info.Segment.Value(w.src)))
		language = info
		if at := strings.IndexFunc(info, func(r rune) bool { return unicode.IsSpace(r) || visible.Hides(string(r)) }); at > 0 {
			language = info[:at]
		}
		w.line = from
		w.writeRaw(`<span class="language">`)
		w.writeText(language)
		w.writeRaw("</span>")
		if rest := strings.TrimSpace(info[len(language):]); rest != "" {
			w.showSource("code", "info", rest, "")
		}
	}
	w.writeCode(n, language, from, to)
}

func (w *writer) writeCode(n ast.Node, language string, from, to int) {
	source := string(n.Lines().Value(w.src))
	attributes := ""
	if strings.EqualFold(language, "mermaid") {
		attributes = fmt.Sprintf(` data-diagram="%d"`, len(w.page.Diagrams))
		w.page.Diagrams = append(w.page.Diagrams, Diagram{from, to, source})
		w.addDiagramComments(n)
	}
	w.writeRaw("<pre" + attributes + w.addBlock("code", from, to) + "><code>")
	at, lines := 0, n.Lines()
	ScanCode(language, source, func(class, part string) {
		if class != "" {
			w.writeRaw(`<span class="` + class + `">`)
		}
		for line := range strings.Lines(part) {
			if at < lines.Len() {
				w.line = w.lineAt(lines.At(at).Start)
			}
			w.writeText(line)
			at += strings.Count(line, "\n")
		}
		if class != "" {
			w.writeRaw("</span>")
		}
	})
	w.writeRaw("</code></pre>\n")
}

// addDiagramComments lists the comments of a diagram, which a drawing leaves out.
func (w *writer) addDiagramComments(n ast.Node) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		if text := strings.TrimSpace(string(line.Value(w.src))); strings.HasPrefix(text, "%%") {
			w.line = w.lineAt(line.Start)
			w.addHidden("comment", visible.Text(text))
		}
	}
}

// writeTable writes a table in a box that scrolls by itself.
func (w *writer) writeTable(n ast.Node) {
	w.writeRaw(`<div class="sheet"><table>` + "\n<thead>\n")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.writeBlock(c)
		if c == n.FirstChild() {
			w.writeRaw("</thead>\n<tbody>\n")
		}
	}
	w.writeRaw("</tbody>\n</table></div>\n")
}

// writeRow writes a row of a table, and then the cells without a column.
func (w *writer) writeRow(n ast.Node, from, to int) {
	tag := "td"
	if n.Kind() == gfm.KindTableHeader {
		tag = "th"
	}
	w.writeRaw("<tr" + w.addBlock("row", from, to) + ">")
	end := n.Pos()
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		tag := tag
		if c.FirstChild() == nil {
			tag = "td" // a heading without words is none
		}
		w.writeRaw("<" + tag + ">")
		w.writeChildren(c)
		w.writeRaw("</" + tag + ">")
		if c.Lines().Len() > 0 {
			end = max(end, c.Lines().At(c.Lines().Len()-1).Stop)
		}
	}
	line, _, _ := bytes.Cut(w.src[min(end, len(w.src)):], []byte("\n"))
	if rest := strings.Trim(string(line), "| \t\r"); rest != "" && n.Kind() == gfm.KindTableRow {
		w.writeRaw("<td>")
		w.showSource("code", "cell", rest, "")
		w.writeRaw("</td>")
	}
	w.writeRaw("</tr>\n")
}

// showSource writes a part of the source hidden from other readers.
func (w *writer) showSource(tag, kind, source, attributes string) {
	w.addHidden(kind, strings.TrimSpace(source))
	w.writeRaw("<" + tag + ` class="hidden-html" data-kind="` + kind + `"` + attributes + ">")
	w.writeText(source)
	w.writeRaw("</" + tag + ">")
}

func htmlKind(source string) string {
	if strings.HasPrefix(strings.TrimSpace(source), "<!--") {
		return "comment"
	}
	return "html"
}

func (w *writer) writeInline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.line = w.lineAt(n.Segment.Start)
		s := string(n.Segment.Value(w.src))
		if !n.IsRaw() {
			s = decodeText(s)
		}
		w.writeText(s)
		if n.HardLineBreak() {
			w.writeRaw("<br>")
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.writeRaw("\n")
		}
	case *ast.String:
		w.writeText(string(n.Value))
	case *ast.CodeSpan:
		w.writeWrapped(n, "code")
	case *ast.Emphasis:
		w.writeWrapped(n, map[bool]string{true: "strong", false: "em"}[n.Level > 1])
	case *gfm.Strikethrough:
		w.writeWrapped(n, "del")
	case *gfm.TaskCheckBox:
		w.writeRaw(map[bool]string{true: `<span class="task">☑</span> `, false: `<span class="task">☐</span> `}[n.IsChecked])
	case *ast.Link:
		w.writeLink(n)
	case *ast.AutoLink:
		address := string(n.URL(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
			address = "mailto:" + address
		}
		end := w.startLink(address, address)
		w.writeText(string(n.Label(w.src)))
		w.writeRaw(end)
	case *ast.Image:
		address := decodeText(string(n.Destination))
		if title := decodeText(string(n.Title)); title != "" {
			address += ` "` + title + `"`
		}
		w.addHidden("image", strings.TrimSpace(w.plainText(n)+" ("+address+")"))
		w.writeRaw(`<span class="image" data-kind="image">`)
		w.writeChildren(n)
		w.writeRaw(" <code>(")
		w.writeText(address)
		w.writeRaw(")</code></span>")
	case *ast.RawHTML:
		source := string(n.Segments.Value(w.src))
		w.showSource("code", htmlKind(source), source, "")
	default:
		w.writeChildren(n)
	}
}

func (w *writer) writeWrapped(n ast.Node, tag string) {
	w.writeRaw("<" + tag + ">")
	w.writeChildren(n)
	w.writeRaw("</" + tag + ">")
}

// linesOf returns the first and the last line of a block.
func (w *writer) linesOf(n ast.Node) (from, to int) {
	start, end := -1, -1
	grow := func(at, stop int) {
		if at >= 0 && (start < 0 || at < start) {
			start = at
		}
		end = max(end, stop)
	}
	add := func(lines *text.Segments) {
		for i := range lines.Len() {
			s := lines.At(i)
			grow(s.Start, max(s.Start, s.Stop-1))
		}
	}
	ofLine := n
	for ofLine.Type() == ast.TypeBlock {
		grow(ofLine.Pos(), ofLine.Pos())
		add(ofLine.Lines())
		if ofLine.LastChild() == nil {
			break
		}
		ofLine = ofLine.LastChild()
	}
	if h, ok := ofLine.(*ast.HTMLBlock); ok && h.HasClosure() {
		grow(h.ClosureLine.Start, h.ClosureLine.Start)
	}
	for c := n.FirstChild(); start < 0 && c != nil && c.Type() == ast.TypeBlock; c = c.FirstChild() {
		grow(c.Pos(), c.Pos())
		add(c.Lines())
	}
	from = max(w.lineAt(max(start, 0)), 1+w.base)
	if len(w.page.Blocks) > 0 {
		from = max(from, w.page.Blocks[len(w.page.Blocks)-1].From)
	}
	to = max(from, w.lineAt(max(end, 0)))
	if ofLine.Kind() == ast.KindFencedCodeBlock {
		to = w.closingFence(to)
	}
	return from, to
}

// closingFence returns the line of the fence after a block of code, which the block's lines leave out.
func (w *writer) closingFence(to int) int {
	n := to - w.base
	if n > w.lastBreaks() {
		return to
	}
	stop := len(w.src)
	if n < len(w.ends) {
		stop = w.ends[n]
	}
	line := strings.Trim(string(w.src[w.ends[n-1]+1:stop]), "> \t")
	if len(line) >= 3 && (strings.Trim(line, "`") == "" || strings.Trim(line, "~") == "") {
		return to + 1
	}
	return to
}
