package verdict

import (
	"os"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

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
	read := func() []Criterion { return readCriteria(src.Requirements[0], src.Plan, src.Approved, false).All }
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
	for file, want := range map[string][2]int{"webhook-relay/03-po-second.json": {49, 29}, "zh-booking/01-po-first.md": {19, 11}} {
		data, err := os.ReadFile("../../../testdata/submissions/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("```json", "", `\n`, "\n", `\"`, `"`).Replace(string(data))
		if got := ReadCriteria(Sources{Requirements: []string{text}}).Owed(); len(got) != want[0] {
			t.Errorf("%s: got %d criteria, want %d: %v", file, len(got), want[0], got)
		}
		if got := ReadCriteria(Sources{Requirements: []string{text}, Former: true}).Owed(); len(got) != want[1] {
			t.Errorf("%s: a former run owes %d criteria, want %d: %v", file, len(got), want[1], got)
		}
	}
}
