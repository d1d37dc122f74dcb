package audit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// agree fails if the audit of a plan speaks of other sprints than its scope has.
func agree(t *testing.T, plan string) {
	t.Helper()
	sprints, _ := intake.ReadSprints(plan)
	none := false
	for _, x := range rubric(t, workflow.SM).Audit(plan, audit.Background{Plan: workflow.SM}).Findings {
		none = none || x.ID == "NO-SPRINTS"
		if x.ID != "NO-STORIES" && x.ID != "NO-SPRINT-GOAL" && x.ID != "NO-DONE-WHEN" {
			continue
		}
		_, items, _ := strings.Cut(x.Problem, ": ")
		for _, item := range strings.Split(items, ", ") {
			if strings.HasPrefix(item, "Sprint ") && !slices.ContainsFunc(sprints, func(sp workflow.Sprint) bool { return item == "Sprint "+sp.Name() }) {
				t.Errorf("%q: the scope has %v, the audit says %q", plan, sprints, x.Problem)
			}
		}
	}
	if none != (len(sprints) == 0) {
		t.Errorf("%q: the scope has %v, that the audit finds none is %v", plan, sprints, none)
	}
}

func TestScopeAndAuditReadTheSameSprints(t *testing.T) {
	for _, plan := range []string{
		"# Plan\n\n**Sprint 1**\n\ntext\n\n**Sprint 2**\n", "# Plan\n\nSprint 1\n--------\n\nSprint 2\n--------\n", "## [Sprint 1]\n\n## [Sprint 2]\n", "## Iteration 1\n\n## Iteration 2\n",
		"## Week 1 — Sprint 1\n\n## Week 3 — Sprint 2\n", "## Sprint One\n\n## Sprint Two\n", "| Sprint | Focus |\n|---|---|\n| 1 | a |\n| 2 | b |\n", "##### 迭代一\n\n##### 第2个冲刺\n",
		"Here:\n\n```markdown\n## Sprint 1: a\n## Sprint 2: b\n```\n",
	} {
		agree(t, plan)
		if sprints, _ := intake.ReadSprints(plan); len(sprints) != 2 {
			t.Errorf("%q: %v, want two sprints", plan, sprints)
		}
	}
	agree(t, "# Plan\n\nSprint 1 is mentioned.\n\n```\n## Sprint 1\n```\n")
}

// TestStoriesOfTables: a plan in a table has the stories that its rows name.
func TestStoriesOfTables(t *testing.T) {
	for plan, want := range map[string]string{
		"| Sprint | Goal | Stories | Done when |\n|---|---|---|---|\n| 1 | sign in | S1-1, S1-2 | shown |\n| 2 | pay | S2-1<br>S2-2 | shown |\n": "",
		"| Story | Days | Sprint |\n|---|---|---|\n| S1-1 | 1.5 | 1 |\n| S2-1 | 2 | 2 |\n":                                                       "",
		"| Sprint | Days |\n|---|---|\n| 1 | 1.5 |\n| 2 | 2.5 |\n\n### S1-1 Sign in (1 day)\n":                                                   "1 sprint without a story: Sprint 2",
		"| Sprint | Days |\n|---|---|\n| Sprint 1 | 1.5 |\n| Sprint 2 | 2.5 |\n":                                                                 "2 sprints without a story: Sprint 1, Sprint 2",
	} {
		got := ""
		for _, x := range rubric(t, workflow.SM).Audit(plan, audit.Background{Plan: workflow.SM}).Findings {
			if x.ID == "NO-STORIES" {
				got = x.Problem
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", plan, got, want)
		}
	}
}

func FuzzPlan(f *testing.F) {
	for _, plan := range []string{"## Sprint 1: a\n### S1-1\n", "**Sprint 1** (a)\n\n**冲刺 2：b**", "|Sprint|\n|-|\n|1|\n|2|", "Sprint I\n---\n", "x\n```md\n# Sprint 3\n```"} {
		f.Add(plan)
	}
	f.Fuzz(func(t *testing.T, plan string) { agree(t, plan) })
}
