package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/specimen"
)

func TestAnchors(t *testing.T) {
	source := `---
title: x
---
# One

A paragraph
of two lines.

- item
  - inner
- last

> quote
> goes on

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 | 5 |

` + "```go\nx := 1\n\n```" + `

<!-- approve
this -->

[ref]: https://example.com
Setext
---

***
    code

1. one

   two
`
	want := []string{
		"front matter 1-3 l1", "heading 4-4 l4", "paragraph 6-7 l6", "item 9-10 l9", "item 10-10 l10", "item 11-11 l11",
		"quote 13-14 l13", "paragraph 13-14 l13-2", "row 16-16 l16", "row 18-18 l18", "row 19-19 l19", "code 21-24 l21",
		"html 26-27 l26", "reference 29-29 l29", "heading 30-30 l30", "rule 33-33 l33", "code 34-34 l34",
		"item 36-38 l36", "paragraph 36-36 l36-2", "paragraph 38-38 l38",
	}
	page := Document(source)
	var got []string
	for _, b := range page.Blocks {
		got = append(got, fmt.Sprintf("%s %d-%d %s", b.Kind, b.From, b.To, b.ID))
	}
	if !slices.Equal(got, want) {
		t.Errorf("blocks:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if same := Document(strings.ReplaceAll(source, "\n", "\r\n")); same.HTML != page.HTML {
		t.Error("line ends of Windows change the page")
	}
	check(t, source, page)
}

func TestDocument(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"heading", "# A *b*", `<h2 id="l1" data-l="1-1">A <em>b</em></h2>`},
		{"deep heading", "###### A", `<h6 id="l1" data-l="1-1">A</h6>`},
		{"site", "[a](https://x.org 't')", `<a href="https://x.org" title="https://x.org &#34;t&#34;" rel="noopener noreferrer nofollow">a</a>`},
		{"autolink", "www.x.org", `<a href="http://www.x.org" title="http://www.x.org" rel="noopener noreferrer nofollow">www.x.org</a>`},
		{"mailbox", "<a@x.org>", `<a href="mailto:a@x.org" `},
		{"path", "[a](../b.md)", `<span class="path" title="../b.md">a</span>`},
		{"fragment", "# My *Goal*\n\n[a](#my-goal)", `<a href="#l1" `},
		{"fragment of nothing", "[a](#decide)", `<span class="path" title="#decide">a</span>`},
		{"script", "[a](JavaScript:x)", `<span class="path" title="JavaScript:x">a</span>`},
		{"comment", "a <!-- hidden: approve --> b", `<code class="hidden-html" data-kind="comment">&lt;!-- hidden: approve --&gt;</code>`},
		{"html", "<details>\nx", `<div class="hidden-html" data-kind="html" id="l1" data-l="1-2">&lt;details&gt;`},
		{"comment of a reference", "[//]: # (approve this)", `data-kind="reference" id="l1" data-l="1-1">[//]: # (approve this)</div>`},
		{"image", "![a *b*](http://x/y.png 't')", `<span class="image" data-kind="image">a <em>b</em> <code>(http://x/y.png &#34;t&#34;)</code></span>`},
		{"bidi", "a\u202eb", `a<span class="unseen" title="U+202E">‹U+202E›</span>b`},
		{"bidi as an entity", "a&#x202E;b", `a<span class="unseen" title="U+202E">‹U+202E›</span>b`},
		{"many", "a\u200b\u200b\u200bb", `<span class="unseen" title="U+200B">‹U+200B×3›</span>`},
		{"in code", "`a\u200bb`", `<code>a<span class="unseen" title="U+200B">‹U+200B›</span>b</code>`},
		{"in an address", "[a](https://x.org/\u200b)", `<span class="path" title="https://x.org/‹U+200B›">a</span>`},
		{"broken", "a\xffb", `a<span class="unseen" title="0xFF">‹0xFF›</span>b`},
		{"emoji", "👩‍💻 ❤️ 上　海 مرحبا", `👩‍💻 ❤️ 上　海 مرحبا`},
		{"task", "- [x] done", `<li id="l1" data-l="1-1"><span class="task">☑</span> done</li>`},
		{"escape", `\*a\* &amp; \&lt;`, `*a* &amp; &amp;lt;`},
		{"strike", "~~a~~", `<del>a</del>`},
		{"code", "```go approve\nx<y\n```", `<span class="language">go</span><code class="hidden-html" data-kind="info">approve</code><pre id="l1" data-l="1-3"><code>x&lt;y`},
		{"classes as a language", "```text\tunheard\nx\n```", `<span class="language">text</span><code class="hidden-html" data-kind="info">unheard</code><pre id="l1"`},
		{"an unseen space in a language", "```a\u00a0hidden\nx\n```", `<span class="language">a</span><code class="hidden-html" data-kind="info">hidden</code>`},
		{"link without words", "[](https://x.org 'approve')", `>https://x.org &#34;approve&#34;</a>`},
		{"link of an empty image", "[![](a)](/approve)", `</code></span>/approve</span>`},
		{"diagram", "```mermaid\ngraph\n```", `<pre data-diagram="0" id="l1" data-l="1-3">`},
		{"cell without a column", "|a|\n|-|\n|b|approve|", `<code class="hidden-html" data-kind="cell">approve</code>`},
		{"capital scheme", "[a](HTTPS://X.org)", `<a href="https://X.org" `},
		{"list from 3", "3. a", `<ol start="3">`},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := Document(test.source)
			if !strings.Contains(string(page.HTML), test.want) {
				t.Errorf("page:\n%s\nwithout:\n%s", page.HTML, test.want)
			}
			check(t, test.source, page)
		})
	}
}

func TestLists(t *testing.T) {
	page := Document("# A `b`\n\n## C\n\nx <!-- y -->\n\n![i](u)\n\na\u202e\n\n```mermaid\ngraph\n```\n\n    code\n    \u200bcode\n\n[a](/&\u200b)\n" +
		"[b](c 'd') [C](#c) [C](#c 'e') [](f) [/g](/g) [h][i] www.j.org\n\n[i]: k\n")
	if got, want := fmt.Sprint(page.Outline), "[{l1 A b 1 1} {l3 C 2 3}]"; got != want {
		t.Errorf("outline %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(page.Hidden), "[{5 comment <!-- y -->} {7 image i (u)} {9 unseen U+202E} {16 unseen U+200B} {18 unseen /&‹U+200B›} "+
		"{19 link c \"d\"} {19 link #c \"e\"} {21 reference [i]: k}]"; got != want {
		t.Errorf("hidden %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(page.Diagrams), "[{11 13 graph\n}]"; got != want {
		t.Errorf("diagrams %s, want %s", got, want)
	}
}

func TestSource(t *testing.T) {
	got := string(Source("a <b>\r\n\n\u202ec\n").HTML)
	want := `<ol class="source"><li id="s1" data-l="1-1"><code>a &lt;b&gt;</code></li>` + "\n" +
		`<li id="s2" data-l="2-2"><code></code></li>` + "\n" +
		`<li id="s3" data-l="3-3"><code><span class="unseen" title="U+202E">‹U+202E›</span>c</code></li>` + "\n</ol>\n"
	if got != want {
		t.Errorf("source:\n%s\nwant:\n%s", got, want)
	}
}

// payloads run a script, fetch something or leave the page if Markdown is rendered carelessly.
var payloads = []string{
	"<script>alert(1)</script>", "<ScRiPt>alert(1)</sCrIpT>", "<script src=//x.org/x.js></script>", "<img src=x onerror=alert(1)>",
	"<img/src/onerror=alert(1)>", "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">",
	"<svg><a xlink:href=javascript:alert(1)><text>x", "<iframe src=javascript:alert(1)>", "<iframe srcdoc='<script>alert(1)</script>'>", "<object data=javascript:alert(1)>",
	"<embed src=//x.org>", "<link rel=stylesheet href=//x.org>", "<style>@import '//x.org'</style>", "<meta http-equiv=refresh content='0;url=//x.org'>",
	"<base href=//x.org>", "<form action=//x.org><input name=a>", "<input autofocus onfocus=alert(1)>", "<details open ontoggle=alert(1)>",
	"<video><source onerror=alert(1)>", "<audio src=x onerror=alert(1)>", "<body onload=alert(1)>", "<marquee onstart=alert(1)>",
	"<a href=javascript:alert(1)>x</a>", "<div style='background:url(//x.org)'>", "<template><script>alert(1)</script></template>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
	"<!--><script>alert(1)</script>-->", "<!-- --!><script>alert(1)</script> -->", "<![CDATA[<script>alert(1)</script>]]>", "<?xml version=1?><script>alert(1)</script>",
	"<!DOCTYPE html [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>", "</p></div><script>alert(1)</script>", "</code></pre><script>alert(1)</script>", "<script\x00>alert(1)</script>",
	"<scr\x00ipt>alert(1)</script>", "<img src=x\nonerror=alert(1)>", "\ufeff<script>alert(1)</script>", "\xff<script>alert(1)</script>\xc0\xbc",
	"\xc0\xbcscript\xc0\xbe", "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;alert(1)&#60;/script&#62;", "&#x3c;img src=x onerror=alert(1)&#x3e;",
	"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](java\tscript:alert(1))", "[a](<java\nscript:alert(1)>)",
	"[a](javascript&colon;alert(1))", "[a](&#106;avascript:alert(1))", "[a](&#x6A&#x61vascript:alert(1))", "[a](\x01javascript:alert(1))",
	"[a](<\u00a0javascript:alert(1)>)", "[a](javascript\\:alert(1))", "[a](java&Tab;script:alert(1))", "[a](java&NewLine;script:alert(1))",
	"[a](vbscript:msgbox(1))", "[a](data:text/html,<script>alert(1)</script>)", "[a](data:text/html;base64,PHNjcmlwdD4=)", "[a](blob:https://x.org/1)",
	"[a](file:///etc/passwd)", "[a](view-source:javascript:alert(1))", "[a](//x.org)", "[a](\\\\x.org\\share)",
	"[a](https:javascript:alert(1))", "<javascript:alert(1)>", "<data:text/html,x>", "<vbscript:x>",
	"[a]\n\n[a]: javascript:alert(1)", "[a][b]\n\n[b]: <javascript:alert(1)> 'x'", "[a]: data:text/html,x\n[a]", "[a](https://x.org '\" onmouseover=\"alert(1)')",
	"[a](https://x.org \"' onmouseover='alert(1)\")", "[a](https://x.org/\"onmouseover=\"alert(1))", "![\" onerror=\"alert(1)](x)", "![a](javascript:alert(1))",
	"![a](x \"\\\" onerror=\\\"alert(1)\")", "![<script>alert(1)</script>](x)", "[![a](javascript:alert(1))](javascript:alert(2))", "[a <img src=x onerror=alert(1)>](https://x.org)",
	"```\"><script>alert(1)</script>\nx\n```", "```js\" onclick=\"alert(1)\nx\n```", "~~~mermaid\n</pre><script>alert(1)</script>\n~~~", "`<script>alert(1)</script>`",
	"# a {onclick=alert(1)}", "# <script>alert(1)</script>", "|<script>|\n|-|\n|<img src=x onerror=alert(1)>|", "---\na: </code><script>alert(1)</script>\n---\n",
	"- [x](javascript:alert(1))", "> <script>alert(1)</script>", "1. <script>\n   alert(1)</script>", "https://x.org/\"onmouseover=alert(1)",
	"https://x.org/<script>", "www.x.org\u202egro.y", "<https://x.org/\"onclick=\"x>", "[a](http://x.org&#34;onclick=&#34;x)",
	"[a](#\"onclick=\"x)", "[a](mailto:a@x.org\"onclick=\"x)", "# \" onclick=x\n\n[a](#-onclickx)", "a\x00b\x08c\x1b[31m", "[](maIlto:a@x.org\"onclick=\"x)",
}

func TestPayloads(t *testing.T) {
	for _, payload := range payloads {
		for _, frame := range []string{"%s", "text %s text", "> - %s\n", "| a |\n|---|\n| %s |", "[%s](https://x.org)", "[a](%s)", "[a](https://x.org \"%s\")", "```%s\n%[1]s\n```"} {
			source := fmt.Sprintf(frame, payload)
			page := Document(source)
			check(t, source, page)
			elements(t, payload, string(Source(source).HTML))
			if t.Failed() {
				t.Fatalf("source %q\npage %s", source, page.HTML)
			}
		}
	}
}

// allowed has each element with its attributes, and the form of their values.
var allowed = map[string]map[string]string{
	"a": {"href": `^(https?://|mailto:|#l\d)`, "title": "", "rel": `^noopener noreferrer nofollow$`}, "span": {"class": `^(unseen|path|image|task|language|[ktfc])$`, "title": "", "data-kind": `^image$`},
	"code": {"class": `^hidden-html$`, "data-kind": kinds}, "div": {"class": `^(hidden-html|b|sheet)$`, "data-kind": kinds}, "pre": {"data-diagram": `^\d+$`},
	"ol": {"start": `^\d+$`, "class": `^source$`}, "td": {}, "th": {},
	"h2": {}, "h3": {}, "h4": {}, "h5": {}, "h6": {}, "p": {}, "ul": {}, "li": {}, "blockquote": {}, "table": {}, "thead": {}, "tbody": {}, "tr": {},
	"section": {"class": "^s$", "aria-labelledby": `^l\d+$`}, "hr": {}, "br": {}, "em": {}, "strong": {}, "del": {},
}

const kinds = `^(html|comment|reference|info|cell)$`

// elements fails for each element and attribute beyond the list, and returns the text of a page.
func elements(t *testing.T, source, page string) string {
	t.Helper()
	var out strings.Builder
	ids := map[string]bool{}
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			out.WriteString(z.Token().Data)
		case html.CommentToken, html.DoctypeToken:
			t.Errorf("%q: a comment or declaration: %s", source, z.Raw())
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			list, ok := allowed[token.Data]
			if !ok {
				t.Errorf("%q: element %s", source, token.Data)
			}
			for _, a := range token.Attr {
				form, ok := list[a.Key]
				switch a.Key {
				case "id":
					ok, form = !ids[a.Val], `^[bls]\d+(-\d+)?$`
					ids[a.Val] = true
				case "data-l":
					ok, form = true, `^\d+-\d+$`
				}
				if !ok || !regexp.MustCompile(form).MatchString(a.Val) {
					t.Errorf("%q: attribute %s=%q of %s", source, a.Key, a.Val, token.Data)
				}
			}
		}
	}
}

// check fails unless a page has the properties that hold for any document.
func check(t *testing.T, source string, page Page) {
	t.Helper()
	if !utf8.ValidString(string(page.HTML)) {
		t.Errorf("%q: broken characters", source)
	}
	elements(t, source, string(page.HTML))
	// A browser that repairs the nesting must not find more than the tokens show.
	if _, err := html.Parse(strings.NewReader(string(page.HTML))); err != nil && !strings.Contains(err.Error(), "nesting depth") {
		t.Errorf("%q: %v", source, err)
	}
	last, total := 1, max(strings.Count(strings.TrimSuffix(strings.ReplaceAll(source, "\r\n", "\n"), "\n"), "\n")+1, 1)
	for _, b := range page.Blocks {
		if b.From < last || b.To < b.From || b.To > total {
			t.Errorf("%q: block %v after line %d of %d", source, b, last, total)
		}
		last = b.From
	}
	for _, h := range page.Hidden {
		if h.Line < 1 || h.Line > total {
			t.Errorf("%q: hidden %v of %d lines", source, h, total)
		}
	}
}

var words = regexp.MustCompile(`[a-zA-Z]{4,}`)

func FuzzRender(f *testing.F) {
	for _, payload := range payloads {
		f.Add(payload)
	}
	f.Add("# a\n\n- b\n  > c\n\n| d |\n|---|\n| e | f |\n")
	f.Fuzz(func(t *testing.T, source string) {
		page := Document(source)
		check(t, source, page)
		shown := elements(t, source, string(page.HTML))
		for _, h := range page.Hidden {
			shown += " " + h.Text
		}
		for _, line := range strings.Split(source, "\n") {
			// Letters are no text in entities and fences, and the address of a heading leaves marks out.
			if strings.ContainsAny(line, "&`~") || strings.Contains(line, "](#") {
				continue
			}
			for _, word := range words.FindAllString(line, -1) {
				if !strings.Contains(shown, word) {
					t.Errorf("%q is not shown of %q:\n%s", word, source, page.HTML)
				}
			}
		}
	})
}

// TestHostile renders documents that make a parser compare everything with everything. They would
// take minutes.
func TestHostile(t *testing.T) {
	for name, source := range map[string]string{
		"quotes": strings.Repeat(">", 100000) + "a", "quotes in lines": strings.Repeat(strings.Repeat("> ", 60)+"a\n", 3000),
		"lists": strings.Repeat("- ", 50000) + "a", "brackets": strings.Repeat("[", 10000), "closed brackets": strings.Repeat("[", 5000) + strings.Repeat("](a)", 5000),
		"images": strings.Repeat("![", 20000), "emphasis": strings.Repeat("*a _b ", 20000), "ticks": strings.Repeat("`a``b```c````d", 10000),
		"tags": strings.Repeat("<a ", 50000), "comments": strings.Repeat("<!-- ", 50000), "entities": strings.Repeat("&", 100000),
		"a long line": strings.Repeat("word ", 200000), "links": strings.Repeat("http://a.b/", 50000), "one line": strings.Repeat("x", 1<<20),
		"indented": func() string {
			var b strings.Builder
			for i := range 1000 {
				b.WriteString(strings.Repeat("  ", i) + "- a\n")
			}
			return b.String()
		}(),
		"unseen":     strings.Repeat("\u200b\u202e", 20000),
		"references": strings.Repeat("[a]: b\n", 20000), "headings": strings.Repeat("# a\n", 20000), "rows": "|a|\n|-|\n" + strings.Repeat("|b|\n", 20000),
		"paragraphs": strings.Repeat(strings.Repeat("[*a_`<&", 500)+"\n\n", 250),
	} {
		t.Run(name, func(t *testing.T) {
			page := Document(source)
			if len(page.HTML) > 40*len(source)+1000 {
				t.Errorf("%d bytes for %d", len(page.HTML), len(source))
			}
			check(t, name, Page{HTML: page.HTML})
		})
	}
}

// TestPlain checks that documents of people are rendered, whatever their size.
func TestPlain(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		plain  bool
	}{
		"English":       {specimen.English(1, 200<<10), false},
		"Chinese":       {specimen.Chinese(1, 200<<10), false},
		"a list":        {strings.Repeat("- see [one](https://x.org) and `two` and *three*\n", 5000), false},
		"a table":       {"| a | b |\n|---|---|\n" + strings.Repeat("| `one` | two |\n", 1000), false},
		"code":          {"```\n" + strings.Repeat("x := y\n", 10000) + "```\n", false},
		"a rule":        {strings.Repeat("-", 200), false},
		"deep quotes":   {strings.Repeat("> ", 100) + "a", true},
		"deep lists":    {strings.Repeat("- ", 100) + "a", true},
		"many links":    {strings.Repeat("[a](", 10000), true},
		"mixed lists":   {strings.Repeat("* + ", 100), true},
		"long spaces":   {strings.Repeat(" ", 500) + "a", true},
		"links in rows": {strings.Repeat("    - [a](\n", 10000), true},
		"a wide table":  {strings.Repeat("|a", 40) + "|\n" + strings.Repeat("|-", 40) + "|\n" + strings.Repeat(strings.Repeat("|", 41)+"\n", 500), false},
		"few cells":     {strings.Repeat("|a", 2000) + "|\n" + strings.Repeat("|-", 2000) + "|\n" + strings.Repeat("|\n", 2000), true},
		"quoted cells":  {"> " + strings.Repeat("|a", 2000) + "|\n> " + strings.Repeat("|-", 2000) + "|\n" + strings.Repeat("> |\n", 2000), true},
		"small tables":  {strings.Repeat(strings.Repeat("|a", 100)+"|\n"+strings.Repeat("|-", 100)+"|\n"+strings.Repeat("|\n", 300)+"\n", 50), true},
		"code in cells": {strings.Repeat("|a|\n|-|\n"+strings.Repeat("|`\\|`|\n", 2500)+"\n", 30), true},
	} {
		page := Document(test.source)
		if page.Plain != test.plain {
			t.Errorf("%s: plain is %v", name, page.Plain)
		}
		if test.plain != strings.HasPrefix(string(page.HTML), `<ol class="source">`) {
			t.Errorf("%s: begins with %.60s", name, page.HTML)
		}
	}
}

func BenchmarkDocument(b *testing.B) {
	source := strings.Repeat("## Goal\n\nThe **service** keeps each [run](https://x.org) on disk, `one` file a run.\n\n- first\n- second\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", 240)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Document(source)
	}
}
