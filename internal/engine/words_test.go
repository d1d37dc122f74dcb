package engine_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// glued matches a line that Markdown takes for the end of the list item above it.
var glued = regexp.MustCompile(`(?m)^- .*\n[^-\s].*$`)

// TestNothingEndsInABullet checks that what follows a list in a message is a paragraph of its own,
// and a run that went on at a risk says so at its end.
func TestNothingEndsInABullet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	check := func(r *reply.Reply) *reply.Reply {
		t.Helper()
		if at := glued.FindString(r.UserMessage); at != "" {
			t.Errorf("drawn as one item:\n%s\n\nin:\n%s", at, r.UserMessage)
		}
		return r
	}
	b.do(start("Receive signed webhooks"))
	b.onTo(workflow.Review, workflow.Generating)
	check(b.do(submit(workflow.Review, failedReview)))
	check(b.do(approve(false, "please fix both")))
	check(b.do(submit(workflow.Dev, "# D")))
	both := check(b.do(submit(workflow.Review, "# R\n\nThe tests fail.\n\n```json\n"+`{"verdict":"pass","findings":[{"id":"F1","severity":"critical","problem":"Tokens are compared with ==."},{"id":"F2","severity":"major","problem":"no limit on retries"}]}`+"\n```\n")))
	if !strings.Contains(both.UserMessage, "Open findings:") {
		t.Errorf("%s", both.UserMessage)
	}
	check(b.do(approve(false, "fix them")))
	check(b.do(submit(workflow.Dev, "# D 2")))
	check(b.do(submit(workflow.Review, strings.Replace(failedReview, "Status: fail", "Status: fail again", 1))))
	check(b.do(approve(true, "the limit comes later")))
	end := check(b.do(submit(workflow.QA, passes("# Q"))))
	if end.State != workflow.Completed || !strings.Contains(end.UserMessage, "**Risk accepted** on ") || !strings.Contains(end.UserMessage, "“the limit comes later”") ||
		!strings.Contains(end.UserMessage, "\n\nThe work went back to the developer 2 times.\n") {
		t.Errorf("the end of a run at a risk:\n%s", end.UserMessage)
	}
}

// TestGapsNameTheirAuthor checks that gaps that the server found are not shown as the assistant's
// words.
func TestGapsNameTheirAuthor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.do(start("Build a clock"))
	b.do(submit(workflow.PO, "{\"prd_draft\":\"# P\",\"quality_score\":95,\"gaps\":[\"no time zones\"]}"))
	b.do(confirm(false))
	person := &answers{}
	again := submit(workflow.PO, "{\"prd_draft\":\"# P\",\"quality_score\":95,\"gaps\":[\"no time zones\"]}")
	again.Ask, again.Forms = person, true
	r := b.do(again)
	if !strings.Contains(r.UserMessage, "- Server: word for word the document of the round before\n- “no time zones”") {
		t.Errorf("%s", r.UserMessage)
	}
	b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person, Forms: true}})
	if worst := person.asked[len(person.asked)-1].Worst; strings.Contains(worst, "Assistant") {
		t.Errorf("the form says %q", worst)
	}
}

// TestAnUnchangedDraftIsNotARound checks that submit without a document takes the working copy, if
// it says anything new.
func TestAnUnchangedDraftIsNotARound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.do(start("Build a clock"))
	b.do(submit(workflow.PO, `{"prd_draft":"# P","quality_score":70}`))
	before := b.snapshot()
	b.refused(request.Request{Action: workflow.ActionSubmit, Stage: "po"}, fault.InvalidArgument, "is still what was handed in last")
	if b.snapshot() != before {
		t.Error("the refusal has changed something")
	}
	b.do(submit(workflow.PO, `{"prd_draft":"# P","quality_score":95}`)) // with a text of its own it counts
}

// TestAScopeIsShown checks that who approves the scope of a fix reads it in the question.
func TestAScopeIsShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin("fix")
	r := b.do(submit(workflow.Dev, "# Scope\n\nThe link keeps its old expiry.\n\n- change link.go\n- test link_test.go\n"))
	for _, want := range []string{"It says:\n- “", "The link keeps its old expiry.", "change link.go"} {
		if !strings.Contains(r.UserMessage, want) {
			t.Errorf("no %q in:\n%s", want, r.UserMessage)
		}
	}
}
