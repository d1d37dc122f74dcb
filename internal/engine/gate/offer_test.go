package gate_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestOffer checks the choice that takes an offer: it is there for a yes that counts, and its value stands for the offer
// as it was shown.
func TestOffer(t *testing.T) {
	t.Parallel()
	shown := &workflow.Offer{Command: "make test", SHA256: "aa"}
	plan := at(workflow.SM, workflow.AwaitingApproval)
	plan.Offer = shown
	edited := at(workflow.SM, workflow.AwaitingApproval)
	edited.Offer, edited.Draft.Edit = shown, &standing.Edit{}
	barred := at(workflow.SM, workflow.AwaitingApproval)
	barred.Offer, barred.Policy.Approvers = shown, []string{"ann"}
	for name, tt := range map[string]struct {
		s           *standing.Standing
		label       string // of the choice; "" if there is none
		value, took string // what an answer takes: "" if it takes no choice, "yes" without an offer
	}{
		"as shown":           {plan, "Approve, and let the server run `make test` at Dev and QA", "approve_and_run:aa:make test", "make test aa"},
		"with other files":   {plan, "Approve, and let the server run `make test` at Dev and QA", "approve_and_run:bb:make test", "make test bb"},
		"a plain yes":        {plan, "Approve, and let the server run `make test` at Dev and QA", "approve", "yes"},
		"with an edit":       {edited, "Approve with this change, and let the server run `make test` at Dev and QA", "approve_and_run:aa:make test", "make test aa"},
		"barred":             {barred, "", "approve_and_run:aa:make test", ""},
		"not offered":        {at(workflow.SM, workflow.AwaitingApproval), "", "approve_and_run:aa:make test", "make test aa"},
		"no such choice":     {plan, "Approve, and let the server run `make test` at Dev and QA", "approve_and_ru", ""},
		"an offer of no one": {plan, "Approve, and let the server run `make test` at Dev and QA", "approve_and_run:", " "},
	} {
		label := ""
		for _, c := range gate.Choices(tt.s) {
			if c.Offer != nil {
				label = c.Label
			}
		}
		c, ok := gate.Ask(tt.s).Choose(tt.value)
		took := ""
		switch {
		case ok && c.Offer != nil && c.Decision == workflow.DecisionApprove:
			took = c.Offer.Command + " " + c.Offer.SHA256
		case ok:
			took = "yes"
		}
		if label != tt.label || took != tt.took {
			t.Errorf("%s: offered %q, taken %q; want %q, %q", name, label, took, tt.label, tt.took)
		}
	}
}

// FuzzOffer checks that an answer's text is an offer only if the offer has that text again.
func FuzzOffer(f *testing.F) {
	f.Add("approve_and_run:aa:make test")
	f.Fuzz(func(t *testing.T, text string) {
		o := workflow.OfferOf(workflow.Decision(text))
		if o == nil {
			return
		}
		if again := workflow.OfferOf(o.Decision()); again.Command != o.Command || again.SHA256 != o.SHA256 {
			t.Errorf("%q is %+v, then %+v", text, o, again)
		}
	})
}
