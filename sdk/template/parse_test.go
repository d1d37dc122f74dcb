package template_test

import (
	"fmt"
	"os"
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
		"a key twice":         {"sections: []\nsections: []\n", "already defined"},
	} {
		tmpl, err := template.Parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %+v", name, err, tmpl)
		}
	}
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
	for _, title := range []string{"A\n# B", "<script>A", "A <!-- b", "# A", "#1 A", "C#", "A ##", "```", "a: *b*",
		"{{", "{{}}", "{{ x", "{A|B", "a\x1b[31mb", "$1 {A|$B}", strings.Repeat("long ", 500)} {
		for _, value := range []string{"{{other}}", "a\n# b", "#", "<h1>x</h1>", "", "../../x", "`"} {
			order := template.Order{Template: fmt.Appendf(nil, "template: {output: {title: %q, filename: '{{x}}.md'}}\n"+
				"sections: [{id: a, title: %q}, {id: b, title: 'B {{x}}', repeatable: true}, {id: c, title: End}]", title, title),
				Words: "w", Variables: map[string]string{"x": value}}
			_, job := begin(t, &filler{}, order, sdk.Options{}, quietly(sdk.SessionOptions{}))
			r, err := job.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := headingsIn(r.Text); len(got) != 5 || got[4] != "2 End" || strings.Contains(r.Text, "{{other") || strings.Contains(r.Path+"/", "/../") {
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
	"<a\n# x", "`` ` \n# x", "```x\ny\n``` z\n# w", "<details>\n<summary>\n# x",
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
