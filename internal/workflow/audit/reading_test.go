package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

func TestHeadings(t *testing.T) {
	names := []string{markdown.NameOf("Business Goals"), markdown.NameOf("业务目标"), "=" + markdown.NameOf("Requirements")}
	for line, want := range map[string]bool{
		"## Business Goals": true, "## 2. Business goals": true, "### 2.1 Business Goals (2026)": true, "## 🎯 Business Goals": true,
		"**Business Goals**": true, "**2. Business Goals:**": true, "**Business Goals.** More sales.": true, "2. Business Goals": true,
		"BUSINESS GOALS": true, "Business Goals:": true, "Business Goals: more sales": true, "The Business Goals: more sales": false, "## 二、业务目标": true, "二、业务目标": true, "## 业务目标 / Business Goals": true,
		"Business Goals\n---": true, "## Our Business Goals and Worth": true, "## Requirements": true,
		"## Non-goals": false, "## Technical Requirements": false, "The business goals are three.": false, "- Business Goals": false,
		"```\n## Business Goals\n```": false, "<!--\n## Business Goals\n-->": false, "## Businessgoals": false, "| Business Goals |": false,
	} {
		d := readText("intro\n\n"+line+"\n\ntext\n", names)
		if got := len(d.Sections(names)) > 0; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestFilled(t *testing.T) {
	for body, want := range map[string]bool{
		"text": true, "- item": true, "| a |\n|---|\n| b |": true, "```\ncode\n```": true, "### Sub\ntext": true, "None.": true, "`code`": true,
		"": false, "TBD": false, "- TBD": false, "*待定*": false, "### Sub": false, "| a |\n|---|": false, "<!-- text -->": false,
		"**Label**": false, "---": false, "| a |\n|---|\n| TBD |": false, "(to be defined)": false,
	} {
		d := readText("## A\n"+body+"\n## B\nmore\n", nil)
		if got := d.hasContent(d.Heads[0]); got != want {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
}

func TestPlaceholderWords(t *testing.T) {
	for _, left := range []string{
		"TBD", "- TBD", "| Price | TBD |", "| TODO | x |", "TODO: ask", "- TODO ask the team", "Limits: TBD.", "**TODO**", "(TBD)", "The owner is TBD", "- [ ] TODO write this",
		"FIXME: wrong", "lorem ipsum dolor", "Lorem Ipsum", "[insert name]", "[Your company]", "<your text here>", "{{name}}", "…(the whole Markdown document)",
		"- US-1: As a …, I want …, so that …", "As a [role], I want [feature]", "AC-1.1 Given … when … then …", "作为…，我希望…", "作为【角色】，我希望", "支付：待定", "| 待补充 |", "（此处填写目标）", "The limit is to be determined",
		"- XXX check this", "## TODO", "> TODO: say who",
	} {
		if d := readText("intro\n\n"+left+"\n", nil); findPlaceholders(check{}, &document{text: d}) == nil {
			t.Errorf("%q is not found", left)
		}
	}
	for _, fine := range []string{
		"The todo list shows what is due.", "A to-do has a title.", "TODO.md is imported.", "TODO items are sorted by date.", "- TODO lists can be shared", "# TODO", "The word TODO at the start of a line is dropped.",
		"No TODO is left in the code.", "They see \"Next payment: [date].\"", "`TODO: x` is shown as text", "A line \"TODO: milk\" becomes a task", "```\nTODO: x\n```", "<!-- TODO: x -->", "grep for FIXME: none found", "We searched for TODO: nothing",
		"[Add a part](#add)", "See [your settings][1]", "`<your-token>` is replaced", "`{{name}}` is filled", "Merge fields such as {{name}} are filled in", "List<String> and Map<K,V>",
		"待定状态的订单不显示", "订单为待定时", "sizes S, M, L and XXXL", "As a reader, I want to book … and more", "- [ ] write the tests", "The list is to be shown at the top",
		"Array[name] and [x] done", "Zero TBD entries remain.", "没有待定项",
	} {
		if d := readText("# Title\n\n"+fine+"\n", nil); fine != "# TODO" && findPlaceholders(check{}, &document{text: d}) != nil {
			t.Errorf("%q is taken for a placeholder", fine)
		}
	}
	if d := readText("# TODO\n\ntext\n", nil); findPlaceholders(check{}, &document{text: d}) != nil {
		t.Error("the title is taken for a placeholder")
	}
}

func TestFigures(t *testing.T) {
	for line, want := range map[string]bool{
		"answers within 200 ms": true, "99.9 % a month": true, "| lost events | 0 |": true, "10,000 tasks": true, "at most 3 tries": true, "响应时间不超过 800 毫秒": true, "每天 200 张": true,
		"zero events lost": true, "in two days": true, "< 5": true, "up to €500": true, "300 users at once": true, "三个月内": true, "5x faster than 20 s": true,
		"fast and scalable": false, "PostgreSQL 16": false, "FR-12 and US-3": false, "用户满意度提升": false, "TLS 1.3": false, "see section 4": false, "OAuth 2 and HTTP/2": false,
	} {
		d := readText("| a | b |\n|---|---|\n"+line+"\n", nil)
		if !strings.HasPrefix(line, "|") {
			d = readText("- "+line+"\n", nil)
		}
		at := len(d.Lines) - 2
		if got := d.hasFigure(at); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestStoriesAndCriteria(t *testing.T) {
	story := "As a guest, I want to ring, so that somebody opens."
	for name, tt := range map[string]struct{ text, want string }{
		"none":                  {"### US-1: Ring\n\n" + story, "US-1"},
		"label without any":     {"### US-1: Ring\n\n" + story + "\n\nAcceptance criteria: TBD", "US-1"},
		"template":              {"- US-1: " + story + "\n  - AC-1.1 Given … when … then …", "US-1"},
		"one of two":            {"- US-1: " + story + "\n  - AC-1.1 It rings in 1 s\n- US-2: " + story, "US-2"},
		"story sentences":       {"- " + story + "\n- " + story, "story 1,story 2"},
		"ids":                   {"- US-1: " + story + "\n  - AC-1.1 It rings in 1 s", ""},
		"given":                 {"### US-1\n" + story + "\n- Given a bell, when I press, then it rings", ""},
		"given over lines":      {"### US-1\n" + story + "\n\n**Given** a bell\n**When** I press\n**Then** it rings", ""},
		"gherkin":               {"### US-1\n" + story + "\n\nAcceptance criteria:\n\n```gherkin\nGiven a bell\nWhen I press\nThen it rings\n```", ""},
		"chinese steps":         {"### US-1 门铃\n作为访客，我希望按铃。\n- 给定门铃正常，当按下时，则 1 秒内响起", ""},
		"plain items":           {"### US-1\n" + story + "\n\nAcceptance criteria\n\n- it rings in 1 s\n- it stops after 5 s", ""},
		"in one line":           {"- US-1: " + story + "\n  - Acceptance: it rings in 1 s", ""},
		"below all":             {"- US-1: " + story + "\n- US-2: " + story + "\n\n## Acceptance criteria\n\n- AC-1.1 rings\n- AC-2.1 stops", ""},
		"by story, below all":   {"- US-1: " + story + "\n\n## Acceptance criteria\n\n### US-1\n\n- it rings in 1 s", ""},
		"table of stories":      {"| Id | Story | Acceptance criteria |\n|---|---|---|\n| US-1 | ring | rings in 1 s |\n| US-2 | stop | |", "US-2"},
		"table of criteria":     {"- US-1: " + story + "\n\n| Story | Criterion |\n|---|---|\n| US-1 | rings in 1 s |", ""},
		"overview, then detail": {"| Id | Story |\n|---|---|\n| US-1 | ring |\n\n### US-1: Ring\n" + story + "\n- AC-1.1 rings in 1 s", ""},
		"flat ids":              {"- US-1: " + story + "\n\n- AC-1: rings in 1 s", ""},
		"two unlabelled items":  {"### Story 1: Ring\n" + story + "\n- it rings within a second\n- it stops after five seconds", ""},
		"named story without":   {"### Story 1: Ring\n" + story + "\n- Priority: Must\n- Estimate: small", "Story 1"},
		"trace table":           {"- US-1: " + story + "\n  - AC-1.1 rings in 1 s\n\n## Traceability\n\n| Story | Sprint |\n|---|---|\n| US-1 | 1 |", ""},
		"bold stories":          {"**US-1: Ring**\n\n" + story + "\n\n**Acceptance criteria**\n\n- rings in 1 s\n\n**US-2: Stop**\n\n" + story, "US-2"},
		"checkboxes":            {"### US-1\n" + story + "\n- [ ] it rings within a second\n- [ ] it stops after five", ""},
	} {
		var got []string
		if l := findStoriesWithoutCriteria(check{}, &document{text: readText("# T\n\n## User Stories\n\n"+tt.text+"\n", []string{"user stories"})}); l != nil {
			got = strings.Split(l.joinItems(lang.English), ", ")
		}
		if strings.Join(got, ",") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestCountsAndTests(t *testing.T) {
	body := "\n- US-1: a story of one\n- US-2: a story of two\n- AC-1.1 rings in 1 s\n- FR-1: it rings\n"
	for line, want := range map[string]int{
		"The 3 user stories below": 1, "The three user stories below": 1, "共 3 个用户故事": 1, "All 14 acceptance criteria pass": 1, "It has 5 functional requirements.": 1,
		"The 2 user stories below": 0, "two user stories": 0, "共 2 个用户故事": 0, "at least 3 user stories": 0, "the first 3 user stories": 0, "the 3 user stories of sprint 1": 0, "the 3 remaining user stories": 0,
		"all 14 criteria of the PRD": 0, "has 3 sprints": 0, "约共 3 个用户故事": 0,
	} {
		got := 0
		if l := findWrongCounts(check{}, &document{text: readText(line+"\n"+body, nil)}); l != nil {
			got = len(l.items)
		}
		if got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
	for text, want := range map[string]bool{
		"All tests pass.\n\n```\n=== 3 failed, 42 passed in 1.20s ===\n```":                                     true,
		"所有测试通过。\n\n```\n--- FAIL: TestCart (0.00s)\nFAIL\n```":                                                 true,
		"All tests pass.\n\n```\nok  \tshop\t0.1s\n```\n\n~~~\nTests:       1 failed, 22 passed, 23 total\n~~~": true,
		"All tests pass.\n\n```\n--- FAIL: TestCart (0.00s)\n```\nmended:\n```\nok  \tshop/cart\t0.312s\n```":   false,
		"All tests pass.\n\n```\n--- FAIL: TestCart (0.00s)\n```\nof which\n```json\n{\"files\": []}\n```":      true,
		"All tests pass.\n\n```\n=== 45 passed in 1.20s ===\n```":                                               false,
		"All tests pass.\n\n42 passed, 3 failed":                                                                false, // a sentence, and no output of a program
		"Not all tests pass:\n\n```\n=== 3 failed, 42 passed in 1.20s ===\n```":                                 false,
		"```\n=== 3 failed, 42 passed in 1.20s ===\n```":                                                        false,
	} {
		if got := findContradictedTests(check{}, &document{text: readText(text, nil)}) != nil; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestQuestionsLeft(t *testing.T) {
	names := []string{"open questions", "待确认"}
	for body, want := range map[string]int{
		"1. Who pays?\n2. When?": 2, "- Who pays?\n  - the guest?": 1, "Who pays?": 1, "| Question |\n|---|\n| Who pays? |": 1,
		"None.": 0, "无": 0, "": 0, "- none": 0, "- ~~Who pays?~~ the guest": 0, "1. Who pays? Decided: the guest": 0, "All were answered.": 0,
		"| Question | Answer |\n|---|---|\n| Who pays? | the guest |\n| When? | |": 1,
	} {
		got := 0
		if l := findOpenQuestions(check{Names: names}, &document{text: readText("## Open Questions\n\n"+body+"\n\n## Risks\n\n- x?\n", nil)}); l != nil {
			got = len(l.items)
		}
		if got != want {
			t.Errorf("%q: %d, want %d", body, got, want)
		}
	}
	if l := findOpenQuestions(check{Names: names}, &document{text: readText("## Open questions (answered)\n\n- Who pays? The guest.\n", nil)}); l != nil {
		t.Error("answered questions are taken for open")
	}
}

func TestLackInWords(t *testing.T) {
	l := miss{items: slices.Repeat([]lang.Text{plainText("a")}, listed+1), name: "N", want: "7"}
	want := `13 stories of 7 in "N": a` + strings.Repeat(", a", listed-1) + " … "
	if got := l.fillTemplate(`{n} {story|stories} of {want} in "{name}": {items} {unknown}{`, lang.English); got != want {
		t.Errorf("got %q", got)
	}
	if got := (miss{items: []lang.Text{plainText("x, y"), plainText("z")}}).fillTemplate("{n} {one|many}: {items}", lang.English); got != "2 many: x, y; z" {
		t.Errorf("got %q", got)
	}
	for s, want := range map[string]string{"short": "short", "ääääää": "ää…", "a  b\nc": "a b c"} {
		if got := clip(s, 8); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got := fmt.Sprint(markdown.Cells(`| a \| b | **c** |  |`, "*_")); got != "[a | b c ]" {
		t.Errorf("cells %q", got)
	}
}
