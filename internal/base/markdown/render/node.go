package render

import (
	"html"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// node is an element of the HTML that this package wrote, or a text, or a run of both within a block.
type node struct {
	// tag is "" for a text and a run; open is the start tag in full.
	tag, open string
	text      string
	kids      []*node
	// known and solid keep the results of key and words.
	known string
	solid []string
}

// readNodes reads HTML of this package, in which no text and no attribute has a bare < or >.
func readNodes(source HTML) []*node {
	root := &node{}
	open := []*node{root}
	rest := string(source)
	for rest != "" {
		top := open[len(open)-1]
		at := strings.IndexByte(rest, '<')
		if at != 0 {
			if at < 0 {
				at = len(rest)
			}
			top.kids = append(top.kids, &node{text: html.UnescapeString(rest[:at])})
			rest = rest[at:]
			continue
		}
		end := strings.IndexByte(rest, '>') + 1
		tag := rest[:end]
		rest = rest[end:]
		if strings.HasPrefix(tag, "</") {
			open = open[:max(len(open)-1, 1)]
			continue
		}
		name, _, _ := strings.Cut(strings.Trim(tag, "<>"), " ")
		n := &node{tag: name, open: tag}
		if top.kids = append(top.kids, n); name != "br" && name != "hr" {
			open = append(open, n)
		}
	}
	return root.kids
}

func (n *node) isBlock() bool {
	switch n.tag {
	case "p", "pre", "ul", "ol", "li", "div", "table", "thead", "tbody", "tr", "td", "th", "blockquote", "hr", "h1", "h2", "h3", "h4", "h5", "h6":
		return true
	}
	return false
}

// blocks returns the children of a node by blocks, with the inline ones between two blocks in one run; nil if there are
// only inline ones. White space between blocks is left out.
func (n *node) blocks() (out []*node) {
	var run *node
	hasBlock := false
	for _, k := range n.kids {
		switch {
		case k.isBlock():
			hasBlock = true
			run = nil
			out = append(out, k)
		case run != nil:
			run.kids = append(run.kids, k)
		case k.tag != "" || strings.TrimSpace(k.text) != "":
			run = &node{kids: []*node{k}}
			out = append(out, run)
		}
	}
	if !hasBlock {
		return nil
	}
	return out
}

// key is equal for nodes that look the same: without ids, lines, and the places of links within the page.
func (n *node) key() string {
	if n.known == "" {
		var b strings.Builder
		n.writeKey(&b, false)
		n.known = b.String()
	}
	return n.known
}

func (n *node) writeKey(b *strings.Builder, isCode bool) {
	isCode = isCode || n.tag == "pre"
	switch {
	case isCode || n.text == "":
		b.WriteString(n.text)
	default:
		for _, token := range textdiff.Tokens(n.text) {
			if strings.TrimSpace(token) == "" {
				token = " "
			}
			b.WriteString(token)
		}
	}
	b.WriteString(withoutPlaces(n.open))
	for _, k := range n.kids {
		k.writeKey(b, isCode)
	}
	if n.tag != "" {
		b.WriteString("</" + n.tag + ">")
	}
}

// withoutPlaces returns a start tag without the attributes that lead to a place of the page.
func withoutPlaces(open string) string {
	for _, name := range []string{` id="`, ` data-l="`, ` data-diagram="`, ` href="#`} {
		if before, rest, found := strings.Cut(open, name); found {
			_, after, _ := strings.Cut(rest, `"`)
			open = before + after
		}
	}
	return open
}

// words returns the words of a node.
func (n *node) words() []string {
	if n.solid == nil {
		n.solid = textdiff.Words(n.plain())
	}
	return n.solid
}

func (n *node) plain() string {
	var b strings.Builder
	var add func(*node)
	add = func(n *node) {
		b.WriteString(n.text)
		for _, k := range n.kids {
			add(k)
		}
		if n.isBlock() || n.tag == "br" {
			b.WriteByte('\n')
		}
	}
	add(n)
	return b.String()
}

// token is a word, a sign or white space of a run.
type token struct {
	text string
	// key is the word with the target of the link around it: a link that leads elsewhere is another one.
	key     string
	isSpace bool
}

// item is a tag of a run, or the number of a token.
type item struct {
	tag   string
	token int
}

// flattenNodes returns the tokens of inline nodes, and the tags between them.
func flattenNodes(kids []*node, isCode bool) (items []item, tokens []token) {
	var add func(n *node, around string)
	add = func(n *node, around string) {
		for _, text := range cutText(n.text, isCode) {
			isSpace := !isCode && strings.TrimSpace(text) == ""
			items = append(items, item{token: len(tokens)})
			tokens = append(tokens, token{text, text + around, isSpace})
		}
		if n.tag == "" {
			for _, k := range n.kids {
				add(k, around)
			}
			return
		}
		if items = append(items, item{tag: n.open}); strings.Contains(n.open, ` title="`) {
			around += "\x00" + withoutPlaces(n.open)
		}
		for _, k := range n.kids {
			add(k, around)
		}
		switch n.tag {
		case "br":
			tokens = append(tokens, token{"\n", " ", true})
		case "hr":
		default:
			items = append(items, item{tag: "</" + n.tag + ">"})
		}
	}
	for _, k := range kids {
		add(k, "")
	}
	return items, tokens
}

// cutText cuts a text into tokens; in code, each line ends with one.
func cutText(text string, isCode bool) []string {
	if !isCode {
		return textdiff.Tokens(text)
	}
	var out []string
	for line := range strings.Lines(text) {
		rest, ended := strings.CutSuffix(line, "\n")
		if out = append(out, textdiff.Tokens(rest)...); ended {
			out = append(out, "\n")
		}
	}
	return out
}
