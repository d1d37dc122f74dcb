package workflow

import "time"

// Channel is the way in which a person's decision arrived.
type Channel string

// The channels, the best first. ChannelTyped is a command typed to the host by a person and passed
// on by the host's hook; ChannelScript is a decision given on a command line, without a person at a
// terminal. ChannelPasskey is a decision signed by a person's passkey in a paired browser,
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

// Assurance is the strength of a channel's proof of a person's decision.
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

// Strict reports whether a gate under the policy strict takes a decision by this channel. It refuses a typed
// command, which comes from a hook of the host: any program of the account can speak to the hook.
func (c Channel) Strict() bool { return c.Personal() && c != ChannelTyped }

// Decision is the content of a grant.
type Decision string

// The decisions. Override continues with work that did not pass its gate.
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
// transition with the record of it.
type Grant struct {
	Channel   Channel   `json:"channel"`
	Assurance Assurance `json:"assurance"`
	Decision  Decision  `json:"decision"`
	Feedback  string    `json:"feedback,omitempty"`
	// Comments are the person's remarks on lines of the draft.
	Comments []Comment `json:"comments,omitempty"`
	// Client is the name and version of the program that brought the decision.
	Client string `json:"client,omitempty"`
	// The person is the owner of the program's account.
	Person
	At time.Time `json:"at"`
	// TookMS is the person's time for the decision, in milliseconds; nil if unknown.
	TookMS *int64  `json:"took_ms,omitempty"`
	Stage  StageID `json:"stage"`
	// Revision is the revision of the session under the decision.
	Revision int `json:"revision"`
	// SHA256 is the hash of the draft under the decision.
	SHA256 string `json:"sha256,omitempty"`
	// Policy is the gate's policy at the time.
	Policy GateMode `json:"policy,omitempty"`
	// Signature is the signature of the person's machine, over the [Grant.Statement].
	Signature string `json:"signature,omitempty"`
	// Passkey is the signature of a decision by ChannelPasskey.
	Passkey *Signature `json:"passkey,omitempty"`
	// Note is the reason why a better channel did not decide.
	Note  string `json:"note,omitempty"`
	Extra Extra  `json:",unknown"`
}

// Signature is a passkey's signed statement, with everything needed for another check except the decision itself.
// Its values are base64url without padding.
type Signature struct {
	// Credential is the id of the passkey, PublicKey its key (COSE) at the time of signing.
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

// Took returns the person's time for the decision; ok is false if it is unknown.
func (g *Grant) Took() (d time.Duration, ok bool) {
	if g == nil || g.TookMS == nil {
		return 0, false
	}
	return time.Duration(*g.TookMS) * time.Millisecond, true
}
