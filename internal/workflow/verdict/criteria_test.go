package verdict

import (
	"os"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestDefinedCriteria: which ids a document defines, and which it only names.
func TestDefinedCriteria(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"items":                   {"- AC-1: a\n* **AC-2** b\n1. `AC-3` c\n- [ ] AC-4 d\n- (AC-5) e", "AC-1 AC-2 AC-3 AC-4 AC-5"},
		"headings and bold lines": {"### AC-1.1 a\n\ntext\n\n**AC-1.2**: b\n\n**AC-1.3 c**", "AC-1.1 AC-1.2 AC-1.3"},
		"the first cells":         {"| Id | Text |\n|---|---|\n| AC-1 | a |\n| **AC-2** | b, see AC-9 |", "AC-1 AC-2"},
		"a story's cells":         {"| Story | Criterion | Text |\n|---|---|---|\n| US-1 | AC-1.1 | a |\n| US-2 | AC-2.1 | b |", "AC-1.1 AC-2.1"},
		"other spellings":         {"- ac 1.1 a\n- ＡＣ－1.2 b\n- AC‑1.3 c\n- AC1.4 d\n- AC_1.5 e", "AC 1.1 AC-1.2 AC-1.3 AC1.4 AC_1.5"},
		"words in ids":            {"- AC-LOGIN-1: a\n- AC-LOGIN-2: b", "AC-LOGIN-1 AC-LOGIN-2"},
		"named, not defined":      {"- see AC-1\n- AC-1, AC-2 and AC-3 are for later\n- AC-1 to AC-4\n\nAC-7 is mentioned here.", ""},
		"in code and comments":    {"```\n- AC-1 a\n```\n<!-- \n- AC-2 b\n-->\n- AC-3 c", "AC-3"},
		"what is left out":        {"- AC-1 a\n\n## Out of scope\n\n- AC-2 b\n\n## 不做\n\n- AC-3 c\n\n## Goals\n\n- AC-4 d", "AC-1 AC-4"},
		"headings of features":    {"## Save for later\n\n- AC-1 a\n\n## Future bookings\n\n- AC-2 b\n\n## Backlog view\n\n- AC-3 c\n\n## 后续订单\n\n- AC-4 d\n\n## 未来七天天气\n\n- AC-5 e", "AC-1 AC-2 AC-3 AC-4 AC-5"},
		"headings of stories":     {"### US-7: alert on what is out of scope\n\n- AC-7.1 a\n\n### Story 8: move to the backlog\n\n- AC-8.1 b", "AC-7.1 AC-8.1"},
		"later releases":          {"- AC-1 a\n\n## 7. Later\n\n- AC-2 b\n\n## Future work\n\n- AC-3 c\n\n## 后续版本\n\n- AC-4 d\n\n## 暂不实现\n\n- AC-5 e", "AC-1"},
		"underlined headings":     {"AC-1 Sign in\n---\n\ntext\n\nAC-2 Sign out\n---", "AC-1 AC-2"},
		"the first family":        {"- FR-1 a\n- FR-2 b\n- US-1 c\n- NFR-1 d", "FR-1 FR-2"},
		"stories alone":           {"### US-1: a\n\n### US-2: b", "US-1 US-2"},
		"once each":               {"- AC-1 a\n\n## Traceability\n\n| AC | FR |\n|---|---|\n| AC-1 | FR-1 |", "AC-1"},
		"repeated under stories":  {"### US-1 sign in\n\n- AC1 a\n- AC2 b\n\n### US-2 sign out\n\n- AC1 c\n\n## List\n\n- AC1 of all", "US-1/AC1 AC2 US-2/AC1"},
		"letters under stories":   {"### US-1\n\n- AC1a a\n\n### US-2\n\n- AC1a b", "US-1/AC1a US-2/AC1a"},
		"stories without ids":     {"### Story 1.1: in\n\n- AC1: a\n- AC2: b\n\n### Story 1.2: out\n\n- AC1: c", "US-1.1/AC1 AC2 US-1.2/AC1"},
		"Chinese stories":         {"### 用户故事 1：登录\n\n- AC1：a\n\n### 用户故事2\n\n- AC1：b", "US-1/AC1 US-2/AC1"},
		"the second cells":        {"| No. | Id | Text |\n|---|---|---|\n| 1 | AC-1 | a |\n| P0 | **AC-2** | b |\n| x | AC-8, AC-9 | c |\n\n| Risk | Of |\n|---|---|\n| slow | AC-7 |", "AC-1 AC-2"},
		"a dot and no space":      {"- AC1.用户可以登录\n- AC-2.Sign out", "AC1 AC-2"},
		"marks before ids":        {"> - AC-1: a\n\n- ✅ AC-2 b\n- <a id=\"x\"></a>AC-3 c", "AC-1 AC-2"},
		"paragraphs":              {"AC-1: a\n\nAC-2 — b\n\nAC-3 is mentioned", "AC-1 AC-2"},
		"qualified":               {"- US-1/AC1: a\n- US-1 AC2: b\n- US-2/AC1: c", "US-1/AC-1 AC-2 US-2/AC-1"},
		"a section of criteria":   {"## Acceptance criteria\n\n- C1: a\n- C2: b\n\n## Notes\n\n- C3: c", "C1 C2"},
		"a Chinese section":       {"## 验收标准\n\n| 编号 | 内容 |\n|---|---|\n| YS-1 | 甲 |\n| YS-2 | 乙 |", "YS-1 YS-2"},
		"a section with comments": {"## Acceptance criteria\n\n<!--\n- C1: a\n-->\n- C2: b", "C2"},
		"numbers are no ids":      {"## Acceptance criteria\n\n1. a\n2. b", ""},
		"prose":                   {"We sell to US 50 companies and 3 others.\n\n- us 3 of them\n- use AC power", ""},
	} {
		var got []string
		for _, c := range criteriaIn(tt.text) {
			got = append(got, c.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestOwedCriteria: the criteria that a plan, its sprints and its approval owe.
func TestOwedCriteria(t *testing.T) {
	t.Parallel()
	const prd = "- AC-1.1 a\n- AC-1.2 b\n- AC-1.3 c\n- AC-2.1 d\n- AC-2.2 e\n- AC-3.1 f"
	const plan = "# Plan\n\n## Sprint 1: in\n\n- Acceptance: AC-1.1 to 1.3\n\n## Sprint 2: out\n\n- AC-2.1, 2.2\n\n## Out of scope\n\n- AC-3.1 waits\n"
	sprints := func(states ...workflow.SprintStatus) (out []workflow.Sprint) {
		for i, s := range states {
			out = append(out, workflow.Sprint{Number: i + 1, Status: s})
		}
		return out
	}
	const built, pending, done = workflow.SprintImplemented, workflow.SprintPending, workflow.SprintDone
	for name, tt := range map[string]struct {
		plan     string
		approved bool
		sprints  []workflow.Sprint
		scope    []int
		want     string
	}{
		"no plan":                    {want: "AC-1.1 AC-1.2 AC-1.3 AC-2.1 AC-2.2 AC-3.1"},
		"the first sprint":           {plan: plan, approved: true, sprints: sprints(built, pending), scope: []int{1}, want: "AC-1.1 AC-1.2 AC-1.3"},
		"the second":                 {plan: plan, approved: true, sprints: sprints(done, built), scope: []int{2}, want: "AC-1.1 AC-1.2 AC-1.3 AC-2.1 AC-2.2"},
		"both":                       {plan: plan, approved: true, sprints: sprints(built, built), scope: []int{1, 2}, want: "AC-1.1 AC-1.2 AC-1.3 AC-2.1 AC-2.2"},
		"a plan without an approval": {plan: plan, sprints: sprints(built, built), scope: []int{1, 2}, want: "AC-1.1 AC-1.2 AC-1.3 AC-2.1 AC-2.2 AC-3.1"},
		"silence waives nothing":     {plan: "## Sprint 1: in\n\nAC-1.1", approved: true, sprints: sprints(built), scope: []int{1}, want: "AC-1.1 AC-1.2 AC-1.3 AC-2.1 AC-2.2 AC-3.1"},
		"no criteria in the plan":    {plan: "## Sprint 1: in\n\n## Sprint 2: out", approved: true, sprints: sprints(built, pending), scope: []int{1}, want: "AC-1.1 AC-1.2 AC-1.3 AC-2.1 AC-2.2 AC-3.1"},
		"a whole":                    {plan: "## Sprint 1: in\n\nAC-1 and AC‑2.1–AC‑2.2\n\n## Sprint 2: x", approved: true, sprints: sprints(built, pending), scope: []int{1}, want: "AC-1.1 AC-1.2 AC-1.3 AC-2.1 AC-2.2"},
	} {
		c := ReadCriteria(Sources{Requirements: []string{"# None", prd}, Plan: tt.plan, Approved: tt.approved, Sprints: tt.sprints, InScope: tt.scope})
		if got := strings.Join(c.Owed(), " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	const lettered = "- AC-1a a\n- AC-1B b\n- AC-2 c"
	for left, want := range map[string]string{
		"- AC-1b":                           "AC-1a AC-2",
		"- AC-1B":                           "AC-1a AC-2",
		"- AC-1":                            "AC-2",
		"- AC-1C":                           "AC-1a AC-1B AC-2",
		"- payments <!-- AC-1 to AC-2 -->":  "AC-1a AC-1B AC-2",
		"<!--\n- AC-1 to AC-2\n-->\n- none": "AC-1a AC-1B AC-2",
		"- signing out (AC-2)":              "AC-1a AC-1B",
		"AC-2 waits for the next release.":  "AC-1a AC-1B",
		"| Id | Why |\n|---|---|\n| AC-2 | later |": "AC-1a AC-1B",
		"Nothing of AC-1 to AC-2 is out of scope.":  "AC-1a AC-1B AC-2",
		"未排除 AC-1 至 AC-2。":                          "AC-1a AC-1B AC-2",
	} {
		c := ReadCriteria(Sources{Requirements: []string{lettered}, Plan: "## Out of scope\n\n" + left + "\n", Approved: true})
		if got := strings.Join(c.Owed(), " "); got != want {
			t.Errorf("%q left out: got %s, want %s", left, got, want)
		}
	}
	c := ReadCriteria(Sources{Requirements: []string{prd + "\n- AC-4.1 g"}, Plan: plan, Sprints: sprints(pending, pending)})
	if left, open := strings.Join(c.LeftOut(), " "), strings.Join(c.Unassigned(), " "); left != "AC-3.1" || open != "AC-4.1" {
		t.Errorf("left out %s, in no sprint %s", left, open)
	}
}

// TestCriteriaAreKept: the same documents are read once, and what one call makes of them is not in another.
func TestCriteriaAreKept(t *testing.T) {
	src := Sources{Requirements: []string{"- AC-1.1 kept\n- AC-1.2 kept\n- AC-2 kept"}, Plan: "## Sprint 1: in\n\nAC-1.1\n\n## Sprint 2: later\n\nAC-1.2\n\n## Out of scope\n\n- AC-2\n"}
	src.Sprints, src.InScope = []workflow.Sprint{{Number: 1}, {Number: 2, Status: workflow.SprintPending}}, []int{1}
	first := ReadCriteria(src)
	read := func() []Criterion { return readCriteria(src.Requirements[0], src.Plan, src.Approved).All }
	if again := read(); &again[0] != &read()[0] || &again[0] == &first.All[0] || again[0].Owed {
		t.Error("they are read again, or shared")
	}
	for _, tt := range []struct {
		scope    []int
		approved bool
		more     string
		want     string
	}{
		{scope: []int{1}, want: "AC-1.1"},
		{scope: []int{2}, want: "AC-1.2"},
		{scope: []int{1, 2}, approved: true, want: "AC-1.1 AC-1.2"},
		{scope: []int{1}, more: "- AC-3 more", want: "AC-1.1"},
	} {
		src.InScope, src.Approved, src.Plan = tt.scope, tt.approved, src.Plan+tt.more
		if got := strings.Join(ReadCriteria(src).Owed(), " "); got != tt.want {
			t.Errorf("%+v: got %s", tt, got)
		}
		if waived := read()[2].Waived; waived != tt.approved {
			t.Errorf("%+v: waived %v", tt, waived)
		}
	}
}

// TestCriteriaOfRealRequirements: the criteria of whole documents, in both languages.
func TestCriteriaOfRealRequirements(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{"webhook-relay/03-po-second.json": 29, "zh-booking/01-po-first.md": 11} {
		data, err := os.ReadFile("../../../testdata/submissions/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("```json", "", `\n`, "\n", `\"`, `"`).Replace(string(data))
		if got := ReadCriteria(Sources{Requirements: []string{text}}).Owed(); len(got) != want {
			t.Errorf("%s: got %d criteria, want %d: %v", file, len(got), want, got)
		}
	}
}

func TestSameIDs(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"AC-1.1", "ac 1.1"}, {"AC‑1.1", "AC_1.1"}, {"ＡＣ-1.1", "AC1.1"}, {"US-1/AC1", "US-1 AC-1"}, {"AC-01", "AC-1"}, {"R1", "r1"}, {"AC-1.1.", "AC-1.1"}} {
		if canonicalID(pair[0]) != canonicalID(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"AC-1.1", "AC-11"}, {"AC-1", "AC-10"}, {"S1-4", "S14"}, {"US-1/AC1", "US-11/AC"}, {"AC-1.1", "FR-1.1"}, {"AC-1.0", "AC-1"}} {
		if canonicalID(pair[0]) == canonicalID(pair[1]) {
			t.Errorf("%q and %q are the same: %s", pair[0], pair[1], canonicalID(pair[0]))
		}
	}
}
