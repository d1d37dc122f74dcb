package engine_test

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestReopenedPlanNamesWhatItChanges reopens a plan that was built. Each round is compared with the plan that was
// built, not with the round before.
func TestReopenedPlanNamesWhatItChanges(t *testing.T) {
	const plan = "# Plan\n\n## Sprint 1: Accounts\n\n- S1-1 sign in (AC-1)\n\n## Sprint 2: Orders\n\n- S2-1 order (AC-2)\n\n## Sprint 3: Reports\n\n- S3-1 report (AC-3)\n"
	b := newBench(t)
	b.do(start("build a shop"))
	b.do(submit(workflow.PO, `{"document":"# P\n\n- AC-1: sign in\n- AC-2: order\n- AC-3: report\n","quality_score":95}`))
	b.onTo(workflow.SM, workflow.Generating)
	if r := b.at("sm/awaiting_approval", submit(workflow.SM, plan)); strings.Contains(r.UserMessage, "What was built") {
		t.Errorf("nothing was built yet:\n%s", r.UserMessage)
	}
	b.at("dev/generating", approve(true, ""))
	b.do(submit(workflow.Dev, "# D"))
	b.at("sm/refining", request.Request{Action: workflow.ActionReopen, Stage: "sm", Decision: request.Decision{Feedback: "set up first"}})

	for _, tt := range []struct{ plan, want, statuses string }{
		{"# Plan\n\n## Sprint 1: Setup\n\n- S1-1 set up\n\n## Sprint 2: Accounts\n\n- S2-1 sign in (AC-1)\n\n## Sprint 3: Orders\n\n- S3-1 order (AC-2, AC-3)\n",
			"Sprint 1: “Accounts” is now sprint 2: still built; Sprint 2: “Orders” is now sprint 3 and gains AC-3: not built; " +
				"Sprint 3: “Reports” is no longer in the plan", "pending implemented pending"},
		{"# Plan\n\n## Sprint 1: Members\n\n- S1-1 sign in (AC-1)\n\n## Sprint 2: Orders\n\n- S2-1 order (AC-2, AC-1)\n\n## Sprint 3: Reports\n\n- S3-1 report\n",
			"Sprint 1: “Accounts” is now Sprint 1: “Members”: not built; Sprint 2: “Orders” gains AC-1: not built", "pending pending implemented"},
		{plan + "\n## Sprint 4: Mail\n\n- S4-1 mail\n", "", "implemented implemented implemented pending"},
	} {
		r := b.at("sm/awaiting_approval", submit(workflow.SM, tt.plan))
		_, list, _ := strings.Cut(r.UserMessage, "**What was built:** ")
		list, _, _ = strings.Cut(list, ".\n")
		var statuses []string
		for _, sp := range b.stored().Sprints {
			statuses = append(statuses, string(sp.Status))
		}
		if got := list; got != tt.want || strings.Join(statuses, " ") != tt.statuses {
			t.Errorf("%s\ngot  %s (%v)\nwant %s (%s)\n%s", tt.plan, got, statuses, tt.want, tt.statuses, r.UserMessage)
		}
		if tt.want != "" {
			b.at("sm/refining", approve(false, "once more"))
		}
	}
	b.at("dev/generating", approve(true, ""))
	mail := submit(workflow.Dev, "# D2")
	mail.Sprints = []int{4}
	b.do(mail)
	b.at("sm/refining", request.Request{Action: workflow.ActionReopen, Stage: "sm", Decision: request.Decision{Feedback: "no mail"}})
	if r := b.at("sm/awaiting_approval", submit(workflow.SM, plan)); !strings.Contains(r.UserMessage, "Sprint 4: “Mail” is no longer in the plan") {
		t.Errorf("the plan is not compared with the last approved one:\n%s", r.UserMessage)
	}
}
