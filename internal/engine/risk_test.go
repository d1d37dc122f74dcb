package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// failing returns a report with one finding.
func failing(severity, status string) request.Request {
	return submit(workflow.Review, "# R\n```json\n"+`{"verdict": "fail", "no_checks": "nothing to run", "findings": [{"id": "R1", "severity": "`+severity+
		`", "file": "a.go:1", "problem": "tasks are lost", "fix": "keep them", "status": "`+status+`"}]}`+"\n```\n")
}

// TestCriticalRiskNeedsWords checks that whoever lets work go on with a critical finding open says
// why, whatever channel they say it by.
func TestCriticalRiskNeedsWords(t *testing.T) {
	for _, channel := range []workflow.Channel{workflow.ChannelTerminal, workflow.ChannelElicited, workflow.ChannelBrowser, workflow.ChannelHostConfirmed, workflow.ChannelScript} {
		b := newBench(t)
		b.to(workflow.Review, workflow.Generating)
		r := b.at("review/awaiting_approval", failing("critical", "open"))
		if !strings.Contains(r.UserMessage, "**accept the risk**, and why") {
			t.Errorf("the gate does not ask for a reason: %s", r.UserMessage)
		}
		before := b.stored().Revision
		b.refused(approve(true, ""), fault.InvalidArgument, "a critical finding is open; accepting it needs the human's reason")
		b.refused(approve(true, " \n"), fault.InvalidArgument, "a critical finding is open")
		person := &answers{Response: gate.Response{Channel: channel, Decision: workflow.DecisionApprove, Took: 3 * time.Second}}
		ask := request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: person}}
		r = b.at("review/awaiting_approval", ask)
		if !person.asked[0].Choices[1].Reason || r.Gate == nil || !strings.Contains(r.Gate.Silence, "a critical finding is open") {
			t.Errorf("%s: %+v, %+v", channel, person.asked[0].Choices, r.Gate)
		}
		if b.stored().Revision != before {
			t.Errorf("%s: a decision without words has changed the run", channel)
		}
		person.Feedback = "the importer is switched off until May"
		b.at("qa/generating", ask)
		if g := b.stored().Last().Grant; g == nil || g.Decision != workflow.DecisionOverride || g.Feedback != person.Feedback {
			t.Errorf("%s: %+v", channel, g)
		}
	}
}

// TestOtherRisksNeedNone checks that a risk without a critical finding is accepted by a word, and
// to send the work back takes none.
func TestOtherRisksNeedNone(t *testing.T) {
	for _, report := range []request.Request{failing("major", "open"), failing("critical", "fixed")} {
		b := newBench(t)
		b.to(workflow.Review, workflow.Generating)
		b.at("review/awaiting_approval", report)
		b.at("qa/generating", approve(true, ""))
	}
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	b.at("review/awaiting_approval", failing("critical", "open"))
	b.at("dev/refining", approve(false, ""))
}
