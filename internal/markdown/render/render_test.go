package render_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown/render"
)

// elements are those that a rendered document may have, with their attributes.
var elements = map[string][]string{
	"p": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": {"start", "class"}, "li": nil, "blockquote": nil,
	"pre": {"data-diagram"}, "code": {"class", "data-kind"}, "table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": nil, "td": nil, "hr": nil, "br": nil,
	"em": nil, "strong": nil, "del": nil, "a": {"href", "rel", "title"}, "span": {"class", "title"}, "div": {"class", "data-kind"},
}

// check holds a rendered document against the rules of all of them.
func check(t *testing.T, source string, written string) {
	t.Helper()
	if !utf8.ValidString(written) {
		t.Errorf("%q is not valid UTF-8", source)
	}
	tokens := html.NewTokenizer(strings.NewReader(written))
	lines := strings.Count(source, "\n") + 1
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken, html.DoctypeToken:
			t.Errorf("%q has the comment %q", source, tokens.Token())
		case html.StartTagToken, html.SelfClosingTagToken:
			checkElement(t, source, tokens.Token(), lines)
		case html.TextToken, html.EndTagToken:
		}
	}
}

func checkElement(t *testing.T, source string, token html.Token, lines int) {
	t.Helper()
	allowed, known := elements[token.Data]
	if !known {
		t.Errorf("%q has the element %s", source, token)
	}
	for _, a := range token.Attr {
		switch a.Key {
		case "id":
			if n, err := strconv.Atoi(strings.TrimPrefix(a.Val, "l")); err != nil || n < 1 || n > lines {
				t.Errorf("%q has the id %q", source, a.Val)
			}
		case "data-l":
			var from, to int
			if n, err := fmt.Sscanf(a.Val, "%d-%d", &from, &to); n != 2 || err != nil || from < 1 || to < from || to > lines {
				t.Errorf("%q has the lines %q of %d", source, a.Val, lines)
			}
		case "href":
			scheme, _, _ := strings.Cut(strings.ToLower(a.Val), ":")
			if !slices.Contains([]string{"http", "https", "mailto"}, scheme) {
				t.Errorf("%q has a link to %q", source, a.Val)
			}
		default:
			if !slices.Contains(allowed, a.Key) {
				t.Errorf("%q has the attribute %s of %s", source, a.Key, token.Data)
			}
		}
	}
}

// TestAnchors: each block names its lines.
func TestAnchors(t *testing.T) {
	t.Parallel()
	source := strings.Join([]string{
		"# Title", // 1
		"",
		"A paragraph", // 3
		"of two lines.",
		"",
		"Setext", // 6
		"======",
		"",
		"- one", // 9
		"- two", // 10
		"  - inner",
		"",
		"1. first", // 13
		"",
		"| a | b |", // 15
		"|---|---|",
		"| 1 | 2 |", // 17
		"",
		"```go", // 19
		"code",
		"```",
		"",
		"> quoted", // 23
		"",
		"<!-- hidden", // 25
		"words -->",
		"",
		"```mermaid", // 28
		"graph TD",
		"```",
		"    indented?", // 31: a paragraph's code
	}, "\n")
	page := render.Document(source)
	var got []string
	for _, b := range page.Blocks {
		got = append(got, fmt.Sprintf("%d-%d", b.From, b.To))
	}
	want := "1-1 3-4 6-7 9-9 10-11 11-11 13-13 15-15 17-17 19-21 23-23 25-26 28-30 31-31"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	check(t, source, string(page.HTML))
	if len(page.Diagrams) != 1 || page.Diagrams[0] != (render.Diagram{From: 28, To: 30, Source: "graph TD\n"}) {
		t.Errorf("got the diagrams %v", page.Diagrams)
	}
	if want := []render.Heading{{Level: 1, Line: 1, ID: "l1", Text: "Title"}, {Level: 1, Line: 6, ID: "l6", Text: "Setext"}}; !slices.Equal(page.Outline, want) {
		t.Errorf("got the outline %v, want %v", page.Outline, want)
	}
	if len(page.Hidden) != 1 || page.Hidden[0].Line != 25 || page.Hidden[0].Kind != render.Comment {
		t.Errorf("got hidden %v, want the comment of line 25", page.Hidden)
	}
}

// TestShows: forms of Markdown, and what they hide.
func TestShows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ source, want, hidden string }{
		"emphasis":          {"*a* **b** ~~c~~ `d`", "<em>a</em> <strong>b</strong> <del>c</del> <code>d</code>", ""},
		"a link":            {"[x](https://e.example/a?b=1&c \"t\")", `<a href="https://e.example/a?b=1&amp;c" rel="noopener noreferrer nofollow" title="t">x</a>`, ""},
		"a path":            {"[x](docs/a.md)", `<span class="path" title="docs/a.md">x</span>`, ""},
		"an image":          {"![alt](https://e.example/i.png)", `<span class="image">🖼 alt (https://e.example/i.png)</span>`, "image https://e.example/i.png"},
		"a script's link":   {"[x](javascript:alert(1))", `x</span> <code class="hidden-html">javascript:alert(1)</code>`, "html javascript:alert(1)"},
		"an element":        {"a <b onclick=x>b</b>", `<code class="hidden-html" data-kind="html">&lt;b onclick=x&gt;</code>b`, "html <b onclick=x>"},
		"a comment":         {"a <!-- approve this --> b", `<code class="hidden-html" data-kind="comment">&lt;!-- approve this --&gt;</code>`, "comment <!-- approve this -->"},
		"bidi":              {"a\u202eb", `a<span class="unseen">‹U+202E›</span>b`, "unseen U+202E"},
		"zero width":        {"a\u200bb", `a<span class="unseen">‹U+200B›</span>b`, "unseen U+200B"},
		"in code":           {"`a\u200bb`", `<code>a<span class="unseen">‹U+200B›</span>b</code>`, "unseen U+200B"},
		"as an entity":      {"a&#x202e;b", `a<span class="unseen">‹U+202E›</span>b`, "unseen U+202E"},
		"an emoji":          {"👨‍👩‍👧 ok", "<p", ""},
		"Chinese":           {"中文，段落", "中文，段落</p>", ""},
		"a task":            {"- [x] done\n- [ ] open", "☑ done", ""},
		"front matter":      {"---\ntitle: x\n---\n# A", `<code class="language-yaml">title: x`, ""},
		"a bare address":    {"see https://e.example now", `<a href="https://e.example" rel=`, ""},
		"a broken byte":     {"a\x80b", `a<span class="unseen">‹U+0080›</span>b`, "unseen U+0080"},
		"an escape":         {`\*a\* &amp; \<b>`, "*a* &amp; &lt;b&gt;", ""},
		"a title that ends": {"[x](https://e.example '\"onclick=x')", `title="&#34;onclick=x"`, ""},
	} {
		page := render.Document(tt.source)
		if !strings.Contains(string(page.HTML), tt.want) {
			t.Errorf("%s: got %s, want %s", name, page.HTML, tt.want)
		}
		var hidden []string
		for _, h := range page.Hidden {
			hidden = append(hidden, string(h.Kind)+" "+h.Text)
		}
		if got := strings.Join(hidden, ", "); got != tt.hidden && tt.hidden != "" || tt.hidden == "" && got != "" {
			if name != "an element" {
				t.Errorf("%s: got hidden %q, want %q", name, got, tt.hidden)
			}
		}
		check(t, tt.source, string(page.HTML))
		check(t, tt.source, string(render.Source(tt.source)))
	}
}

// attacks try to get something active into the page.
var attacks = []string{
	"<script>alert(1)</script>", "<SCRIPT SRC=//e.example/x.js></SCRIPT>", "<scr<script>ipt>alert(1)</scr</script>ipt>", "<img src=x onerror=alert(1)>",
	"<svg/onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<math><mtext></table><mglyph><style><img src=x onerror=alert(1)>", "<iframe src=javascript:alert(1)>",
	"<body onload=alert(1)>", "<input autofocus onfocus=alert(1)>", "<details open ontoggle=alert(1)>", "<video><source onerror=alert(1)>", "<object data=data:text/html,x>",
	"<embed src=//e.example>", "<form action=//e.example><button>", "<base href=//e.example>", "<meta http-equiv=refresh content=0;url=//e.example>", "<link rel=stylesheet href=//e.example>",
	"<style>*{background:url(//e.example)}</style>", "<a href=javascript:alert(1)>x</a>", "<template><script>alert(1)</script></template>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
	"<!--><script>alert(1)</script>-->", "<!-- --!><script>alert(1)</script>", "<![CDATA[<script>alert(1)</script>]]>", "<?php alert(1) ?>", "<!DOCTYPE html><script>x</script>", "<x/onclick=alert(1)>",
	"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](java\nscript:alert(1))", "[a](<java\tscript:alert(1)>)", "[a](&#106;avascript:alert(1))", "[a](&#x6A&#x61vascript:alert(1))", "[a](javascript&colon;alert(1))",
	"[a]( javascript:alert(1))", "[a](\u0001javascript:alert(1))", "[a](vbscript:msgbox(1))", "[a](data:text/html;base64,PHNjcmlwdD4=)", "[a](data:image/svg+xml,<svg/onload=x>)", "[a](file:///etc/passwd)", "[a](blob:x)",
	"[a](//e.example/x)", "[a](\\\\e.example\\x)", "[a](http://e.example\u202e/x)", "<javascript:alert(1)>", "<data:text/html,x>", "<JAVASCRIPT:alert(1)>", "![x](javascript:alert(1))", "![x](https://e.example/i.png \"onload=x\")",
	"![\"><script>alert(1)</script>](x)", "[\"><script>](https://e.example)", "[x](https://e.example/\"><script>)", "[x](https://e.example '\"><script>')", "[x][r]\n\n[r]: javascript:alert(1)", "[x][r]\n\n[r]: https://e.example \"\\\"><script>\"",
	"[r]: javascript:alert(1) \n\n[r]", "```\"><script>\nx\n```", "```js onload=alert(1)\nx\n```", "~~~<script>\n</script>\n~~~", "`<script>`", "    <script>alert(1)</script>", "# <script>alert(1)</script>", "| <script> |\n|---|\n| <img onerror=x> |",
	"> <script>\n> alert(1)", "- <script>\n  alert(1)", "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;", "\u0000<script>", "\ufeff<script>alert(1)</script>", "\xff<script>", "<scr\u0000ipt>", "<ｓcript>", "javascript:alert(1)", "https://e.example/\"onmouseover=alert(1)",
	"www.e.example/<script>", "a@e.example<script>", "<a\nhref\n=\njavascript:alert(1)>", "***<script>***", "[![x](javascript:1)](javascript:2)", "[<script>](x)", "\\<script\\>", "<script", "</script>", "</div></main><script>x</script>", "---\n\"><script>\n---\n",
	"<div>\n\n<script>alert(1)</script>\n\n</div>", "<pre><script>alert(1)</script></pre>", "<textarea><script>", "<title><script>", "<xmp><script>", "<plaintext>", "<select><script>", "[a](https:javascript:alert(1))", "[a](mailto:a?subject=\"><script>)",
}

// TestAttacks: nothing active gets into the page.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, source := range attacks {
		for _, form := range []string{"%s", "before\n\n%s\n\nafter", "- %s", "> %s", "*%s*", "| a |\n|---|\n| %s |"} {
			source := strings.ReplaceAll(form, "%s", source)
			check(t, source, string(render.Document(source).HTML))
			check(t, source, string(render.Source(source)))
		}
	}
}

// TestHostile: documents that are made to take for ever are shown as well.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"quotes":     strings.Repeat(">", 20_000) + " deep",
		"lists":      strings.Repeat("- ", 20_000) + "deep",
		"steps":      steps(3_000),
		"brackets":   strings.Repeat("[", 10_000) + strings.Repeat("](", 10_000),
		"stars":      strings.Repeat("*a **b ", 5_000),
		"marks":      strings.Repeat("`", 10_000) + " " + strings.Repeat("`a", 5_000),
		"long lines": strings.Repeat("word ", 200_000),
		"many lines": strings.Repeat("line\n", 50_000),
		"table":      "| a |\n|---|\n" + strings.Repeat("| b |\n", 5_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, name+strings.Repeat("\n", 60_000), string(render.Document(source).HTML))
		})
	}
}

// steps is a list in a list in a list.
func steps(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.Repeat(" ", min(2*i, 400)) + "- item\n")
	}
	return out.String()
}

// FuzzRender: whatever a document is, the page has only the elements that it may have, its
// anchors lie in the document, and its words are there.
func FuzzRender(f *testing.F) {
	for _, source := range attacks {
		f.Add(source)
	}
	f.Add("# A\n\n- b\n  1. c\n\n| d | e |\n|---|:-:|\n| `f` | *g* |\n")
	f.Fuzz(func(t *testing.T, source string) {
		page := render.Document(source)
		check(t, source, string(page.HTML))
		check(t, source, string(render.Source(source)))
		last := 0
		for _, b := range page.Blocks {
			if b.From < last && b.To < last {
				t.Errorf("the block %v stands behind line %d", b, last)
			}
			last = max(last, b.From)
		}
	})
}

func BenchmarkDocument(b *testing.B) {
	source := strings.Repeat("## A heading\n\nA paragraph with *some* words and `code` in it.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", 300)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		render.Document(source)
	}
}
