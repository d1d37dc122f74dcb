package render

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// writer writes the HTML of one document.
type writer struct {
	// to leads the links of a page of this program; nil for documents of others.
	to   func(address string) string
	page Page
	out  strings.Builder
	src  []byte
	// ends has the positions of the line breaks, base is the number of lines before src, line the
	// current line.
	ends       []int
	base, line int
	// seen counts the blocks of each first line, parts the wrappers; slugs has the ids of headings.
	seen, parts map[int]int
	slugs       map[string]string
	// inSection reports whether a section is open.
	inSection bool
}

func (w *writer) writeRaw(s string) { w.out.WriteString(s) }

// writeText writes text of the document, escaped, with marks for the characters without a shape.
func (w *writer) writeText(s string) {
	name, count := "", 0
	var names []string
	flush := func() {
		if count == 0 {
			return
		}
		times := ""
		if count > 1 {
			times = fmt.Sprintf("×%d", count)
		}
		if len(names) < 20 {
			names = append(names, name+times)
		}
		w.writeRaw(`<span class="unseen" title="` + name + `">‹` + name + times + `›</span>`)
		count = 0
	}
	visible.Parts(s, func(part string) {
		flush()
		w.writeRaw(html.EscapeString(part))
	}, func(next string) {
		if next != name {
			flush()
		}
		name, count = next, count+1
	})
	flush()
	if len(names) > 0 {
		w.addHidden("unseen", strings.Join(names, " "))
	}
}

// attributeText returns text of the document for an attribute in quotes.
func attributeText(s string) string { return html.EscapeString(nameUnseen(s)) }

// nameUnseen returns a text with names in place of the characters without a shape.
func nameUnseen(s string) string {
	var b strings.Builder
	visible.Parts(s, func(part string) { b.WriteString(part) }, func(name string) { b.WriteString("‹" + name + "›") })
	return b.String()
}

func (w *writer) addHidden(kind, text string) {
	w.page.Hidden = append(w.page.Hidden, Hidden{w.line, kind, text})
}

// addBlock records a block, and returns the attributes with its lines.
func (w *writer) addBlock(kind string, from, to int) string {
	id := fmt.Sprintf("l%d", from)
	if w.seen[from]++; w.seen[from] > 1 {
		id = fmt.Sprintf("l%d-%d", from, w.seen[from])
	}
	w.line = from
	w.page.Blocks = append(w.page.Blocks, Block{id, kind, from, to})
	return fmt.Sprintf(` id="%s" data-l="%d-%d"`, id, from, to)
}

// decodeText resolves the escapes and entities of Markdown.
func decodeText(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && canEscape(s[i+1]):
			i++
		case s[i] == '&':
			if end := strings.IndexByte(s[i:min(len(s), i+40)], ';'); end > 0 {
				b.WriteString(html.UnescapeString(s[i : i+end+1]))
				i += end
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// canEscape reports whether a backslash escapes a character, which are the signs of ASCII.
func canEscape(c byte) bool {
	return c < 0x80 && (unicode.IsPunct(rune(c)) || unicode.IsSymbol(rune(c)))
}

// hrefOf returns the address of a link to another site, a mailbox, or a heading of the document. All others
// lead nowhere from this page, or do something.
func (w *writer) hrefOf(address string) string {
	if visible.Hides(address) || strings.ContainsAny(address, " \t\n\\") {
		return ""
	}
	if slug, ok := strings.CutPrefix(address, "#"); ok {
		if id := w.slugs[strings.ToLower(slug)]; id != "" {
			return "#" + id
		}
		return ""
	}
	lower := strings.ToLower(address)
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if strings.HasPrefix(lower, scheme) && len(lower) > len(scheme) {
			return scheme + address[len(scheme):]
		}
	}
	if w.to != nil {
		return w.to(address)
	}
	return ""
}

// writeLink writes a link. Address and title go to the list of hidden parts, unless the words are the same, the
// link has none, the definition is shown, or it leads to a heading.
func (w *writer) writeLink(n *ast.Link) {
	address, title := decodeText(string(n.Destination)), decodeText(string(n.Title))
	says := address
	if title != "" {
		says += ` "` + title + `"`
	}
	words := w.plainText(n)
	if at := n.Pos(); at >= 0 {
		w.line = w.lineAt(at)
	}
	if visible.Hides(says) {
		w.addHidden("unseen", nameUnseen(says))
	} else if heading := title == "" && strings.HasPrefix(w.hrefOf(address), "#"); !heading && n.Reference == nil && words != "" && words != says {
		w.addHidden("link", says)
	}
	end := w.startLink(address, says)
	w.writeChildren(n)
	if words == "" {
		w.writeText(says)
	}
	w.writeRaw(end)
}

// startLink starts a link, or the text of one without a target, and returns the end.
func (w *writer) startLink(address, says string) (end string) {
	to := w.hrefOf(address)
	if to == "" {
		w.writeRaw(`<span class="path" title="` + attributeText(says) + `">`)
		return "</span>"
	}
	w.writeRaw(`<a href="` + html.EscapeString(to) + `" title="` + attributeText(says) + `" rel="noopener noreferrer nofollow">`)
	return "</a>"
}

// plainText returns the text of a node without marks.
func (w *writer) plainText(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(decodeText(string(c.Segment.Value(w.src))))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(w.src))
		default:
			b.WriteString(w.plainText(c))
		}
	}
	return visible.Text(b.String())
}

// slugOf returns the name of a heading in Markdown's links.
func slugOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
