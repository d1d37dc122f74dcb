package workflow

import (
	"strings"
	"time"
)

// Channel is the way in which a person's decision arrived.
type Channel string

// The channels, the best first. ChannelTyped is a command that a person typed to the host and the
// host's hook passed on; ChannelScript is a decision given on a command line, without a person at a
// terminal. ChannelPasskey is a decision that a person's passkey signed in a paired browser,
// ChannelBrowser one without a signature.
const (
	ChannelElicited      Channel = "elicited"
	ChannelPasskey       Channel = "passkey"
	ChannelHostConfirmed Channel = "host_confirmed"
	ChannelBrowser       Channel = "browser"
	ChannelTerminal      Channel = "terminal"
	ChannelTyped         Channel = "typed"
	ChannelScript        Channel = "script"
	ChannelRelayed       Channel = "relayed"
)

// Assurance is the strength of a channel's proof that a person decided.
type Assurance string

// The assurances. High: a person filled in a form of their own host, or signed with their
// passkey. Medium: a person approved a host's question, answered in a paired browser or at a
// terminal, or typed a command of their host. Low: only the caller says so.
const (
	AssuranceHigh   Assurance = "high"
	AssuranceMedium Assurance = "medium"
	AssuranceLow    Assurance = "low"
)

// Assurance returns the assurance of a channel.
func (c Channel) Assurance() Assurance {
	switch c {
	case ChannelElicited, ChannelPasskey:
		return AssuranceHigh
	case ChannelHostConfirmed, ChannelBrowser, ChannelTerminal, ChannelTyped:
		return AssuranceMedium
	}
	return AssuranceLow
}

// Personal reports whether a decision by this channel is a person's own act, not another
// program's report of it.
func (c Channel) Personal() bool { return c.Assurance() != AssuranceLow }

// Strict reports whether a gate under the policy strict takes a decision by this channel. It does not take a typed
// command, which a hook of the host reports: any program of the account can speak to the hook.
func (c Channel) Strict() bool { return c.Personal() && c != ChannelTyped }

// Decision is the content of a grant.
type Decision string

// The decisions. Override continues with work that has not passed the gate.
const (
	DecisionApprove  Decision = "approve"
	DecisionChanges  Decision = "request_changes"
	DecisionOverride Decision = "override"
	DecisionAnswer   Decision = "answer"
	DecisionReopen   Decision = "reopen"
	DecisionCancel   Decision = "cancel"
	DecisionAdopt    Decision = "adopt"
)

// Grant is a recorded decision. It is for one stage, revision and draft, and is used by the
// transition that records it.
type Grant struct {
	Channel   Channel   `json:"channel"`
	Assurance Assurance `json:"assurance"`
	Decision  Decision  `json:"decision"`
	Feedback  string    `json:"feedback,omitempty"`
	// Comments are the person's remarks on lines of the draft.
	Comments []Comment `json:"comments,omitempty"`
	// Offer is taken with the approval of a plan; nil if there was none, or the person did not take it.
	Offer *Offer `json:"offer,omitempty"`
	// Client is the name and version of the program that brought the decision.
	Client string `json:"client,omitempty"`
	// The person is the one whose account the program ran under.
	Person
	At time.Time `json:"at"`
	// TookMS is the person's time for the decision, in milliseconds; nil if unknown.
	TookMS *int64  `json:"took_ms,omitempty"`
	Stage  StageID `json:"stage"`
	// Revision is the revision of the session at the decision.
	Revision int `json:"revision"`
	// SHA256 is the hash of the draft at the decision.
	SHA256 string `json:"sha256,omitempty"`
	// Policy is the gate's policy at the time.
	Policy GateMode `json:"policy,omitempty"`
	// Signature is made by the machine on which the person decided, over the [Grant.Statement].
	Signature string `json:"signature,omitempty"`
	// Passkey is the signature of a decision by ChannelPasskey.
	Passkey *Signature `json:"passkey,omitempty"`
	// Note is the reason why a better channel did not decide.
	Note  string `json:"note,omitempty"`
	Extra Extra  `json:",unknown"`
}

// Offer is a command that the person can let the server run to verify the work of a run.
type Offer struct {
	Command string `json:"command"`
	// SHA256 stands for the command and the files with its instructions, as they were offered.
	SHA256 string `json:"sha256"`
	Extra  Extra  `json:",unknown"`
}

// offerPrefix begins the decision to approve a plan with an offer.
const offerPrefix = "approve_and_run:"

// Decision names the approval with the offer, for forms and signatures.
func (o *Offer) Decision() Decision { return Decision(offerPrefix + o.SHA256 + ":" + o.Command) }

// OfferOf returns the offer taken by a decision as [Offer.Decision] names it, nil if it takes none.
func OfferOf(d Decision) *Offer {
	text, takes := strings.CutPrefix(string(d), offerPrefix)
	hash, command, _ := strings.Cut(text, ":")
	if !takes {
		return nil
	}
	return &Offer{Command: command, SHA256: hash}
}

// Signature is the statement signed by a passkey, with everything needed to check it again except the decision
// itself. The values are base64url without padding.
type Signature struct {
	// Credential is the id of the passkey, PublicKey the key (COSE) at the time of signing.
	Credential        string `json:"credential"`
	PublicKey         string `json:"public_key"`
	AuthenticatorData string `json:"authenticator_data"`
	ClientData        string `json:"client_data"`
	Signature         string `json:"signature"`
	// Nonce is the part of the challenge that makes it unique.
	Nonce string `json:"nonce"`
	// Answers is the hash of the decision's answers to open questions.
	Answers string `json:"answers,omitempty"`
	Extra   Extra  `json:",unknown"`
}

// Took returns how long the person took; ok is false if that is unknown.
func (g *Grant) Took() (d time.Duration, ok bool) {
	if g == nil || g.TookMS == nil {
		return 0, false
	}
	return time.Duration(*g.TookMS) * time.Millisecond, true
}
