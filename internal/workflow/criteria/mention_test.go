package criteria

import (
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// TestNamed: what a line of a plan names.
func TestNamed(t *testing.T) {
	t.Parallel()
	five := "- FR-1: a\n- FR-2: b\n- FR-3: c\n- FR-4: d\n- FR-5: e\n"
	stories := "### 사용자 스토리 1: a\n\n**인수 기준:**\n\n1. b\n2. c\n\n### 사용자 스토리 2: d\n"
	for name, tt := range map[string]struct{ text, line, want string }{
		"an id":                   {five, "- Build FR-2", "FR-2"},
		"a list":                  {five, "FR-1, 3 and 5", "FR-1 FR-3 FR-5"},
		"a range":                 {five, "FR-2 to FR-4", "FR-2 FR-3 FR-4"},
		"a range without letters": {five, "FR 2–4", "FR-2 FR-3 FR-4"},
		"a range in Chinese":      {five, "FR-2至FR-3和5", "FR-2 FR-3 FR-5"},
		"a range in German":       {five, "FR-2 bis FR-3 und 5", "FR-2 FR-3 FR-5"},
		"a range in French":       {five, "FR-2 à FR-3 et 5", "FR-2 FR-3 FR-5"},
		"a range in Spanish":      {five, "FR-2 a FR-3 y 5", "FR-2 FR-3 FR-5"},
		"words that begin alike":  {five, "FR-1 tokens 5, FR-2 apples 5, FR-3 android 5", "FR-1 FR-2 FR-3"},
		"an entry of a sprint":    {"### S1-1: a\n### S1-2: Operator API\n### S2-1: b\n", "S1-2, S1-1", "S1-1 S1-2"},
		"a range with a hyphen":   {five, "FR-2-4", "FR-2 FR-3 FR-4"},
		"a Korean story":          {stories, "스토리 1", "1/AC1 1/AC2"},
	} {
		d := Read(tt.text)
		var got []string
		for i, named := range d.Named(markdown.Read(tt.line, nil), []int{0}) {
			if named && d.Nodes[i].Owed {
				got = append(got, d.Nodes[i].ID)
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q names %q, want %q", name, tt.line, s, tt.want)
		}
	}
}

// TestEachMention: each line names the nodes that have an id of their own, and none by an id of two.
func TestEachMention(t *testing.T) {
	t.Parallel()
	d := Read("- FR-1: a\n- FR-2: b\n\n## Epic 1: x\n### Story 1: c\n## Epic 2: y\n### Story 1: d\n### Story 2: e\n")
	var got []string
	d.EachMention(markdown.Read("FR-2 and FR-1\nFR-9, Story 1\nStory 2\n```\nFR-1\n```\n", nil), func(line, node int) bool {
		got = append(got, strconv.Itoa(line)+" "+d.Name(node))
		return len(got) < 3
	})
	if s := strings.Join(got, ", "); s != "0 FR-2, 0 FR-1, 2 Story 2" {
		t.Errorf("got %s", s)
	}
}
