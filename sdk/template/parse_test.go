package template_test

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/template"
)

// deep returns sections within each other.
func deep(levels int) string {
	var b strings.Builder
	for n := range levels {
		fmt.Fprintf(&b, "{title: Level %d, sections: [", n)
	}
	return b.String() + strings.Repeat("]}", levels)
}

func utf16Of(text string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

// TestParse: each bad template has its words, with the line.
func TestParse(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for n := 'b'; n < 'k'; n++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", n, n, n-1, n-1, n-1, n-1, n-1, n-1, n-1, n-1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "is empty"},
		"a comment":           {"# nothing\n", "is empty"},
		"no YAML":             {"sections: [", "not valid YAML: line 1"},
		"bytes":               {"sections: \xff\xfe\x00", "not valid YAML"},
		"a text":              {"just words", "cannot unmarshal !!str"},
		"a list":              {"- id: a\n", "line 1: the template has no sections"},
		"a longer list":       {"- id: a\n- id: b\n", "line 1: the template has no sections"},
		"no sections":         {"template: {id: x}\n", "line 1: the template has no sections"},
		"sections are a text": {"template: {id: x}\nsections: none\n", "line 2: cannot unmarshal !!str"},
		"sections are empty":  {"template: {id: x}\nsections: []\n", "has no sections"},
		"a circle":            {"sections: &a\n  - id: x\n    sections: *a\n", "or an alias contains itself"},
		"a circle of two":     {"x: &x {y: &y {z: *x}}\nsections: [{id: a, title: A, sections: *y}]\n", "contains itself"},
		"a bomb":              {bomb + "sections: [{id: a, title: A}]\n", "more than 100000 parts"},
		"depth 1,000":         {deep(1000), "nested more than 64 deep"},
		"10,000 sections":     {"sections:\n" + strings.Repeat("  - {title: A}\n", 10_000), "more than 1000 sections"},
		"too large":           {"sections: [{title: A}]\n" + strings.Repeat("#", template.MaxSize), "more than 1048576"},
		"merges a number":     {"sections: [{<<: 3, id: a}]\n", "map merge requires map"},
		"a key twice":         {"sections: []\nsections: []\n", `line 2: the key "sections" is already defined`},
		"a long title":        {"sections: [{title: '" + strings.Repeat("{{a}}", 61) + "'}]\n", `line 1: the title, filename or id "{{a}}`},
		"a long filename":     {"template: {output: {filename: " + strings.Repeat("a", 301) + "}}\nsections: [{title: A}]\n", "has 301 bytes, more than 300"},
		"a long id":           {"sections: [{id: " + strings.Repeat("a", 301) + "}]\n", "has 301 bytes, more than 300"},
	} {
		tmpl, err := template.Parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %+v", name, err, tmpl)
		}
	}
}

// TestWorst: the worst template of each kind is read, or refused with words, and estimated, in a short time and memory.
func TestWorst(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	fill := func(before, text, after string) string {
		return before + strings.Repeat(text, (template.MaxSize-len(before+after))/len(text)) + after
	}
	const one = "\nsections: [{title: A}]\n"
	output := func(key, text string) string { return "template: {output: {" + key + ": '" + text + "'}}" + one }
	for name, text := range map[string]string{
		"variables in both titles":    strings.Replace(output("title", strings.Repeat("{{a}}", 3000)), "title: A", "title: '"+strings.Repeat("{{a}}", 3000)+"'", 1),
		"a long title":                fill("sections: [{title: '", "{{a}}", "'}]"),
		"a long title of the output":  fill("template: {output: {title: '", "{{a}}", "'}}"+one),
		"alternatives":                fill("sections: [{title: '", "{a|b}", "'}]"),
		"a long filename":             fill("template: {output: {filename: '", "../", "'}}"+one),
		"a long id":                   fill("sections: [{id: '", "a", "'}, {id: a}]"),
		"long titles":                 "sections:\n" + many(990, "- {id: s%d, title: '"+strings.Repeat("{{a}}", 60)+"'}\n"),
		"long ids, alternatives":      "sections:\n" + strings.Repeat("- {id: "+strings.Repeat("i", 300)+", title: '"+strings.Repeat("{a|b}", 60)+"'}\n", 990),
		"variables in a text":         fill("sections: [{title: A, content: '", "{{a}}", "'}]"),
		"many variables":              "sections: [{title: A, content: '" + many(100_000, "{{%d}}") + "'}]",
		"a text in many sections":     fill("x: &x '", "y", "'\n"+"sections:\n"+many(900, "- {id: s%d, title: S, instruction: *x}\n")),
		"variables in many sections":  fill("x: &x '", "{{a}}", "'\n"+"sections:\n"+many(4, "- {id: s%d, title: S, content: *x}\n")+many(900, "- {id: t%d, title: S}\n")),
		"a comment in many sections":  fill("x: &x\n  #", "y", "\n  a: b\nsections:\n"+many(900, "- {id: s%d, title: S, examples: *x}\n")),
		"a tag in many sections":      fill("x: &x !", "y", " a\nsections:\n"+many(900, "- {id: s%d, title: S, examples: *x}\n")),
		"a key in many tables":        "x: {? &x '" + strings.Repeat("k", 900_000) + "' : 1}\nsections:\n" + many(900, "- {id: s%d, title: S, ? *x : 1}\n"),
		"one key":                     fill("x: {", "a: ,", "}"+one),
		"one key of the file":         fill("", "a:\n", one),
		"many keys":                   many(100_000, "k%d:\n") + one,
		"many tables of many keys":    "x: &x {" + many(999, "k%d: ,") + "}\ny: [" + strings.Repeat("*x,", 200_000) + "]" + one,
		"many keys of a section":      "sections: [{title: A, " + many(90_000, "k%d: ,") + "}]",
		"wide":                        fill("x: [", "a,", "]"+one),
		"wide of empty lists":         fill("x: [", "[],", "]"+one),
		"deep in brackets":            "x: " + strings.Repeat("[", 500_000) + one,
		"deep in braces":              "x: " + strings.Repeat("{a: ", 200_000) + one,
		"deep in dashes":              "x:\n" + strings.Repeat("- ", 500_000) + one,
		"deep in question marks":      "x:\n" + strings.Repeat("? ", 500_000) + one,
		"merged":                      "x: &x0 {a: b}\n" + many(60, "y%[1]d: &y%[1]d {<<: *x0}\n") + many(900, "z%d: {<<: [*x0, *y1]}\n") + one,
		"many anchors":                many(50_000, "- &a%d x\n"),
		"many aliases":                fill("x: &x a\ny: [", "*x,", "]"+one),
		"many conditions":             "sections:\n" + many(990, "- {id: s%d, title: A, condition: '"+strings.Repeat("c ", 400)+"'}\n"),
		"long examples":               "sections:\n" + many(990, "- {id: s%d, title: A, examples: ['"+strings.Repeat("e", 950)+"']}\n"),
		"choices":                     "sections:\n" + many(90, "- {id: s%d, title: A, type: choice, choices: ["+strings.Repeat("a,", 1000)+"]}\n"),
		"instructions without titles": "sections:\n" + many(990, "- {id: s%d, instruction: '"+strings.Repeat("e", 950)+"'}\n"),
		"one parent":                  "sections:\n- id: p\n  instruction: '" + strings.Repeat("z", 400_000) + "'\n  sections:\n" + many(30, "  - {id: s%d, title: S}\n"),
		"comments":                    fill("", "# a\n", one),
		"comments at keys":            fill("", "# a\n\n", "a: 1 # b"+one),
		"quotes":                      fill("x: '", "''", "'"+one),
		"escapes":                     fill(`x: "`, `\u0041`, `"`+one),
		"a block":                     fill("x: |\n", "  \n", "  a"+one),
		"a fold":                      fill("x: >\n", "  a\n\n", "  a"+one),
		"plain lines":                 fill("x:\n", "  a\n", one),
		"documents":                   fill("sections: [{title: A}]\n", "---\n", ""),
		"no section":                  fill("sections: [", "x,", "]"),
		"wrong values":                "sections:\n" + many(990, "- {id: s%d, title: A, elicit: "+strings.Repeat("e", 900)+"}\n"),
		"sections in sections":        "sections: [" + strings.Repeat("{title: A, sections: [", 30) + strings.Repeat("]}", 30) + "]",
		"merged sections": "sections: [" + strings.Repeat("{title: A, <<: {sections: [", 20) +
			"{title: '" + strings.Repeat("B", 200) + "', instruction: '" + strings.Repeat("i", 900_000) + "'}" + strings.Repeat("]}}", 20) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			var tmpl *template.Template
			var err error
			used := allocatedBy(func() { tmpl, err = template.Parse([]byte(text)) })
			if t.Logf("%d bytes: %d MB in all, %.150v", len(text), used, err); used > mostAllocated {
				t.Errorf("it took %d MB", used)
			}
			if err != nil {
				return
			}
			_, job := begin(t, &filler{}, template.Order{Template: []byte(text), Words: "x"}, sdk.Options{}, quietly(sdk.SessionOptions{}))
			var e template.Estimate
			used = allocatedBy(func() { e = job.Estimate() })
			if t.Logf("%d sections, %d calls: %d MB", len(tmpl.Sections), e.Calls, used); used > mostAllocated {
				t.Errorf("the estimate took %d MB", used)
			}
		})
	}
}

// mostAllocated bounds the work on a template by the memory that it takes in all, in MB: a time depends on the machine.
const mostAllocated = 2000

func allocatedBy(work func()) (megabytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// TestWarnings: a key or value without a use is named, and does no harm.
func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an unknown key":      {"sections: [{id: a, title: A, colour: red}]", `the key "colour" is not known`},
		"an id twice":         {"sections: [{id: a, title: A}, {id: a, title: B}]", `another section "a"`},
		"no title":            {"sections: [{id: a}, {title: B}]", `the section "a" has neither a title nor anything to write`},
		"no section":          {"sections: [words, {title: B}]", "cannot unmarshal !!str"},
		"repeats nothing":     {"sections: [{id: a, title: A, repeatable: true}]", "nothing says with which items"},
		"no choices":          {"sections: [{id: a, title: A, type: choice, choices: []}]", "a choice without choices"},
		"a title of a list":   {"sections: [{id: a, title: [1, 2]}, {title: B}]", "cannot unmarshal !!seq"},
		"a word for a bool":   {"sections: [{id: a, title: A, elicit: perhaps}]", "cannot unmarshal !!str `perhaps`"},
		"a parent folder":     {"template: {output: {filename: ../../etc/passwd}}\nsections: [{title: A}]", "lies outside of the project"},
		"an absolute file":    {"template: {output: {filename: /etc/passwd}}\nsections: [{title: A}]", "lies outside of the project"},
		"a drive":             {"template: {output: {filename: 'C:\\x.md'}}\nsections: [{title: A}]", "lies outside of the project"},
		"a name of an object": {"template: {id: x, output: docs}\nsections: [{title: A}]", "cannot unmarshal !!str"},
	} {
		tmpl, err := template.Parse([]byte(c.text))
		if err != nil || !strings.Contains(strings.Join(tmpl.Warnings, "\n"), c.want) {
			t.Errorf("%s: %v, %+v", name, err, tmpl)
			continue
		}
		_, job := begin(t, &filler{}, template.Order{Template: []byte(c.text), Words: "x"}, sdk.Options{}, quietly(sdk.SessionOptions{}))
		if r, err := job.Run(t.Context()); err != nil || !r.Done || !strings.HasPrefix(r.Path, "/docs/") || !strings.HasSuffix(r.Path, ".md") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestForms: one template in many forms of files gives one document.
func TestForms(t *testing.T) {
	const text = "template:\n  name: N\n  output:\n    title: T of {{x}}\nsections:\n  - id: a\n    title: A\n    sections:\n      - id: b\n        title: B {{x}}\n"
	for name, file := range map[string]string{
		"plain": text, "BOM": "\ufeff" + text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "UTF-16": utf16Of(text),
		"a table of sections": "template: {name: N, output: {title: 'T of {{x}}'}}\nsections:\n  a:\n    title: A\n    sections:\n      b: {title: 'B {{x}}'}\n",
		"aliases":             "template: {name: N, output: {title: 'T of {{x}}'}}\nthe: &b {id: b, title: 'B {{x}}'}\nsections:\n  - id: a\n    title: A\n    sections: [*b]\n",
		"merged":              "template: {name: N, output: {title: 'T of {{x}}'}}\nsections:\n  - &a {id: a, title: A, sections: [{<<: {title: 'B {{x}}'}, id: b}]}\n",
	} {
		order := template.Order{Template: []byte(file), Words: "x", Variables: map[string]string{"x": "an {{y}}"}}
		_, job := begin(t, &filler{}, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
		r, err := job.Run(t.Context())
		if err != nil || r.Text != "# T of an y\n\n## A\n\n### B an y\n\nThe text of b.\n" {
			t.Errorf("%s: %q, %v", name, r.Text, err)
		}
	}
}

// TestFormOfFields: a template without sections is a YAML document.
func TestFormOfFields(t *testing.T) {
	const text = "template: {id: gate, output: {format: yaml, filename: 'gates/{{n}}-{{slug}}.yml', title: 'Gate {{n}}'}}\n" +
		"schema: 1\ngate: '{{status}}'\nexamples: {a: b}\n"
	model := &filler{text: func(string) string { return "```yaml\nschema: 1\ngate: PASS\n```" }}
	order := template.Order{Template: []byte(text), Words: "x", Variables: map[string]string{"n": "1.2", "slug": "../x"}}
	_, job := begin(t, model, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
	r, err := job.Run(t.Context())
	if err != nil || r.Text != "# Gate 1.2\n\nschema: 1\ngate: PASS\n" || r.Path != "/gates/1.2--x.yml" {
		t.Errorf("%q in %s: %v", r.Text, r.Path, err)
	}
	if !strings.Contains(model.prompts[0], "examples:") {
		t.Error("the examples have not reached the model")
	}
}

// TestHostileTexts: neither a title, a variable nor a text of the model makes a heading, or hides one.
func TestHostileTexts(t *testing.T) {
	for _, text := range hostileTexts {
		checkText(t, text)
	}
	for _, title := range []string{"A\n# B", "<script>A", "A <!-- b", `\<a>`, "`<a>", "# A", "#1 A", "C#", "A ##", "```", "a: *b*",
		"{{", "{{}}", "{{ x", "{A|B", "a\x1b[31mb", "$1 {A|$B}", strings.Repeat("long ", 60)} {
		for _, value := range []string{"{{other}}", "a\n# b", "#", "<h1>x</h1>", "", "../../x", "`"} {
			order := template.Order{Template: fmt.Appendf(nil, "template: {output: {title: %q, filename: '{{x}}.md'}}\n"+
				"sections: [{id: a, title: %q}, {id: b, title: 'B {{x}}', repeatable: true}, {id: c, title: End}]", title, title),
				Words: "w", Variables: map[string]string{"x": value}}
			_, job := begin(t, &filler{}, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
			r, err := job.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := headingsIn(r.Text); len(got) != 5 || got[4] != "2 End" || len(htmlIn(r.Text)) > 0 || strings.Contains(r.Text, "{{other") || strings.Contains(r.Path+"/", "/../") {
				t.Errorf("title %q, variable %q: headings %q in %s", title, value, got, r.Path)
			}
		}
	}
}

var hostileTexts = []string{
	"# One\n## Two\n### Three", "A\n===\nB\n---\nC", "```\n# in code\n", "~~~~\n```\n# in code", "``` a`b\n# real", "<!-- open\n# hidden", "<script>\nx", "<pre>\n# x\n\n# y",
	"<h1>x</h1>", "> # quoted", "- # in a list", "1. > # both", "   # three spaces", "    # code", "\t# code", "#", "#hash", "a\r# b\rc", "text <!-- x", "<![CDATA[\nx", "<?php\nx",
	"<div>\n# x\n</div>\n\n# y", "- a\n  ```\n# out", "> ```\n# out", "| a |\n|---|\n# x", "[a]: b\n# c", "####### seven", "\u00a0# x",
	"\\# x", "* * *\n# x", "x\n  ---", "-\n  # x", "- a\n\n  b\n  ===",
	"> a\n===", "> a\n> ---", "<textarea>\n\n# x", "<style\n>", "<SCRIPT SRC=x>\n\n\n# x", "a\n\t===", "+ - * # x",
	"<plaintext>", "<xmp>\nx", "a <iframe src=x>", "<title>", "> <noscript>", "- <select>", "# <details>", "a\n  <b", "<x-y>", "</a>", "`<a>`", "`a\n` <a>",
	"`a\n\n<a>` `<b>`", "\\`<a>`", "`` a ` <a> ` b", "` a ``` <a> `` b", "`a`` b ` <a> `", "| ` | <a> | ` |\n|---|---|---|\n| ` | <a> | ` |", "<https://a`b> <c>`d`",
	"https://a` <b>`", "<https://x.y> <a", "<https://a`> <b> `", "[a](<b>)", "\\<a>", "\\\\<a>", "&<a>", "<\u00a0a>", "`\u00a0\n\u00a0\n<a>`", "`a` `<b>` `", "<https://<a>",
	"a `\n<!-- `\n\nb", "***`<a>`***", "`\f\n\f\n`<a>`", "~~~ <a>\n<b>", "    `\n\n<a>`",
	"<a\n# x", "`` ` \n# x", "```x\ny\n``` z\n# w", "<details>\n<summary>\n# x",
}

// TestCodeStays: addresses and the code of a text stay as they are, other HTML is shown.
func TestCodeStays(t *testing.T) {
	for text, want := range map[string]string{
		"a `List<String>` of `<b>`":    "",
		"``a<b>``":                     "",
		"| `Map<K>` | x |":             "",
		"see <https://x.y/z?a=b> now":  "",
		"1 < 2, a <- b, a<1":           "",
		"```\n<details>\n```":          "",
		"a <details> b<br/>":           "a &lt;details> b&lt;br/>",
		"<details>\n\nx\n\n</details>": "&lt;details>\n\nx\n\n&lt;/details>",
	} {
		model := &filler{text: func(string) string { return text }}
		_, job := begin(t, model, template.Order{Template: []byte("sections: [{id: a, title: A}]"), Words: "x"}, sdk.Options{}, quietly(sdk.SessionOptions{}))
		r, err := job.Run(t.Context())
		if got := strings.TrimPrefix(r.Text, "# Document\n\n## A\n\n"); err != nil || got != cmp.Or(want, text)+"\n" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// checkText checks that a text of the model leaves the headings of the template as they are.
func checkText(t *testing.T, text string) {
	t.Helper()
	const file = "template: {name: N}\nsections: [{id: a, title: A, sections: [{id: b, title: B, type: paragraphs}]}, " +
		"{id: c, title: C, type: paragraphs, sections: [{id: d, title: D}]}, {id: e, title: E, type: paragraphs, sections: [{id: f, title: F}]}]"
	model := &filler{text: func(string) string { return text }}
	_, job := begin(t, model, template.Order{Template: []byte(file), Words: "x"}, sdk.Options{}, quietly(sdk.SessionOptions{}))
	r, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for _, h := range headingsIn(r.Text) {
		if h[0] < '4' {
			own = append(own, h)
		}
	}
	if want := "1 N,2 A,3 B,2 C,3 D,2 E,3 F"; strings.Join(own, ",") != want && strings.TrimSpace(text) != "" {
		t.Errorf("the text %q makes the headings %q of\n%s", text, own, r.Text)
	}
	if html := htmlIn(r.Text); len(html) > 0 {
		t.Errorf("the text %q makes the HTML %q of\n%s", text, html, r.Text)
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/every-tmpl.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("sections: &a [{id: x, sections: *a}]")
	f.Add("sections: [{title: 'A {{x}}'}, {title: 'B {{x}}', condition: c}]\ntemplate: {output: {title: T}}")
	f.Add("sections: [{title: '{{x}} {A|B}', repeatable: yes, sections: [{title: '{{x}}'}]}]\nother: [1]")
	f.Fuzz(func(t *testing.T, text string) {
		tmpl, err := template.Parse([]byte(text))
		if err != nil {
			return
		}
		if len(tmpl.Sections) > 20 || len(text) > 2000 {
			return // it takes long
		}
		_, job := begin(t, &filler{}, template.Order{Template: []byte(text), Words: "x"}, sdk.Options{}, quietly(sdk.SessionOptions{}))
		r, err := job.Run(t.Context())
		if err != nil || !r.Done {
			t.Fatalf("%v: %+v of %+v", err, r, tmpl)
		}
		if n := len(headingsIn(r.Text)); n == 0 {
			t.Errorf("no heading in %q", r.Text)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, text := range hostileTexts {
		f.Add(text)
	}
	f.Fuzz(checkText)
}
