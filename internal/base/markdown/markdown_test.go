package markdown_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

func TestHeadings(t *testing.T) {
	document := strings.Join([]string{
		"# 1. The Title #", // 0
		"",
		"Goals: ship it",
		"",
		"Overview",
		"--------",
		"**Open Questions:** none", // 6
		"**Someone said this.**",
		"- **A label**",
		"",
		"## 二、Non-Functional `Requirements`",
		"```sh",
		"# not a heading", // 12
		"```",
		"<!-- ## hidden",
		"## hidden too --> ## shown",
		"### Deep", // 16
		"**Bold alone**",
		"Goals and more",
	}, "\n")
	d := markdown.Read(document, []string{"goals", "open questions"})
	var got []string
	for _, h := range d.Heads {
		got = append(got, fmt.Sprintf("%d-%d L%d %s|%s|%s", h.Line, h.End, h.Level, h.Text, h.Name, h.Rest))
	}
	want := []string{
		"0-19 L1 1. The Title|the title|",
		"2-4 L7 Goals|goals|ship it",
		"4-10 L2 Overview|overview|",
		"6-10 L7 Open Questions|open questions|none",
		"10-15 L2 二、Non-Functional `            `|nonfunctional|",
		"15-19 L2 shown|shown|",
		"16-19 L3 Deep|deep|",
		"17-19 L8 Bold alone|bold alone|",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if title, i := d.Title(); title != "1. The Title" || i != 0 {
		t.Errorf("got title %q at %d, want that of the first line", title, i)
	}
	for line, want := range map[int]bool{2: true, 3: true, 4: false, 18: false} {
		if got := d.LinesOf(d.Sections([]string{"goals"}))[line]; got != want {
			t.Errorf("line %d is within the goals: got %v, want %v", line, got, want)
		}
	}
	if got := len(d.HeadsIn(4, 17)); got != 5 {
		t.Errorf("got %d headings between lines 4 and 17, want 5", got)
	}
}

func TestCode(t *testing.T) {
	for name, tt := range map[string]struct {
		document string
		code     string // a mark for each line that is code
		said     string
	}{
		"a fence":                {"a\n```go\nb\n```\nc", ".###.", "a||||c"},
		"a longer fence":         {"````\n```\n````\nc", "###.", "|||c"},
		"one that never closes":  {"a\n```\nb", "...", "a|```|b"},
		"code behind the mark":   {"```a```\nb", "..", "``` ```|b"},
		"around the whole":       {"```markdown\n# A\n```sh\nb\n```\n```\n", "..###..", "|# A|||||"},
		"front matter":           {"---\nname: x\n---\nb", "###.", "|||b"},
		"inline code":            {"a `b|c` d", ".", "a `   ` d"},
		"a comment over lines":   {"a <!-- b\n```\nc --> d", "...", "a || d"},
		"two comments in a line": {"a<!--b-->c<!--d\ne", "..", "ac|"},
	} {
		d := markdown.Read(tt.document, nil)
		code := ""
		for _, is := range d.Code {
			code += map[bool]string{true: "#", false: "."}[is]
		}
		if said := strings.Join(d.Said, "|"); code != tt.code || said != tt.said {
			t.Errorf("%s: got %s %q, want %s %q", name, code, said, tt.code, tt.said)
		}
	}
}

// FuzzLines compares the readers of a line with the expressions that define them.
func FuzzLines(f *testing.F) {
	item := regexp.MustCompile(`^([ \t]*)(?:[-*+•·]|\d{1,3}[.)、）]|[(（]\d{1,2}[)）])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$`)
	heading := regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+|$)(.*?)[ \t]*#*[ \t]*$`)
	for _, line := range []string{"", "- a", "-a", " \t* [x] a", "- [x]", "- [ ]\tb", "• a", "1. a", "1234. a", "12、 b", "(1) a", "（12） a", "(123) a", "() a", "1) ", "-  ", "- a\nb", "# a", "#a", "    # a", "####### a", "## a ## ", "#", "##  ", "# # #", "# a #b", "#\ta", "# a\n", "# \u00a0a"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		indent, body, ok := markdown.Item(line)
		if m := item.FindStringSubmatch(line); ok != (m != nil) || ok && (indent != len(m[1]) || body != m[2]) {
			t.Errorf("%q: got %d %q %v, want %q", line, indent, body, ok, m)
		}
		level, text, ok := markdown.HashHeading(line)
		if m := heading.FindStringSubmatch(line); ok != (m != nil) || ok && (level != len(m[1]) || text != strings.TrimSpace(m[2])) {
			t.Errorf("%q: got %d %q %v, want %q", line, level, text, ok, m)
		}
	})
}

func TestTables(t *testing.T) {
	d := markdown.Read("| Id | **Name** |\n|:--|--:|\n| 1 | a \\| b |\n| 2 |\ntext\n\nx|y\n-|-\n3|`4`\n", nil)
	if len(d.Tables) != 2 || len(d.Rows) != 3 {
		t.Fatalf("got %d tables with %d rows, want 2 with 3", len(d.Tables), len(d.Rows))
	}
	first := d.Tables[0]
	if got := first.Column("name"); got != 1 {
		t.Errorf("got column %d, want 1", got)
	}
	for got, want := range map[string]string{
		first.Rows[0].Cell(1): "a | b", first.Rows[1].Cell(0): "2", d.Rows[8].Cell(1): "`4`", strings.Join(first.Header, ","): "id,name",
	} {
		if got != want {
			t.Errorf("got cell %q, want %q", got, want)
		}
	}
	if got := first.Rows[1].Cell(1); got != "" {
		t.Errorf("got %q of a row that is too short, want nothing", got)
	}
	if d.Rows[8].Table != 1 || d.Tables[1].Line != 6 {
		t.Errorf("got table %d at line %d, want 1 at 6", d.Rows[8].Table, d.Tables[1].Line)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/submissions/*/*.md")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, document string) {
		d := markdown.Read(document, []string{"goals", "=risks", "验收标准"})
		n := len(d.Lines)
		if len(d.Said) != n || len(d.Code) != n {
			t.Fatalf("%d lines, %d said, %d of code", n, len(d.Said), len(d.Code))
		}
		for i, h := range d.Heads {
			if h.Line < 0 || h.End <= h.Line || h.End > n || h.Level < 1 || h.Level > markdown.BoldOther || i > 0 && d.Heads[i-1].Line >= h.Line || d.Code[h.Line] {
				t.Errorf("heading %+v of %d lines", h, n)
			}
		}
		rows := 0
		for i, table := range d.Tables {
			for _, row := range table.Rows {
				if rows++; d.Rows[row.Line].Table != i || row.Line <= table.Line || d.Code[row.Line] {
					t.Errorf("row %+v of table %d", row, i)
				}
			}
		}
		if rows != len(d.Rows) {
			t.Errorf("%d rows in tables, %d by line", rows, len(d.Rows))
		}
	})
}

// TestNames: signs and dashes within the name of a section are no part of it, and a negation is.
func TestNames(t *testing.T) {
	for heading, want := range map[string]string{
		"## 2.1 Vision & Goals": "vision and goals", "Goals/Objectives": "goals and objectives", "Goals + Metrics": "goals and metrics",
		"Non-Functional Requirements": "nonfunctional requirements", "Non\u2011Functional Requirements": "nonfunctional requirements", "NON FUNCTIONAL": "nonfunctional",
		"Non–Goals": "nongoals", "Non-goals / Out-of-Scope": "nongoals and out of scope", "User-Stories": "user stories", "Use\u00ad cases": "use cases",
		"Success Criteria *(mandatory)*": "success criteria mandatory", "非功能性需求": "nonfunctional需求", "非目标": "nongoals", "**Scope — what is in**": "scope what is in", "Canon rules": "canon rules",
	} {
		if got := markdown.NameOf(heading); got != want {
			t.Errorf("%q: %q, want %q", heading, got, want)
		}
	}
}
