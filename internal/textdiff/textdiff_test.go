package textdiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/textdiff"
)

// drawn shows rows in one line each, with changed words in brackets.
func drawn(rows []textdiff.Row) string {
	var out strings.Builder
	side := func(spans []textdiff.Span) string {
		text := ""
		for _, s := range spans {
			if s.Changed {
				text += "[" + s.Text + "]"
			} else {
				text += s.Text
			}
		}
		return text
	}
	for _, r := range rows {
		fmt.Fprintf(&out, "%s %d %d |%s|%s|\n", r.Kind, r.Before, r.After, side(r.Left), side(r.Right))
	}
	return out.String()
}

func TestRows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, after, want string }{
		"the same":      {"a\nb\n", "a\nb\n", "same 1 1 |a|a|\nsame 2 2 |b|b|\n"},
		"nothing":       {"", "", ""},
		"from nothing":  {"", "a\n", "added 0 1 ||a|\n"},
		"to nothing":    {"a", "", "removed 1 0 |a||\n"},
		"ends of lines": {"a\r\nb", "a\nb\n", "same 1 1 |a|a|\nsame 2 2 |b|b|\n"},
		"one word":      {"the gate is 90 points", "the gate is 95 points", "changed 1 1 |the gate is [90] points|the gate is [95] points|\n"},
		"Chinese":       {"门槛分是九十分", "门槛分是九五分", "changed 1 1 |门槛分是九[十]分|门槛分是九[五]分|\n"},
		"unlike lines":  {"alpha beta", "gamma delta", "removed 1 0 |alpha beta||\nadded 0 1 ||gamma delta|\n"},
		"inserted": {"one\ntwo\nthree\n", "one\nnew\ntwo\nthree\n",
			"same 1 1 |one|one|\nadded 0 2 ||new|\nsame 2 3 |two|two|\nsame 3 4 |three|three|\n"},
		"one that changed among others": {"x\nkeep the first words here\ny\n", "x\nfresh\nkeep the other words here\ny\n",
			"same 1 1 |x|x|\nadded 0 2 ||fresh|\nchanged 2 3 |keep the [first] words here|keep the [other] words here|\nsame 3 4 |y|y|\n"},
	} {
		if got := drawn(textdiff.Rows(tt.before, tt.after)); got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestReflow: a paragraph that is broken into lines differently keeps most of its words.
func TestReflow(t *testing.T) {
	t.Parallel()
	before := "The relay takes a webhook, checks its\nsignature and hands it to the queue of\nits receiver within a second.\n"
	after := "The relay takes a webhook, checks its signature\nand hands it to the queue of its receiver\nwithin a second.\n"
	same, changed := 0, 0
	for _, r := range textdiff.Rows(before, after) {
		for _, s := range r.Right {
			if s.Changed {
				changed += len(s.Text)
			} else if r.Kind != textdiff.Added {
				same += len(s.Text)
			}
		}
	}
	if same < 2*changed {
		t.Errorf("%d bytes are shown as the same, and %d as changed", same, changed)
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.Repeat("line\n", 30), "\n")[:30]
	for i := range lines {
		lines[i] += fmt.Sprint(i)
	}
	before := strings.Join(lines, "\n")
	lines[10], lines[25] = "other words", "more words"
	hunks := textdiff.Fold(textdiff.Rows(before, strings.Join(lines, "\n")), 2)
	var got []string
	for _, h := range hunks {
		got = append(got, fmt.Sprintf("%d+%d", h.Skipped, len(h.Rows)))
	}
	if want := "8+6 10+6 2+0"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if hunks := textdiff.Fold(textdiff.Rows("a\nb", "a\nb"), 3); len(hunks) != 1 || hunks[0].Skipped != 2 || hunks[0].Rows != nil {
		t.Errorf("got %v, want one hunk without rows", hunks)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	before := "# Title\n\nfirst of all\nsecond of all\n\nlast of all\n"
	for name, tt := range map[string]struct {
		after              string
		from, to, into, at int
		ok                 bool
	}{
		"unmoved":         {before, 3, 4, 3, 4, true},
		"pushed down":     {"new\n\n" + before, 3, 4, 5, 6, true},
		"one line is cut": {"# Title\n\nfirst of all\n\nlast of all\n", 3, 4, 3, 3, true},
		"all are cut":     {"# Title\n\nlast of all\n", 3, 4, 0, 0, false},
		"words changed":   {strings.Replace(before, "second of all", "second of them all", 1), 4, 4, 4, 4, true},
	} {
		into, at, ok := textdiff.Follow(before, tt.after, tt.from, tt.to)
		if into != tt.into || at != tt.at || ok != tt.ok {
			t.Errorf("%s: got %d–%d %v, want %d–%d %v", name, into, at, ok, tt.into, tt.at, tt.ok)
		}
	}
}

// TestLargeTexts: texts without a line in common, or with the same line over and over, are
// compared too.
func TestLargeTexts(t *testing.T) {
	t.Parallel()
	number := func(n int, form string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, form+"\n", i)
		}
		return out.String()
	}
	for name, tt := range map[string][2]string{
		"unrelated": {number(20_000, "left%d"), number(20_000, "right%d")},
		"repeated":  {strings.Repeat("same line\n", 20_000), strings.Repeat("same line\n", 10_000) + strings.Repeat("other one\n", 10_000)},
	} {
		checkRows(t, name, tt[0], tt[1])
	}
}

// checkRows holds the rows of two texts against the texts.
func checkRows(t *testing.T, name, before, after string) {
	t.Helper()
	var left, right []string
	join := func(spans []textdiff.Span) (text string) {
		for _, s := range spans {
			text += s.Text
		}
		return text
	}
	for _, r := range textdiff.Rows(before, after) {
		if r.Before > 0 {
			left = append(left, join(r.Left))
			if r.Before != len(left) {
				t.Fatalf("%s: line %d stands at %d", name, r.Before, len(left))
			}
		}
		if r.After > 0 {
			right = append(right, join(r.Right))
			if r.After != len(right) {
				t.Fatalf("%s: line %d stands at %d", name, r.After, len(right))
			}
		}
		if r.Kind == textdiff.Same && join(r.Left) != join(r.Right) {
			t.Fatalf("%s: %q and %q are not the same", name, join(r.Left), join(r.Right))
		}
	}
	if got, want := strings.Join(left, "\n"), strings.Join(textdiff.Lines(before), "\n"); got != want {
		t.Errorf("%s: the left side has %d bytes of %d", name, len(got), len(want))
	}
	if got, want := strings.Join(right, "\n"), strings.Join(textdiff.Lines(after), "\n"); got != want {
		t.Errorf("%s: the right side has %d bytes of %d", name, len(got), len(want))
	}
}

// FuzzRows: whatever the texts are, the rows have every line of both once, in order.
func FuzzRows(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc\n")
	f.Add("门槛分\n\n", "\r\n门槛\x80")
	f.Add("a a a\nb", "b\na a\na")
	f.Fuzz(func(t *testing.T, before, after string) {
		checkRows(t, "fuzz", before, after)
		textdiff.Follow(before, after, 1, 3)
	})
}
