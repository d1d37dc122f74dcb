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

func (w *writer) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeInline {
			w.inline(c)
		} else {
			w.block(c)
		}
	}
}

func (w *writer) block(n ast.Node) {
	from, to := w.lines(n)
	switch n := n.(type) {
	case *ast.TextBlock:
		w.children(n)
	case *ast.Heading:
		w.heading(n)
	case *ast.Paragraph:
		w.element(n, "p", "paragraph")
	case *ast.Blockquote:
		w.element(n, "blockquote", "quote")
	case *ast.List:
		tag, start := "ul", ""
		if n.IsOrdered() {
			tag = "ol"
			if n.Start != 1 {
				start = fmt.Sprintf(` start="%d"`, n.Start)
			}
		}
		w.raw("<" + tag + start + ">\n")
		w.children(n)
		w.raw("</" + tag + ">\n")
	case *ast.ListItem:
		w.element(n, "li", "item")
	case *ast.ThematicBreak:
		w.raw("<hr" + w.anchor("rule", from, to) + ">\n")
	case *ast.CodeBlock:
		w.code(n, "", from, to)
	case *ast.FencedCodeBlock:
		w.fence(n, from, to)
	case *ast.HTMLBlock:
		inner := string(n.Lines().Value(w.src))
		if n.HasClosure() {
			inner += string(n.ClosureLine.Value(w.src))
		}
		w.showSource("div", htmlKind(inner), inner, w.anchor("html", from, to))
	case *ast.LinkReferenceDefinition:
		w.showSource("div", "reference", string(n.Lines().Value(w.src)), w.anchor("reference", from, to))
	case *gfm.Table:
		w.raw(`<table tabindex="0">` + "\n") // it scrolls if it is too wide
		w.children(n)
		w.raw("</table>\n")
	case *gfm.TableHeader, *gfm.TableRow:
		w.row(n, from, to)
	default:
		w.children(n)
	}
}

func (w *writer) element(n ast.Node, tag, kind string) {
	from, to := w.lines(n)
	w.raw("<" + tag + w.anchor(kind, from, to) + ">")
	w.children(n)
	w.raw("</" + tag + ">\n")
}

func (w *writer) heading(n *ast.Heading) {
	id, isOwn := n.AttributeString("id")
	if !isOwn {
		w.element(n, fmt.Sprintf("h%d", min(n.Level+1, 6)), "heading")
		return
	}
	w.raw(fmt.Sprintf(`<h%d id="%s">`, n.Level, id))
	w.children(n)
	w.raw(fmt.Sprintf("</h%d>\n", n.Level))
}

func (w *writer) fence(n *ast.FencedCodeBlock, from, to int) {
	language := ""
	if n.Info != nil {
		info := strings.TrimSpace(string(n.Info.Segment.Value(w.src)))
		language = info
		if at := strings.IndexFunc(info, func(r rune) bool { return unicode.IsSpace(r) || visible.Hides(string(r)) }); at > 0 {
			language = info[:at]
		}
		w.line = from
		w.raw(`<span class="language">`)
		w.text(language)
		w.raw("</span>")
		if rest := strings.TrimSpace(info[len(language):]); rest != "" {
			w.showSource("code", "info", rest, "")
		}
	}
	w.code(n, language, from, to)
}

func (w *writer) code(n ast.Node, language string, from, to int) {
	source := string(n.Lines().Value(w.src))
	attributes := ""
	if strings.EqualFold(language, "mermaid") {
		attributes = fmt.Sprintf(` data-diagram="%d"`, len(w.page.Diagrams))
		w.page.Diagrams = append(w.page.Diagrams, Diagram{from, to, source})
	}
	w.raw("<pre" + attributes + w.anchor("code", from, to) + "><code>")
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		w.line = w.lineAt(line.Start)
		w.text(string(line.Value(w.src)))
	}
	w.raw("</code></pre>\n")
}

// row writes a row of a table, with the cells that have no column.
func (w *writer) row(n ast.Node, from, to int) {
	tag := "td"
	if n.Kind() == gfm.KindTableHeader {
		tag = "th"
	}
	w.raw("<tr" + w.anchor("row", from, to) + ">")
	end := n.Pos()
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		tag := tag
		if c.FirstChild() == nil {
			tag = "td" // a heading without words is none
		}
		w.raw("<" + tag + ">")
		w.children(c)
		w.raw("</" + tag + ">")
		if c.Lines().Len() > 0 {
			end = max(end, c.Lines().At(c.Lines().Len()-1).Stop)
		}
	}
	line, _, _ := bytes.Cut(w.src[min(end, len(w.src)):], []byte("\n"))
	if rest := strings.Trim(string(line), "| \t\r"); rest != "" && n.Kind() == gfm.KindTableRow {
		w.raw("<td>")
		w.showSource("code", "cell", rest, "")
		w.raw("</td>")
	}
	w.raw("</tr>\n")
}

// showSource writes a part of the source that other readers do not see.
func (w *writer) showSource(tag, kind, source, attributes string) {
	w.hide(kind, strings.TrimSpace(source))
	w.raw("<" + tag + ` class="hidden-html" data-kind="` + kind + `"` + attributes + ">")
	w.text(source)
	w.raw("</" + tag + ">")
}

func htmlKind(source string) string {
	if strings.HasPrefix(strings.TrimSpace(source), "<!--") {
		return "comment"
	}
	return "html"
}

func (w *writer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.line = w.lineAt(n.Segment.Start)
		s := string(n.Segment.Value(w.src))
		if !n.IsRaw() {
			s = decode(s)
		}
		w.text(s)
		if n.HardLineBreak() {
			w.raw("<br>")
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.raw("\n")
		}
	case *ast.String:
		w.text(string(n.Value))
	case *ast.CodeSpan:
		w.wrap(n, "code")
	case *ast.Emphasis:
		w.wrap(n, map[bool]string{true: "strong", false: "em"}[n.Level > 1])
	case *gfm.Strikethrough:
		w.wrap(n, "del")
	case *gfm.TaskCheckBox:
		w.raw(map[bool]string{true: `<span class="task">☑</span> `, false: `<span class="task">☐</span> `}[n.IsChecked])
	case *ast.Link:
		w.link(n)
	case *ast.AutoLink:
		address := string(n.URL(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
			address = "mailto:" + address
		}
		end := w.startLink(address, address)
		w.text(string(n.Label(w.src)))
		w.raw(end)
	case *ast.Image:
		address := decode(string(n.Destination))
		if title := decode(string(n.Title)); title != "" {
			address += ` "` + title + `"`
		}
		w.hide("image", strings.TrimSpace(w.plain(n)+" ("+address+")"))
		w.raw(`<span class="image" data-kind="image">`)
		w.children(n)
		w.raw(" <code>(")
		w.text(address)
		w.raw(")</code></span>")
	case *ast.RawHTML:
		source := string(n.Segments.Value(w.src))
		w.showSource("code", htmlKind(source), source, "")
	default:
		w.children(n)
	}
}

func (w *writer) wrap(n ast.Node, tag string) {
	w.raw("<" + tag + ">")
	w.children(n)
	w.raw("</" + tag + ">")
}

// lines returns the first and the last line of a block.
func (w *writer) lines(n ast.Node) (from, to int) {
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

// closingFence returns the line of the fence that ends a block of code, which its lines leave out.
func (w *writer) closingFence(to int) int {
	n := to - w.base
	if n > w.last() {
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
