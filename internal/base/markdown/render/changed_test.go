package render

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
)

// marked returns the blocks of a page of changes in a line each, with only the marks of changes.
func marked(p Page) string {
	var out []string
	for _, s := range p.Sections {
		for _, b := range s.Parts {
			text := string(b.HTML)
			text = regexp.MustCompile(`</?(p|h[2-6]|code|pre|strong|em|thead|tbody|table|div|span|a)( [^>]*)?>`).ReplaceAllString(text, "")
			text = regexp.MustCompile(` (id|data-l|tabindex)="[^"]*"`).ReplaceAllString(text, "")
			text = strings.NewReplacer("<ins>", "[+", "</ins>", "+]", `<del class="gone">`, "[-", "</del>", "-]", "\n", "¶").Replace(text)
			if b.Change != "" {
				text = string(b.Change) + " " + text
			}
			out = append(out, strings.TrimSuffix(text, "¶"))
		}
		if s.Folds {
			out = append(out, "(folds)")
		}
	}
	return strings.Join(out, "\n")
}

func TestChanges(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"equal", "## A\n\nb c\n", "## A\n\nb c\n", "A\nb c\n(folds)"},
		{"words", "A link works for 60 minutes. The mail is sent at once. More.\n", "A link works for 15 minutes. A second one ends it. The mail is sent within 10 seconds. More.\n",
			"changed A link works for [-60-][+15+] minutes. [+A second one ends it.+] The mail is sent [-at once-][+within 10 seconds+]. More."},
		{"at both ends", "one two three four\n", "zero two three five six\n", "changed [-one-][+zero+] two three [-four-][+five six+]"},
		{"only removed", "one two three four\n", "two three\n", "changed [-one -]two three[- four-]"},
		{"within emphasis", "it is **very big** now\n", "it is **rather big** now\n", "changed it is [-very-][+rather+] big now"},
		{"another target of a link", "see [the page](https://a.org) here\n", "see [the page](https://b.org) here\n", "changed see [-the page-][+the page+] here"},
		{"emphasis alone", "a b c\n", "a **b** c\n", "changed a b c"},
		{"characters without a shape", "a b c d\n", "a b\u202e c d\n", "changed a b[+‹U+202E›+] c d"},
		{"marks of HTML", "a <b> & \"c\" d\n", "a <i> & \"c\" d\n", "changed a &lt;[-b-][+i+]&gt; &amp; &#34;c&#34; d"},
		{"a strike of the author", "a b c\n", "a ~~b~~ c\n", "changed a <del>b-] c"},
		{"items", "- a one\n- b two\n- c three\n", "- a one\n- b too two\n- d four\n- c three\n", "changed <ul><li>a one</li><li>b [+too+] two</li><li>[+d four+]</li><li>c three</li></ul>"},
		{"an item goes", "- a one\n- b two\n", "- a one\n", `changed <ul><li>a one</li><li class="gone">[-b two-]</li></ul>`},
		{"nested items", "- a\n  - b one\n  - c two\n", "- a\n  - b one\n  - c three two\n", "changed <ul><li>a<ul><li>b one</li><li>c [+three+] two</li></ul></li></ul>"},
		{"rows and cells", "| a | b |\n|---|---|\n| x one | 1 |\n| y two | 2 |\n", "| a | b |\n|---|---|\n| x one | 3 |\n| z new | 4 |\n",
			`changed ¶<tr><th>a</th><th>b</th></tr>¶<tr><td>x one</td><td>[-1-][+3+]</td></tr><tr class="gone"><td class="gone">[-y two-]</td><td class="gone">[-2-]</td></tr><tr><td>[+z new+]</td><td>[+4+]</td></tr>`},
		{"a column comes", "| a |\n|---|\n| x one |\n", "| a | b |\n|---|---|\n| x one | 3 |\n", "changed <tr><th>a</th><th>[+b+]</th></tr><tr><td>x one</td><td>[+3+]</td></tr>"},
		{"code by line", "```\na := 1\nb := 2\nc := 3\n```\n", "```\na := 1\nb := 4\nd := 5\nc := 3\n```\n", "changed a := 1¶b := [-2-][+4¶d := 5+]¶c := 3"},
		{"indentation of code", "```\nif x:\n  y\n```\n", "```\nif x:\n    y\n```\n", "changed if x:¶[-  -][+    +]y"},
		{"a diagram", "```mermaid\ngraph LR\n```\n", "```mermaid\ngraph TD\n```\n", "removed [-mermaid-][-graph LR¶-]\nadded [+mermaid+]graph TD¶"},
		{"a block goes", "a one two\n\nb three four\n\nc five six\n", "a one two\n\nc five six\n", "a one two\nremoved [-b three four-]\nc five six"},
		{"a block comes", "a one two\n", "a one two\n\nb\n", "a one two\nadded [+b+]"},
		{"nothing in common", "a b\n", "c d\n", "removed [-a b-]\nadded [+c d+]"},
		{"a paragraph is a list", "a b\n", "- a b\n", "removed [-a b-]\nadded <ul>¶<li>[+a b+]</li>¶</ul>"},
		{"a section goes", "## A\n\na b\n\n## C\n\nd e\n\n## F\n\ng\n", "## A\n\na b\n\n## F\n\ng\n", "A\na b\n(folds)\nremoved [-C-]\nremoved [-d e-]\nF\ng\n(folds)"},
		{"a section comes last", "## A\n\na b\n", "## A\n\na b\n\n## C\n\nd\n", "A\na b\n(folds)\nadded [+C+]\nadded [+d+]"},
		{"the last section goes", "## A\n\na b\n\n## C\n\nd\n", "## A\n\na b\n", "A\na b\n(folds)\nremoved [-C-]\nremoved [-d-]"},
		{"moved with a new number", "## 1. A\n\na b\n\n## 2. C\n\nd e\n", "## 1. C\n\nd e\n\n## 2. A\n\na b\n", "changed [-2-][+1+]. C\nd e\n(folds)\nchanged [-1-][+2+]. A\na b\n(folds)"},
		{"new line breaks", "## A\n\na b c d\n", "## A\n\na b\nc d\n", "A\na b¶c d\n(folds)"},
		{"Chinese", "上限为五兆，保留三十天。\n", "上限为十兆，保留三十天。\n", "changed 上限为[-五-][+十+]兆，保留三十天。"},
		{"front matter", "---\na: b\n---\n\nx\n", "---\na: c\n---\n\nx\n", "changed ---¶a: [-b-][+c+]¶---\nx"},
	} {
		page := Changes(test.before, test.after)
		if got := marked(page); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		checkChanges(t, test.before, test.after, page)
	}
}

// checkChanges fails unless a page of changes has all text of the new version, and the removed text is the old one's.
func checkChanges(t *testing.T, before, after string, page Page) {
	t.Helper()
	if page.Plain || page.Compared == nil {
		return
	}
	var whole, kept, gone strings.Builder
	ids := map[string]bool{}
	for _, s := range page.Sections {
		if ids[s.ID] {
			t.Errorf("two sections have the id %s", s.ID)
		}
		ids[s.ID] = true
		for _, p := range s.Parts {
			if ids[p.ID] {
				t.Errorf("two blocks have the id %s", p.ID)
			}
			ids[p.ID] = true
			if p.Change == changes.Removed {
				gone.WriteString(string(p.HTML))
				continue
			}
			whole.WriteString(string(p.HTML))
		}
	}
	read(t, whole.String(), &kept, &gone)
	var want strings.Builder
	var none strings.Builder
	read(t, string(htmlOf(Document(after))), &want, &none)
	if a, b := solid(kept.String()), solid(want.String()); a != b {
		t.Errorf("%q to %q: the page has the text\n%q, not\n%q", before, after, a, b)
	}
}

func htmlOf(p Page) HTML {
	var b strings.Builder
	for _, s := range p.Sections {
		for _, part := range s.Parts {
			b.WriteString(string(part.HTML))
		}
	}
	return HTML(b.String())
}

// read adds the text of a page to kept, and that of removed elements to gone. Tags have to match.
func read(t *testing.T, page string, kept, gone *strings.Builder) {
	t.Helper()
	var open []string
	removed := 0
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("elements %v stay open in %s", open, page)
			}
			return
		case html.TextToken:
			if removed > 0 {
				gone.WriteString(z.Token().Data)
			} else {
				kept.WriteString(z.Token().Data)
			}
		case html.StartTagToken:
			token := z.Token()
			if token.Data == "br" || token.Data == "hr" {
				continue
			}
			name := token.Data
			for _, a := range token.Attr {
				if a.Key == "class" && a.Val == "gone" {
					name += ".gone"
					removed++
				}
			}
			open = append(open, name)
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || strings.TrimSuffix(open[len(open)-1], ".gone") != name {
				t.Errorf("</%s> ends %v in %s", name, open, page)
				return
			}
			if strings.HasSuffix(open[len(open)-1], ".gone") {
				removed--
			}
			open = open[:len(open)-1]
		}
	}
}

func solid(text string) string { return strings.Join(strings.Fields(text), "") }

func FuzzChanges(f *testing.F) {
	f.Add("# a\n\nb **c** d\n\n- e\n- f\n", "# a\n\nb c g\n\n- e\n  - h\n- f\n")
	f.Add("|a|b|\n|-|-|\n|c|d|\n", "|a|b|\n|-|-|\n|e|d|\n|f|\n")
	f.Add("```go\nfunc a() {}\n```\n\n> b\n> c", "```go\nfunc b() {\n}\n```\n\n> b\n>\n> c\n")
	f.Add("a ~~b~~ [c](d) <i> \u202e", "a b [c](e 'f') <!-- g --> \u202d")
	for i, payload := range payloads {
		f.Add(payload, payloads[(i*7+3)%len(payloads)])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		checkChanges(t, before, after, Changes(before, after))
	})
}

// TestChangesOfHostile compares documents that cannot be compared word by word with each other. It would take minutes.
func TestChangesOfHostile(t *testing.T) {
	many := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i, i*i)
		}
		return b.String()
	}
	longCode := "\n\n```\n" + strings.Repeat("a b ", 30_000) + "\n```\n"
	for name, pair := range map[string][2]string{
		"one line":       {strings.Repeat("word ", 25_000), strings.Repeat("other ", 20_000)},
		"one word often": {strings.Repeat("a b ", 30_000), strings.Repeat("b a a ", 20_000)},
		"a long line":    {strings.Repeat("word ", 80_000), strings.Repeat("word others ", 40_000)},
		"sections":       {many(5000, "## %d a\n\ntext %d\n\n"), many(5000, "## %d b\n\ntext x%d\n\n")},
		"paragraphs":     {many(5000, "p%d q%d\n\n"), many(5000, "r%d s%d\n\n")},
		"rows":           {"|a|b|\n|-|-|\n" + many(5000, "|a%d|b%d|\n"), "|a|b|\n|-|-|\n" + many(5000, "|c%d|d%d|\n")},
		"lines of code":  {"```\n" + many(5000, "a%d(b%d)\n") + "```\n", "```\n" + many(5000, "c%d(d%d)\n") + "```\n"},
		"long code":      {strings.Repeat(longCode, 8), strings.ReplaceAll(strings.Repeat(longCode, 8), "b \n", "c\n")},
		"items":          {many(5000, "- a%d b %d\n"), many(5000, "- a%d c %d\n")},
		"headings":       {strings.Repeat("# a\n", 5000), strings.Repeat("## a\n", 5000)},
		"nothing":        {many(2000, "p%d q%d\n\n"), ""},
	} {
		page := Changes(pair[0], pair[1])
		size := 0
		for _, s := range page.Sections {
			for _, p := range s.Parts {
				size += len(p.HTML)
			}
		}
		if size > 40*(len(pair[0])+len(pair[1]))+1000 {
			t.Errorf("%s: %d bytes for %d", name, size, len(pair[0])+len(pair[1]))
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	section := "## Goal %d\n\nThe **service** keeps each [run](https://x.org) on disk, `one` file a run, number %[1]d.\n\n- first\n- second\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
	var before strings.Builder
	for i := range 140 {
		fmt.Fprintf(&before, section, i)
	}
	after := strings.Replace(before.String(), "- second", "- third and fourth", 30)
	b.SetBytes(int64(len(after)))
	for b.Loop() {
		Changes(before.String(), after)
	}
}
