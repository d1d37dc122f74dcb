package audit

import (
	"fmt"
	"strings"
	"testing"
)

// TestRepetitionIsNoLength: what repeats a sentence, an item or a paragraph under every heading is short, in any language.
func TestRepetitionIsNoLength(t *testing.T) {
	names := []string{"Executive Summary", "Business Goals", "Success Metrics", "User Stories", "Functional Requirements", "Technical Requirements", "Out of Scope", "Risks and Assumptions"}
	for sentence, item := range map[string]string{
		"The member of the club signs in within 200 ms and orders tea.":                "- FR-%d (Must): the member of the club signs in within %d ms and orders tea\n",
		"会员在 200 毫秒内登录，并在店里订购茶叶。":                                                      "- FR-%d（必须）：会员在 %d 毫秒内登录，并在店里订购茶叶。\n",
		"Das Mitglied meldet sich mit einem Kennwort an und bestellt den Tee bei uns.": "- FR-%d: das Mitglied meldet sich mit einem Kennwort in %d ms an und bestellt den Tee bei uns\n",
	} {
		var items, paragraph, rows strings.Builder
		for i, name := range names {
			fmt.Fprintf(&items, "## %s\n\n", name)
			fmt.Fprintf(&paragraph, "## %s\n\n%s\n\n", name, strings.Repeat(sentence+" ", 10))
			fmt.Fprintf(&rows, "## %s\n\n| Id | What |\n|---|---|\n", name)
			for j := range 8 {
				fmt.Fprintf(&items, item, 8*i+j+1, 100+i+j)
				fmt.Fprintf(&rows, "| FR-%d | %s |\n", 8*i+j+1, sentence)
			}
		}
		for form, body := range map[string]string{"items": items.String(), "paragraphs": paragraph.String(), "rows": rows.String()} {
			a := auditOf(t, "# Tea\n\n"+body)
			if a.Score > 80 || !strings.Contains(a.Summary, "without its repetitions it has ") {
				t.Errorf("%s of %q: %g, %s", form, sentence, a.Score, a.Summary)
			}
		}
	}
}

func TestWordCount(t *testing.T) {
	for text, want := range map[string][2]int{
		"One two three. One two three.":          {6, 3},
		"- FR-1: one two\n- FR-2: one two\n":     {6, 3},
		"- one two\n- one three\n":               {4, 4},
		"in 5 s\n\nin 6 s\n":                     {6, 3},
		"会员登录。会员登录。会员退出。":                        {8, 6},
		"```\none two\n```\none two, ONE TWO!\n": {4, 4},
	} {
		written, different := readText(text, nil).wordCount()
		if got := [2]int{written, different}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
