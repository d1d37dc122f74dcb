package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSections(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         []string
	}{
		{"title and sections", "# A\n\nOne.\n\n## B\n\n- x\n\n### C\n\n|a|\n|-|\n|b|\n\n## D", []string{
			"s1 l1 A 1-3: b1 heading 1-1, b3 paragraph 3-3", "s2 l5 B 5-13: b5 heading 5-5, b7 list 7-7, b9 heading 9-9, b11 table 11-13", "s3 l15 D 15-15: b15 heading 15-15",
		}},
		{"before the first heading", "---\na: b\n---\nText\n\n# A\n", []string{"s1   1-4: b1 front matter 1-3, b4 paragraph 4-4", "s2 l6 A 6-6: b6 heading 6-6"}},
		{"no heading", "Text\n\n> # Quoted\n", []string{"s1   1-3: b1 paragraph 1-1, b3 quote 3-3"}},
		{"a mark of bytes", "\ufeff# A", []string{"s1   1-1: b1 unseen 1-1", "s2 l1 A 1-1: b1-2 heading 1-1"}},
		{"lines of Windows", "# A\r\n\r\n```go\r\nx\r\n```\r\n", []string{"s1 l1 A 1-5: b1 heading 1-1, b3 code 3-5"}},
		{"a deep heading first", "### A\n\n## B\n\n***\n", []string{"s1   1-1: b1 heading 1-1", "s2 l3 B 3-5: b3 heading 3-3, b5 rule 5-5"}},
		{"nothing", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := Document(test.source)
			var got []string
			for _, s := range page.Sections {
				var parts []string
				for _, p := range s.Parts {
					parts = append(parts, fmt.Sprintf("%s %s %d-%d", p.ID, p.Kind, p.From, p.To))
					if framed := fmt.Sprintf("<div class=\"b\" id=%q>\n%s</div>\n", p.ID, p.HTML); !strings.Contains(string(page.HTML), framed) {
						t.Errorf("the page has no %s", framed)
					}
				}
				got = append(got, fmt.Sprintf("%s %s %s %d-%d: %s", s.ID, s.Heading, s.Title, s.From, s.To, strings.Join(parts, ", ")))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("sections:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			check(t, test.source, page)
		})
	}
}

// colours returns code with its classes in brackets, or an error if the parts are not the code.
func colours(language, code string) (string, error) {
	var b, all strings.Builder
	var err error
	ScanCode(language, code, func(class, part string) {
		all.WriteString(part)
		if part == "" || !strings.Contains(" k t f c ", " "+class+" ") && class != "" {
			err = fmt.Errorf("part %q of class %q", part, class)
		}
		if class != "" {
			part = class + "[" + part + "]"
		}
		b.WriteString(part)
	})
	if all.String() != code {
		err = fmt.Errorf("parts %q of %q", all.String(), code)
	}
	return b.String(), err
}

func TestScanCode(t *testing.T) {
	for _, test := range []struct{ language, code, want string }{
		{"go", "// a\nfunc f(x int) { return \"a\\\"b\" } /* c\nd */", "c[// a]\nk[func] f[f](x k[int]) { k[return] t[\"a\\\"b\"] } c[/* c\nd */]"},
		{"Go", "s := `a\n\"b` + 'x' + 0x1F", "s := t[`a\n\"b`] + t['x'] + t[0x1F]"},
		{"python", "def f(x):\n  '''a\n  b'''\n  # c\n  return None", "k[def] f[f](x):\n  c['''a\n  b''']\n  c[# c]\n  k[return] k[None]"},
		{"rust", "fn f<'a>(x: &'a str) { println!(\"x\") }", "k[fn] f<'a>(x: &'a k[str]) { f[println]!(t[\"x\"]) }"},
		{"sql", "SELECT 'it''s' FROM t -- a", "k[SELECT] t['it']t['s'] k[FROM] t c[-- a]"},
		{"yaml", "a: http://x#y # z", "f[a]: f[http]://x#y c[# z]"},
		{"json", `{"a": [1, true, "b"]}`, `{f["a"]: [t[1], k[true], t["b"]]}`},
		{"sh", "echo \"$#\" ${#x} 'a b' # c", "echo t[\"$#\"] ${#x} t['a b'] c[# c]"},
		{"html", "<a href=\"x\"><!-- b", "<a f[href]=t[\"x\"]>c[<!-- b]"},
		{"text", "func x() // a", "func x() // a"},
		{"", "func", "func"},
		{"go", "it's open\nif x", "it's open\nk[if] x"},
		{"go", "ifé if", "ifé k[if]"},
		{"go", "\"" + strings.Repeat("x", maxString), "\"" + strings.Repeat("x", maxString)},
		{"go", strings.Repeat("if ", maxCode/2), strings.Repeat("if ", maxCode/2)},
	} {
		if got, err := colours(test.language, test.code); got != test.want || err != nil {
			t.Errorf("%s %q: %q, %v; want %q", test.language, test.code, got, err, test.want)
		}
	}
}

// TestColours checks that unseen characters and lines of code stay visible and counted below the colours.
func TestColours(t *testing.T) {
	page := Document("```go\n/* a\n\u202eb */ \"c\u200b\u200b\"\n```\n")
	want := "<code><span class=\"c\">/* a\n<span class=\"unseen\" title=\"U+202E\">‹U+202E›</span>b */</span> " +
		"<span class=\"t\">&#34;c<span class=\"unseen\" title=\"U+200B\">‹U+200B×2›</span>&#34;</span>\n</code>"
	if !strings.Contains(string(page.HTML), want) {
		t.Errorf("page:\n%s\nwithout:\n%s", page.HTML, want)
	}
	if got, want := fmt.Sprint(page.Hidden), "[{3 unseen U+202E} {3 unseen U+200B×2}]"; got != want {
		t.Errorf("hidden %s, want %s", got, want)
	}
}

// TestDiagramComments checks that the comments of a diagram are listed: a drawing does not have them.
func TestDiagramComments(t *testing.T) {
	page := Document("```mermaid\ngraph TD\n  %% approve this\n  A-->B\n```\n\n```go\n%% none\n```\n")
	if got, want := fmt.Sprint(page.Hidden), "[{3 comment %% approve this}]"; got != want {
		t.Errorf("hidden %s, want %s", got, want)
	}
}

func FuzzScanCode(f *testing.F) {
	for _, code := range []string{"a \"b\\", "/*", "'''", "`x\n", "\xff\"\u202e\n#", "--[[ ]]", "\"\\\"\\\"", "0x1 if(\"é\")"} {
		for i := range syntaxes {
			f.Add(strings.Fields(syntaxes[i].names)[0], code)
		}
	}
	f.Fuzz(func(t *testing.T, language, code string) {
		if _, err := colours(language, code); err != nil && code != "" {
			t.Error(err)
		}
	})
}
