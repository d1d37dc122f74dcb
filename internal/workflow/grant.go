package workflow

import "time"

// Channel is the way by which a person's decision came.
type Channel string

// The channels, the best first. ChannelTyped is a command that a person typed to their host,
// of which its hook told; ChannelScript is a decision given on a command line,
// without a person at a terminal.
const (
	ChannelElicited      Channel = "elicited"
	ChannelHostConfirmed Channel = "host_confirmed"
	ChannelTerminal      Channel = "terminal"
	ChannelTyped         Channel = "typed"
	ChannelScript        Channel = "script"
	ChannelRelayed       Channel = "relayed"
)

// Assurance says how much a channel proves that a person decided.
type Assurance string

// The assurances. High: a person filled in a form of their own host. Medium: a person
// let a host's question pass, answered at a terminal, or typed a command of their host. Low: only the caller's word.
const (
	AssuranceHigh   Assurance = "high"
	AssuranceMedium Assurance = "medium"
	AssuranceLow    Assurance = "low"
)

// Assurance returns what a channel proves.
func (c Channel) Assurance() Assurance {
	switch c {
	case ChannelElicited:
		return AssuranceHigh
	case ChannelHostConfirmed, ChannelTerminal, ChannelTyped:
		return AssuranceMedium
	}
	return AssuranceLow
}

// Personal reports whether a decision by this channel is a person's own act, and not
// another program's word for it.
func (c Channel) Personal() bool { return c.Assurance() != AssuranceLow }

// Decision is what a grant decides.
type Decision string

// The decisions. Override lets work go on that its gate has not let through.
const (
	DecisionApprove  Decision = "approve"
	DecisionChanges  Decision = "request_changes"
	DecisionOverride Decision = "override"
	DecisionAnswer   Decision = "answer"
	DecisionReopen   Decision = "reopen"
	DecisionCancel   Decision = "cancel"
	DecisionAdopt    Decision = "adopt"
)

// Grant is a recorded decision. It is for one stage, revision and draft, and is used in
// the transition that it stands in.
type Grant struct {
	Channel   Channel   `json:"channel"`
	Assurance Assurance `json:"assurance"`
	Decision  Decision  `json:"decision"`
	Feedback  string    `json:"feedback,omitempty"`
	// Client is the name and version of the program that brought the decision.
	Client string    `json:"client,omitempty"`
	At     time.Time `json:"at"`
	// TookMS is how long the person took, in milliseconds; nil where that is not known.
	TookMS *int64  `json:"took_ms,omitempty"`
	Stage  StageID `json:"stage"`
	// Revision is the one of the session that was decided on.
	Revision int `json:"revision"`
	// SHA256 is the hash of the draft that was decided on.
	SHA256 string `json:"sha256,omitempty"`
	// Policy is the gate's policy at the time.
	Policy GateMode `json:"policy,omitempty"`
	// Note names the reason why a better channel did not decide.
	Note  string `json:"note,omitempty"`
	Extra Extra  `json:",unknown"`
}

// Took returns how long the person took; ok is false where that is not known.
func (g *Grant) Took() (d time.Duration, ok bool) {
	if g == nil || g.TookMS == nil {
		return 0, false
	}
	return time.Duration(*g.TookMS) * time.Millisecond, true
}
