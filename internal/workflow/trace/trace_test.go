package trace_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// facts returns the facts of a run with documents, a plan that may be empty, and the report of QA.
func facts(plan string, report *workflow.Record, documents ...string) trace.Facts {
	var out trace.Facts
	src := verdict.Sources{Current: -1, Approved: true}
	add := func(stage workflow.StageID, text string, isPlan bool) {
		out.Documents = append(out.Documents, trace.Document{Stage: stage, Text: text, IsPlan: isPlan})
		src.Requirements = append(src.Requirements, text)
	}
	for i, text := range documents {
		add([]workflow.StageID{"po", "epics", "architect"}[i], text, false)
	}
	if plan != "" {
		add("sm", plan, true)
		src.Plan = plan
		src.Sprints = intake.Read(workflow.Stage{ID: "sm", Kind: workflow.KindPlan}, plan).Sprints
		out.Sprints = src.Sprints
	}
	for _, s := range src.Sprints {
		src.InScope = append(src.InScope, s.Number)
	}
	if report != nil {
		out.Reports = []trace.Report{{Stage: "qa", Record: report, Text: "| Id | Result |\n|---|---|\n| AC\\-1.1 | pass |\n", Lines: map[string]int{"a.go": 20}}}
	}
	out.Criteria = verdict.ReadCriteria(src)
	return out
}

// draw writes a trace on a line for each requirement, story, criterion and hole.
func draw(t trace.Trace) string {
	var b strings.Builder
	for _, r := range t.Requirements {
		fmt.Fprintf(&b, "%s: %s\n", r.ID, strings.Join(append(append(append([]string(nil), r.Stories...), r.Epics...), r.Criteria...), ", "))
	}
	for _, s := range t.Stories {
		fmt.Fprintf(&b, "%s: %s %v\n", s.ID, strings.Join(s.Criteria, ", "), s.Sprints)
	}
	for _, h := range t.Holes {
		fmt.Fprintf(&b, "- %s %s\n", h.Kind, h.ID)
	}
	for _, u := range t.Unknown {
		fmt.Fprintf(&b, "? %s\n", u)
	}
	return strings.TrimSpace(b.String())
}

const (
	plain = "# PRD\n\n## User Stories\n- US-1: As a user, I want to sign in.\n  - Acceptance criteria\n  - AC-1.1 The link works once.\n  - AC-1.2 An old link fails.\n" +
		"- US-2: As a user, I want to sign out.\n  - AC-2.1 The session ends.\n\n## Functional Requirements\n- FR-1 (Must, US-1) A link is sent.\n- FR-2 (Must) A session lasts a day.\n"
	planOfPlain = "# Plan\n\n## Sprint 1: In\n\n### S1-1 Send links — FR-1\n- Acceptance: AC-1.1, AC-1.2\n\n## Sprint 2: Day\n\n### S2-1 Sessions — FR-2\n"
)

// TestLinks follows documents of the layouts that people use.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		documents []string
		plan      string
		want      string
	}{
		"nothing": {[]string{"# PRD\n\nSign-in by link.\n"}, "", "? no_criteria"},
		"ids, before the plan": {[]string{plain}, "", "FR-1: US-1, FR-1\nFR-2: FR-2\nUS-1: AC-1.1, AC-1.2, FR-1 []\nUS-2: AC-2.1 []\n" +
			"- requirement_without_story FR-2\n? no_sprints\n? no_report"},
		"ids and a plan": {[]string{plain}, planOfPlain, "FR-1: US-1, S1-1, FR-1\nFR-2: S2-1, FR-2\nUS-1: AC-1.1, AC-1.2, FR-1 [1]\nUS-2: AC-2.1 []\n" +
			"S1-1: AC-1.1, AC-1.2, FR-1 [1]\nS2-1: FR-2 [2]\n- story_in_no_sprint US-2\n? no_report"},
		"a matrix": {[]string{"# PRD\n\n- FR-1 A link is sent.\n- FR-2 A session lasts.\n- FR-3 Nothing else.\n\n## Stories\n\n### Story 1.1: Links\n\nAcceptance criteria:\n1. It works.\n\n" +
			"### Story 1.2: Days\n\nAcceptance criteria:\n1. A day.\n\n## Traceability\n\n| Requirement | Story |\n|---|---|\n| FR-1 | Story 1.1 |\n| FR-2 | Story 1.1, Story 1.2 |\n"}, "",
			"FR-1: Story 1.1, FR-1\nFR-2: Story 1.1, Story 1.2, FR-2\nFR-3: FR-3\nStory 1.1: FR-1, FR-2, 1.1/AC1 []\nStory 1.2: FR-2, 1.2/AC1 []\n" +
				"- requirement_without_story FR-3\n? no_sprints\n? no_report"},
		"epics cover, in a document of their own": {[]string{
			"# PRD\n\n- FR1: Sign in.\n- FR2: Sign out.\n- FR3: Stay.\n",
			"# Epics\n\n## FR Coverage Map\n\nFR1: Epic 1 - sign-in\nFR2: Epic 1\n\n## Epic 1: Access\n\n### Story 1.1: Sign in\n\nCovers FR1.\n\n**Acceptance Criteria:**\n\n**Given** a link **When** used **Then** in.\n",
		}, "", "FR1: Story 1.1, Epic 1, FR1\nFR2: Epic 1, FR2\nFR3: FR3\nStory 1.1: FR1 []\n- requirement_without_story FR3\n? no_sprints\n? no_report"},
		"requirements that are stories": {[]string{"# Requirements\n\n### Requirement 1: Sign in\n\n**User Story:** As a user, I want in.\n\n#### Acceptance Criteria\n\n1. WHEN used THEN in\n2. WHEN old THEN out\n"}, "",
			"Requirement 1: 1.1, 1.2\n? no_stories\n? no_sprints\n? no_report"},
		"parts of a whole": {[]string{"# PRD\n\n- FR-1 Access.\n- FR-1.1 In.\n- FR-1.2 Out.\n- FR-2 Rest.\n\n- US-1: As a user, I want in, for FR-1.\n- US-2: As a user, I want out.\n"}, "",
			"FR-1: US-1, US-1\nFR-1.1: US-1, FR-1.1, US-1\nFR-1.2: US-1, FR-1.2, US-1\nFR-2: FR-2\nUS-1: FR-1.1, FR-1.2, US-1 []\nUS-2: US-2 []\n- requirement_without_story FR-2\n? no_sprints\n? no_report"},
		"Chinese": {[]string{"# 需求\n\n## 用户故事\n\n### 故事 1.1：登录\n\n覆盖 FR-1。\n\n验收标准：\n1. 链接只能用一次。\n\n## 功能需求\n\n- FR-1：发送链接。\n- FR-2：会话持续一天。\n"},
			"# 计划\n\n## 冲刺 1：登录\n\n- 故事 1.1\n\n## 冲刺 2：会话\n\n- FR-2\n",
			"FR-1: Story 1.1, FR-1\nFR-2: FR-2\nStory 1.1: 1.1/AC1, FR-1 [1]\n- requirement_without_story FR-2\n? no_report"},
		"what is left out is no hole": {[]string{plain}, planOfPlain + "\n## Out of Scope\n\n- US-2\n",
			"FR-1: US-1, S1-1, FR-1\nFR-2: S2-1, FR-2\nUS-1: AC-1.1, AC-1.2, FR-1 [1]\nUS-2: AC-2.1 []\nS1-1: AC-1.1, AC-1.2, FR-1 [1]\nS2-1: FR-2 [2]\n? no_report"},
		"a plan that names nothing": {[]string{plain}, "# Plan\n\n## Sprint 1: All\n\nEverything.\n", "FR-1: US-1, FR-1\nFR-2: FR-2\nUS-1: AC-1.1, AC-1.2, FR-1 []\n" +
			"US-2: AC-2.1 []\n- requirement_without_story FR-2\n? sprints_name_nothing\n? no_report"},
	} {
		if got := draw(trace.Link(facts(tt.plan, nil, tt.documents...))); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, tt.want)
		}
	}
}

// TestNothingIsGuessed has lines that name a requirement and a story and link neither.
func TestNothingIsGuessed(t *testing.T) {
	t.Parallel()
	const head = "# PRD\n\n- FR-1 Links are sent.\n- FR-2 Sessions last.\n\n### Story 1.1: Links\n\nLinks are sent.\n%s\n\nAcceptance criteria:\n1. Sent.\n\n### Story 1.2: Days\n\nAcceptance criteria:\n1. A day.\n%s"
	for name, lines := range map[string][2]string{
		"the same words":                    {"", ""},
		"what a story depends on":           {"**Depends on:** FR-1", ""},
		"what comes before":                 {"- Prerequisites: FR-1, FR-2", ""},
		"in Chinese":                        {"依赖：FR-1", ""},
		"a paragraph":                       {"", "\n## Notes\n\nStory 1.1 came before FR-1 was known.\n"},
		"two of each in an item":            {"", "\n## Coverage\n\n- FR-1 in Story 1.1, FR-2 in Story 1.2\n"},
		"code":                              {"", "\n## Notes\n\n```\nFR-1 Story 1.1\n```\n"},
		"an id that is not a requirement's": {"Covers FR-9 and HTTP-1.", ""},
		"what is left out":                  {"", "\n## Out of Scope\n\n- FR-1, Story 1.1\n"},
	} {
		got := trace.Link(facts("", nil, fmt.Sprintf(head, lines[0], lines[1])))
		for _, r := range got.Requirements {
			if len(r.Stories) > 0 {
				t.Errorf("%s: %s has the stories %v", name, r.ID, r.Stories)
			}
		}
		if !strings.Contains(draw(got), "? stories_name_no_requirement") {
			t.Errorf("%s: %s", name, draw(got))
		}
	}
}

func row(id, result, evidence, check string) workflow.Criterion {
	return workflow.Criterion{ID: id, Result: result, Evidence: evidence, Check: check}
}

// reportOfPlain is a report with every kind of row.
func reportOfPlain() *workflow.Record {
	word := row("AC-2.1", "pass", "it works", "")
	word.ByWord = true
	return &workflow.Record{
		Checks: []workflow.Check{{ID: "C1", Command: "go test ./...", Output: "--- PASS: TestLink (0.00s)\nok", Server: true}},
		Criteria: []workflow.Criterion{
			row("AC-1.1", "pass", "TestLink; a.go:12, gone.go:1, a.go:99", "C1"), row("ac 1.2", "fail", "it opens", ""), word, row("FR-1", "not_tested", "", ""), row("FR-9", "pass", "a.go:1", ""),
		},
	}
}

// TestRows joins the rows of a report.
func TestRows(t *testing.T) {
	t.Parallel()
	f := facts(planOfPlain, reportOfPlain(), plain)
	got := trace.Link(f)
	var states []string
	for _, c := range got.Criteria {
		states = append(states, c.ID+" "+string(c.State))
	}
	if s := strings.Join(states, ", "); s != "AC-1.1 met, AC-1.2 failed, AC-2.1 met, FR-1 not_run, FR-2 open" {
		t.Errorf("states: %s", s)
	}
	first := got.Criteria[0].Row
	if s := fmt.Sprint(first.Checks, first.Tests, first.Files); s != "[{C1 go test ./... 0 true}] [TestLink] [{a.go 12}]" {
		t.Errorf("evidence: %s", s)
	}
	if s := fmt.Sprint(got.Holes); s != "[{story_in_no_sprint US-2} {passed_without_evidence AC-2.1} {criterion_without_row FR-2} {row_without_criterion FR-9}]" {
		t.Errorf("holes: %s", s)
	}
	f.Reports[0].Stale = true // an earlier stage was reopened: only failures are still known
	got = trace.Link(f)
	states = nil
	for _, c := range got.Criteria {
		states = append(states, string(c.State))
	}
	if s := strings.Join(states, " "); s != "open failed open open open" {
		t.Errorf("stale: %s", s)
	}
	if s := fmt.Sprint(got.Unknown, len(got.Holes)); s != "[no_report] 1" {
		t.Errorf("stale: %s", s)
	}
}

// TestLines checks that each requirement, story, criterion and stray row is on a line of the table.
func TestLines(t *testing.T) {
	t.Parallel()
	got := trace.Link(facts(planOfPlain, reportOfPlain(), plain+"- FR-3 A word.\n"))
	var b strings.Builder
	for _, l := range got.Lines() {
		fmt.Fprintf(&b, "%s | %s | %s | %s | %s", strings.Join(l.Requirements, " "), strings.Join(l.Stories, " "), l.Criterion, strings.Join(got.SprintNames(l.Sprints), " "), l.State)
		for _, kind := range []trace.HoleKind{trace.WithoutStory, trace.InNoSprint, trace.CriterionNowhere, trace.WithoutRow, trace.WithoutEvidence, trace.WithoutCriterion} {
			if l.Missing[kind] {
				b.WriteString(" ! " + kind.Text(lang.English))
			}
		}
		b.WriteString("\n")
	}
	const want = `FR-1 | US-1 S1-1 | AC-1.1 | 1 | met
FR-1 | US-1 S1-1 | AC-1.2 | 1 | failed
 | US-2 | AC-2.1 |  | met ! no sprint ! no evidence
FR-1 | US-1 S1-1 | FR-1 | 1 | not_run
FR-2 | S2-1 | FR-2 | 2 | open ! no row
FR-3 |  | FR-3 |  | open ! no story ! no sprint
 |  | FR-9 |  |  ! no criterion
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	const sentences = "Requirements without a story: FR-3.\nStories in no sprint: US-2.\nCriteria in no sprint: FR-3.\n" +
		"Criteria without a row in the report: FR-2.\nPassed without evidence that can be looked up: AC-2.1.\nRows that belong to no criterion: FR-9."
	if s := strings.Join(got.Sentences(lang.English), "\n"); s != sentences {
		t.Errorf("got\n%s", s)
	}
}

// TestSprintOfStory: a criterion that no sprint names is shown in the sprint of its story.
func TestSprintOfStory(t *testing.T) {
	t.Parallel()
	const document = "# PRD\n\n- US-1: As a user, I want in.\n  - AC-1.1 It works.\n  - AC-1.2 It stays.\n"
	got := trace.Link(facts("# Plan\n\n## Sprint 1: In\n\n- AC-1.1\n", nil, document))
	for _, l := range got.Lines() {
		if fmt.Sprint(l.Sprints) != "[1]" {
			t.Errorf("%s is in the sprints %v", l.Criterion, l.Sprints)
		}
	}
}

// TestStrangers: a row without a criterion is one hole, however many reports have it.
func TestStrangers(t *testing.T) {
	t.Parallel()
	f := facts("", reportOfPlain(), plain)
	f.Reports = append(f.Reports, f.Reports[0])
	got := trace.Link(f)
	if s := fmt.Sprint(got.Holes); strings.Count(s, "FR-9") != 1 {
		t.Errorf("holes: %s", s)
	}
}

// TestJSON holds the keys of the contract.
func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(trace.Link(facts(planOfPlain, reportOfPlain(), plain)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"requirements":[{"id":"FR-1","text":"(Must, US-1) A link is sent","stage":"po","line":12,"stories":["US-1","S1-1"],"criteria":["FR-1"]},`,
		`"stories":[{"id":"US-1","title":"As a user, I want to sign in","stage":"po","line":4,"requirements":["FR-1"],"criteria":["AC-1.1","AC-1.2","FR-1"],"sprints":[1]},`,
		`"row":{"stage":"qa","line":3,"result":"pass","evidence":"TestLink; a.go:12, gone.go:1, a.go:99","checks":[{"id":"C1","command":"go test ./...","exit":0,"server":true}],"tests":["TestLink"],"files":[{"path":"a.go","line":12}]}`,
		`{"number":2,"name":"2","title":"Day","status":"pending","stage":"sm","line":8,"stories":["S2-1"],"criteria":["FR-2"]}`,
		`"holes":[{"kind":"story_in_no_sprint","id":"US-2"}`, `"unknown":[]}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if text, _ := json.Marshal(trace.Link(trace.Facts{})); string(text) != `{"requirements":[],"stories":[],"criteria":[],"sprints":[],"holes":[],"unknown":["no_criteria"]}` {
		t.Errorf("empty: %s", text)
	}
}

// TestLargeDocuments: a large document, and one built to be slow, end.
func TestLargeDocuments(t *testing.T) {
	t.Parallel()
	var many, ranges strings.Builder
	many.WriteString("# PRD\n\n")
	for i := range 5000 {
		fmt.Fprintf(&many, "- FR-%d Thing %d, for US-%d.\n", i+1, i+1, i%50+1)
		fmt.Fprintf(&ranges, "- FR-1 to FR-%d and US-%d\n", i+1, i%50+1)
	}
	for i := range 50 {
		fmt.Fprintf(&many, "- US-%d: As a user, I want thing %d.\n", i+1, i+1)
	}
	for name, doc := range map[string]string{
		"many":        many.String(),
		"ranges":      many.String() + "\n## Notes\n\n" + ranges.String(),
		"one line":    "# PRD\n\n- FR-1 " + strings.Repeat("FR-1 US-1 FR-1 to FR-900, ", 16_000) + "\n- FR-2 x\n- US-1: y\n- US-2: z\n",
		"deep":        "# PRD\n\n" + strings.Repeat("- FR-1 a\n  - US-1: b\n", 5000),
		"all nested":  "# PRD\n\n" + strings.Repeat("###### Story 1.1: a\n", 5000),
		"no new line": strings.Repeat("FR-1 US-1 ", 40_000),
	} {
		plan := "# Plan\n\n## Sprint 1: a\n\n- FR-1 to FR-4000\n"
		if name == "ranges" {
			plan = ranges.String()
		}
		began := time.Now()
		got := trace.Link(facts(plan, nil, doc))
		t.Logf("%s: %d requirements, %d stories, %v", name, len(got.Requirements), len(got.Stories), time.Since(began))
		if name == "many" && (len(got.Requirements) != 5000 || len(got.Stories) != 50) {
			t.Errorf("%d requirements, %d stories", len(got.Requirements), len(got.Stories))
		}
		_ = got.Lines()
	}
}

// TestWorkGrowsWithText: a document four times as long takes no more than about four times the memory, whatever its author
// repeats in it.
func TestWorkGrowsWithText(t *testing.T) { // not parallel: it counts the memory of the program
	number := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i+1)
		}
		return b.String()
	}
	for name, write := range map[string]func(n int) (document, plan string){
		"one id for all": func(n int) (string, string) { return "# PRD\n\n" + number(n, "- FR-1 Text %d.\n"), "" },
		"one story's id for all": func(n int) (string, string) {
			return "# PRD\n\n" + number(n, "- US-1: As a user, I want %d.\n  - AC-1.1 It works.\n"), ""
		},
		"an epic named again": func(n int) (string, string) {
			return "# PRD\n\n## Epic 1: All\n\n" + number(n, "### Story 1.%d: One\n\nAcceptance criteria:\n1. It works.\n\n"),
				"# Plan\n\n## Sprint 1: All\n\n- " + strings.Repeat("Epic 1, ", n) + "\n"
		},
	} {
		used := func(n int) uint64 {
			document, plan := write(n)
			in := facts(plan, nil, document)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			trace.Link(in)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if a, b := used(1000), used(4000); b > 6*a {
			t.Errorf("%s: %d bytes, and %d for four times the text", name, a, b)
		}
	}
}

// FuzzLink checks that ids are unique, that every criterion of the gate is there, and that links lead somewhere.
func FuzzLink(f *testing.F) {
	f.Add(plain, planOfPlain, "AC-1.1")
	f.Add("# 需求\n\n### 故事 1.1：登录\n\n验收标准：\n1. 一次。\n\n- FR-1：链接。\n", "## 冲刺 1\n- 故事 1.1\n", "1.1/AC1")
	f.Add("| ID | Story |\n|---|---|\n| FR-1 | US-1 |\n| FR-2 | US-2 |\n", "| Sprint | Stories |\n|---|---|\n| 1 | US-1 |\n", "FR 1")
	f.Add("### Story 1: a\n### Story 1: b\n- AC1 c\n- AC1 d\n", "# Sprint A\nStory 1\n", "")
	f.Add("# Stories\n\n## Story: Log in\n\n- AC-1 a\n\n## Story: Log in′2\n\n- AC-2 b\n\n## Story: Log in\n\n- AC-3 c\n", "", "")
	f.Fuzz(func(t *testing.T, document, plan, id string) {
		report := &workflow.Record{Criteria: []workflow.Criterion{row(id, "pass", "C1 a.go:1", id)}, Checks: []workflow.Check{{ID: id}}}
		in := facts(plan, report, document)
		got := trace.Link(in)
		if len(got.Criteria) != len(in.Criteria.All) {
			t.Fatalf("%d criteria of %d", len(got.Criteria), len(in.Criteria.All))
		}
		known := map[string]bool{}
		for _, r := range got.Requirements {
			known["r"+r.ID] = true
		}
		for _, s := range got.Stories {
			known["s"+s.ID] = true
		}
		for _, c := range got.Criteria {
			known["c"+c.ID] = true
		}
		if len(known) != len(got.Requirements)+len(got.Stories)+len(got.Criteria) {
			t.Fatal("an id stands twice")
		}
		for _, r := range got.Requirements {
			for _, s := range r.Stories {
				if !known["s"+s] {
					t.Fatalf("no story %s", s)
				}
			}
		}
		for _, s := range got.Stories {
			for _, c := range s.Criteria {
				if !known["c"+c] {
					t.Fatalf("no criterion %s", c)
				}
			}
		}
		_ = got.Lines()
	})
}
