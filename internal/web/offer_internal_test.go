package web

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestOfferIsSigned checks that a passkey signs the offer with the decision: the record of another offer, or of none, does
// not match the signature.
func TestOfferIsSigned(t *testing.T) {
	t.Parallel()
	offer := &workflow.Offer{Command: "npm test", SHA256: "aa"}
	it := &decision{sent: sent{Decision: string(offer.Decision()), SHA256: "dd", Nonce: "n"}, stage: workflow.SM, session: &workflow.Session{SessionID: "id"}}
	for name, tt := range map[string]struct {
		offer *workflow.Offer
		want  bool
	}{
		"as shown":        {offer, true},
		"another command": {&workflow.Offer{Command: "make test", SHA256: "aa"}, false},
		"other files":     {&workflow.Offer{Command: "npm test", SHA256: "bb"}, false},
		"none":            {nil, false},
	} {
		recorded := workflow.Grant{Stage: workflow.SM, Decision: workflow.DecisionApprove, SHA256: "dd", Offer: tt.offer}
		if got := passkey.StatementOf("id", recorded, "", "n").Challenge() == it.statement().Challenge(); got != tt.want {
			t.Errorf("%s: the signature holds: %v, want %v", name, got, tt.want)
		}
	}
}
