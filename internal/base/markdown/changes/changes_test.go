package changes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

func show(all []Section) string {
	var out []string
	for _, s := range all {
		text := fmt.Sprintf("%s %q", s.Kind, s.Title)
		if s.Was != "" {
			text += fmt.Sprintf(" was %q", s.Was)
		}
		if s.Added+s.Removed > 0 {
			text += strings.NewReplacer(" +0", "", " -0", "").Replace(fmt.Sprintf(" +%d -%d", s.Added, s.Removed))
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestSections(t *testing.T) {
	const plan = "# Plan\n\nIntro here.\n\n## 1. Goal\n\nShip it soon.\n\n## 2. Interface\n\nOne call a day.\n\n## 3. Rollout\n\nIn June or July.\n"
	in := func(old, now string) string { return strings.Replace(plan, old, now, 1) }
	for _, test := range []struct{ name, before, after, want string }{
		{"equal", plan, plan, `same "Plan", same "1. Goal", same "2. Interface", same "3. Rollout"`},
		{"a word", plan, in("soon", "today"), `same "Plan", changed "1. Goal" +1 -1, same "2. Interface", same "3. Rollout"`},
		{"text before the headings of sections", plan, in("Intro here", "Intro there"), `changed "Plan" +1 -1, same "1. Goal", same "2. Interface", same "3. Rollout"`},
		{"a section goes, others get its number", plan, in("## 2. Interface\n\nOne call a day.\n\n## 3. Rollout", "## 2. Rollout"),
			`same "Plan", same "1. Goal", removed "2. Interface" -5, same "2. Rollout"`},
		{"a section comes", plan, in("## 3. Rollout", "## 3. Risks\n\nNone at all.\n\n## 4. Rollout"),
			`same "Plan", same "1. Goal", same "2. Interface", added "3. Risks" +4, same "4. Rollout"`},
		{"moved", plan, "# Plan\n\nIntro here.\n\n## 1. Rollout\n\nIn June or July.\n\n## 2. Goal\n\nShip it soon.\n\n## 3. Interface\n\nOne call a day.\n",
			`same "Plan", moved "1. Rollout", same "2. Goal", same "3. Interface"`},
		{"renamed", plan, in("2. Interface", "2. Contract"), `same "Plan", same "1. Goal", changed "2. Contract" was "2. Interface" +1 -1, same "3. Rollout"`},
		{"renamed and changed", plan, in("2. Interface\n\nOne call a day.", "2. Contract\n\nOne call a week."),
			`same "Plan", same "1. Goal", changed "2. Contract" was "2. Interface" +2 -2, same "3. Rollout"`},
		{"new line breaks", plan, in("One call a day.", "One\n call   a\nday."), `same "Plan", same "1. Goal", same "2. Interface", same "3. Rollout"`},
		{"CRLF and empty lines", plan, strings.ReplaceAll(in("\n\nOne", "\nOne"), "\n", "\r\n"), `same "Plan", same "1. Goal", same "2. Interface", same "3. Rollout"`},
		{"a paragraph is two", plan, in("One call a day.", "One call\n\na day."), `same "Plan", same "1. Goal", changed "2. Interface", same "3. Rollout"`},
		{"a comment hidden from readers", plan, in("One call", "<!-- approve --> One call"), `same "Plan", same "1. Goal", changed "2. Interface" +1, same "3. Rollout"`},
		{"a nested item", "## A\n\n- b\n- c\n", "## A\n\n- b\n  - c\n", `changed "A"`},
		{"indented code", "## A\n\n```\nif x:\n  y\n```\n", "## A\n\n```\nif x:\n    y\n```\n", `changed "A"`},
		{"headings in code", "## A\n\n```\n# b\n```\n\n## C\n\nd\n", "## A\n\n```\n# e\n```\n\n## C\n\nd\n", `changed "A" +1 -1, same "C"`},
		{"setext", "A\n===\n\nb\n\nC\n---\n\nd\n", "A\n===\n\nb\n\nC\n---\n\ne\n", `same "A", changed "C" +1 -1`},
		{"Chinese", "# 设计\n\n## 一、目标\n\n上限为五兆。\n\n## 二、接口\n\n不变。\n", "# 设计\n\n## 一、目标\n\n上限为十兆。\n\n## 二、接口\n\n不变。\n", `same "设计", changed "一、目标" +1 -1, same "二、接口"`},
		{"a deep document", "# T\n\n### A\n\nb\n\n### C\n\nd\n", "# T\n\n### A\n\nb\n\n### C\n\ne\n", `same "T", same "A", changed "C" +1 -1`},
		{"the same heading twice", "## A\n\nb\n\n## A\n\nc\n", "## A\n\nb\n\n## A\n\nd\n", `same "A", changed "A" +1 -1`},
		{"paragraphs", "First of all.\n\nSecond thing here.\n\nThird.\n", "First of all.\n\nSecond thing there.\n\nThird.\n", `same "First of all.", changed "Second thing there." +1 -1, same "Third."`},
		{"headings come", "First of all.\n", "## First of all.\n\nMore.\n", `changed "First of all." +1`},
		{"another title", "# Relay\n\na b c d e\n\n## F\n\ng\n", "# Relay (revision 2)\n\nh i j k l\n\n## F\n\ng\n", `changed "Relay (revision 2)" was "Relay" +7 -5, same "F"`},
		{"nothing in common", "## A\n\nb c d\n", "## E\n\nf g h\n", `added "E" +4, removed "A" -4`},
		{"from nothing", "", plan, `added "Plan" +3, added "1. Goal" +4, added "2. Interface" +5, added "3. Rollout" +5`},
		{"to nothing", "## A\n\nb\n", "", `removed "A" -2`},
		{"text before the first heading", "a b\n\n## C\n\nd\n", "a e\n\n## C\n\nd\n", `changed "" +1 -1, same "C"`},
	} {
		if got := show(Sections(test.before, test.after)); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func FuzzSections(f *testing.F) {
	f.Add("# a\n\n## 1. b\nc\n\n## d\n", "# a\n\n## d\n\n## 2. b\nc e\n")
	f.Add("a\n\nb\n\nc d e", "c d\n\nb\n\n\na")
	f.Add("```markdown\n# a\n```\n", "a\n===\n<h2>b</h2>\n---\n\n---\nc: d\n---\n")
	f.Add("上限\n\n## 一、\xff\x00\r\n", "- a\n  - b\n    c\n1) d\n> e\n|f|\n|-|\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		all := Sections(before, after)
		old, now := 0, 0
		for _, s := range all {
			if s.From > 0 && s.From <= now || s.To < s.From {
				t.Errorf("lines %d to %d come after line %d", s.From, s.To, now)
			}
			now = max(now, s.To)
			if s.Kind == Same && s.Added+s.Removed > 0 || s.Added < 0 || s.Removed < 0 {
				t.Errorf("the section %v has wrong counts", s)
			}
			old += s.OldTo - s.OldFrom
		}
		if now > strings.Count(after, "\n")+1 || old > strings.Count(before, "\n")+1 {
			t.Errorf("%d and %d lines are too many", now, old)
		}
		for _, s := range Sections(after, after) {
			if s.Kind != Same {
				t.Errorf("a text differs from itself: %v", s)
			}
		}
	})
}

// TestBounds compares texts that an exact comparison cannot afford. It would take minutes.
func TestBounds(t *testing.T) {
	many := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i, i*i)
		}
		return b.String()
	}
	moved, backward := "", ""
	for i := range 3000 {
		moved, backward = fmt.Sprintf("%s## %d\n\n", moved, i), fmt.Sprintf("## %d\n\n%s", i, backward)
	}
	for name, pair := range map[string][2]string{
		"one line":      {strings.Repeat("word ", 80_000), strings.Repeat("other ", 66_000)},
		"sections":      {many(5000, "## %d a\n\ntext %d\n\n"), many(5000, "## %d b\n\ntext x%d\n\n")},
		"paragraphs":    {many(5000, "p%d q%d\n\n"), many(5000, "r%d s%d\n\n")},
		"few words":     {strings.Repeat("## a\n"+strings.Repeat("a b ", 250)+"\n\n", 1000), strings.Repeat("## a\n"+strings.Repeat("b a a ", 170)+"\n\n", 1000)},
		"one for many":  {"## a\n\n" + strings.Repeat("word ", 80_000), many(1400, "## b%d\n\nx%d\n\n")},
		"moved":         {moved, many(3000, "## b%d\n\nx%d\n\n") + backward},
		"empty heads":   {strings.Repeat("#\n", 50_000), strings.Repeat("##\n", 50_000)},
		"long headings": {"# " + strings.Repeat("x", 400_000), "# " + strings.Repeat("y", 400_000)},
	} {
		all := Sections(pair[0], pair[1])
		if added, removed := Words(all); added > len(textdiff.Words(pair[1])) || removed > len(textdiff.Words(pair[0])) {
			t.Errorf("%s: %d added, %d removed", name, added, removed)
		}
	}
}

func BenchmarkSections(b *testing.B) {
	before := strings.Repeat("## Goal\n\nThe **service** keeps each run on disk, `one` file a run.\n\n- first\n- second\n\n", 240)
	after := strings.Replace(before, "second", "third", 20)
	b.SetBytes(int64(len(after)))
	for b.Loop() {
		Sections(before, after)
	}
}
