package workflow

import (
	"reflect"
	"slices"
)

// GateMode selects the channels that may decide at a gate.
type GateMode string

// The gate modes, the loosest first.
const (
	// GateRelay: the assistant's word for the person's decision counts.
	GateRelay GateMode = "relay"
	// GateAuto: the person decides in a form if the host can show one; if it cannot, the
	// assistant's word counts and is recorded as such.
	GateAuto GateMode = "auto"
	// GateStrict: only a person's own act counts.
	GateStrict GateMode = "strict"
)

// GateModes lists the gate modes, the loosest first.
func GateModes() []GateMode { return []GateMode{GateRelay, GateAuto, GateStrict} }

// ScoringMode selects the scores that have to reach a score gate.
type ScoringMode string

// The scoring modes, the loosest first.
const (
	// ScoringClaimed: the submission's own score.
	ScoringClaimed ScoringMode = "claimed"
	// ScoringAudited: the submission's own score and the audit's.
	ScoringAudited ScoringMode = "audited"
)

// ScoringModes lists the scoring modes, the loosest first.
func ScoringModes() []ScoringMode { return []ScoringMode{ScoringClaimed, ScoringAudited} }

// PauseMode selects the places at which a run stops for the person.
type PauseMode string

// The pause modes, the loosest first.
const (
	// PauseGates: if their word changes something: at questions, gates, and the scope of a
	// development.
	PauseGates PauseMode = "gates"
	// PauseStages: also before each round of each stage.
	PauseStages PauseMode = "stages"
)

// PauseModes lists the pause modes, the loosest first.
func PauseModes() []PauseMode { return []PauseMode{PauseGates, PauseStages} }

// Proofs lists the demands for proof, the loosest first.
func Proofs() []Proof { return []Proof{ProvedNone, ProvedSome, ProvedAll} }

// Policy is the set of rules of a stage: of the gate, and of the pauses.
type Policy struct {
	Gate    GateMode    `json:"gate"`
	Scoring ScoringMode `json:"scoring,omitempty"`
	// Pause is empty for PauseGates.
	Pause PauseMode `json:"pause,omitempty"`
	// GateScore is nil for a stage without a score gate.
	GateScore *float64 `json:"gate_score,omitempty"`
	// AuditFloor is the audit of 100 below which no yes given beforehand counts; nil for a stage
	// whose gate does not depend on the document.
	AuditFloor *float64 `json:"audit_floor,omitempty"`
	// Verdict is in runs of older versions. It has no effect: the rows of a report count.
	Verdict string `json:"verdict,omitempty"`
	// Proved is empty for ProvedNone.
	Proved Proof `json:"proved,omitempty"`
	// Approvers are the subjects whose yes counts: nil is everybody's, an empty list nobody's.
	Approvers []string `json:"approvers,omitzero"`
	// FourEyes wants the yes of a person who has not written the text. Quorum is the number of people whose yes a
	// gate wants; 0 is one.
	FourEyes *bool `json:"four_eyes,omitempty"`
	Quorum   int   `json:"quorum,omitempty"`
	Extra    Extra `json:",unknown"`
}

// Met reports whether the scores of a document reach the gate.
func (p Policy) Met(claimed, audited *float64) bool {
	reaches := func(score *float64) bool { return score != nil && *score >= *p.GateScore }
	if p.GateScore == nil || !reaches(claimed) {
		return false
	}
	return p.Scoring != ScoringAudited || reaches(audited)
}

// Stricter returns the stricter of two policies, rule by rule. An empty value is none.
func (p Policy) Stricter(other Policy) Policy {
	p.Gate = stricterOf(GateModes(), p.Gate, other.Gate)
	p.Scoring = stricterOf(ScoringModes(), p.Scoring, other.Scoring)
	p.Pause = stricterOf(PauseModes(), p.Pause, other.Pause)
	p.Proved = stricterOf(Proofs(), p.Proved, other.Proved)
	if p.Approvers == nil {
		p.Approvers = other.Approvers
	} else if other.Approvers != nil {
		p.Approvers = slices.DeleteFunc(slices.Clone(p.Approvers), func(subject string) bool { return !slices.Contains(other.Approvers, subject) })
	}
	if p.FourEyes == nil || other.Watched() {
		p.FourEyes = other.FourEyes
	}
	p.Quorum = max(p.Quorum, other.Quorum)
	p.GateScore, p.AuditFloor = higherScore(p.GateScore, other.GateScore), higherScore(p.AuditFloor, other.AuditFloor)
	return p
}

// higherScore returns the higher of two scores; nil counts as none.
func higherScore(a, b *float64) *float64 {
	switch {
	case a == nil:
		return b
	case b != nil && *b > *a:
		return b
	}
	return a
}

// Watched reports whether nobody lets their own work pass.
func (p Policy) Watched() bool { return p.FourEyes != nil && *p.FourEyes }

// PromisesPerson reports whether only a person's own act counts, or the yes of certain people.
func (p Policy) PromisesPerson() bool { return p.Gate == GateStrict || p.Ruled() }

// Ruled reports whether it matters who says yes.
func (p Policy) Ruled() bool { return p.Approvers != nil || p.Watched() || p.Quorum > 1 }

// TooFew reports whether fewer approvers than the gate wants are left to let a text of some writers pass, so that it never opens.
func (p Policy) TooFew(writers ...string) bool {
	return p.Approvers != nil && len(p.Left(writers...)) < max(p.Quorum, 1)
}

// Left returns the approvers whose yes to a text of some writers would count.
func (p Policy) Left(writers ...string) []string {
	return slices.DeleteFunc(slices.Clone(p.Approvers), func(name string) bool { return p.Watched() && slices.Contains(writers, name) })
}

// Same reports whether two policies have the same rules.
func (p Policy) Same(other Policy) bool {
	p.Extra, other.Extra = nil, nil
	p.Verdict, other.Verdict = "", ""
	return reflect.DeepEqual(p, other)
}

// stricterOf returns the later of two values in an order; an unknown value counts as the first.
func stricterOf[T comparable](order []T, a, b T) T {
	for i := len(order) - 1; i >= 0; i-- {
		if order[i] == a {
			return a
		}
		if order[i] == b {
			return b
		}
	}
	return a
}
