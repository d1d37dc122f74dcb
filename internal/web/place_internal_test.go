package web

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
)

const placed = "# Design\n\n## 1. Overview\n\nFR-1 and FR-12.\n\n## 5. How order is kept\n\n### 5.2 The lane\n\n| AC-2.1 | a |\n|---|---|\n| AC-2.10 | b |\n| R3 | c |\n\n## 失败模式\n\n文字\n\n## R3 Late answers\n\n## Notes\n"

// findings are remarks with the line that they are about in the text placed.
var findings = []struct {
	name, remark string
	line         int
}{
	{"section by number", "Section 5.2 does not say who renews the lease", 9},
	{"section of a longer number", "section 5 is thin", 7},
	{"a number that goes on", "section 5.21 is unknown", 0},
	{"at the end of a sentence", "It contradicts section 5.", 7},
	{"subsection", "Subsection 5.2 is empty", 9},
	{"a number in a list", "sections 5, 7 and 9", 7},
	{"sign", "see §1, which lacks a drawing", 3},
	{"Chinese number", "第 5 节没有说明顺序", 7},
	{"title", "“How order is kept” repeats the overview", 7},
	{"title in another case", "the LANE of one merchant", 9},
	{"Chinese title", "“失败模式”缺少恢复步骤", 16},
	{"identifier", "FR-12 has no test", 5},
	{"identifier of a row", "AC-2.10 has no criterion", 13},
	{"identifier in a heading", "R3 is not mitigated", 20},
	{"a common word is no title", "the notes are long", 0},
	{"unknown identifier", "FR-99 is missing", 0},
	{"an abbreviation", "UTF-8 is assumed", 0},
	{"nothing", "no owner is named", 0},
	{"empty", "", 0},
	{"unseen", "\xff\u202esection\u202e 5", 0},
}

func TestFindLine(t *testing.T) {
	outline, lines := render.Document(placed).Outline, strings.Split(placed, "\n")
	for _, test := range findings {
		if got := findLine(test.remark, outline, lines); got != test.line {
			t.Errorf("%s: line %d, want %d", test.name, got, test.line)
		}
	}
}

func FuzzFindLine(f *testing.F) {
	for _, test := range findings {
		f.Add(test.remark, placed)
	}
	f.Fuzz(func(t *testing.T, remark, source string) {
		lines := strings.Split(source, "\n")
		if got := findLine(remark, render.Document(source).Outline, lines); got < 0 || got > len(lines) {
			t.Errorf("line %d of %d", got, len(lines))
		}
	})
}
