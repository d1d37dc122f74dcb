package workflow

import (
	"cmp"
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
	// ScoringClaimed: the score that the submission states for itself.
	ScoringClaimed ScoringMode = "claimed"
	// ScoringAudited: that score and the audit's.
	ScoringAudited ScoringMode = "audited"
)

// ScoringModes lists the scoring modes, the loosest first.
func ScoringModes() []ScoringMode { return []ScoringMode{ScoringClaimed, ScoringAudited} }

// PauseMode selects where a run stops for the person.
type PauseMode string

// The pause modes, the loosest first.
const (
	// PauseGates: where their word changes something: at questions, gates, and the scope of a
	// development.
	PauseGates PauseMode = "gates"
	// PauseStages: also before each round of each stage.
	PauseStages PauseMode = "stages"
)

// PauseModes lists the pause modes, the loosest first.
func PauseModes() []PauseMode { return []PauseMode{PauseGates, PauseStages} }

// Policy is the set of rules of a stage: of its gate, and where it pauses.
type Policy struct {
	Gate    GateMode    `json:"gate"`
	Scoring ScoringMode `json:"scoring,omitempty"`
	// Pause is empty for PauseGates.
	Pause PauseMode `json:"pause,omitempty"`
	// GateScore is nil for a stage without a score gate.
	GateScore *float64 `json:"gate_score,omitempty"`
	Extra     Extra    `json:",unknown"`
}

// Met reports whether the scores of a document reach the gate.
func (p Policy) Met(claimed, audited *float64) bool {
	reaches := func(score *float64) bool { return score != nil && *score >= *p.GateScore }
	return p.GateScore != nil && reaches(claimed) && (p.Scoring != ScoringAudited || reaches(audited))
}

// Stricter returns the stricter of two policies, rule by rule.
func (p Policy) Stricter(other Policy) Policy {
	p.Gate = stricter(GateModes(), p.Gate, other.Gate)
	p.Scoring = stricter(ScoringModes(), p.Scoring, other.Scoring)
	p.Pause = stricter(PauseModes(), p.Pause, other.Pause)
	if p.GateScore == nil || other.GateScore != nil && *other.GateScore > *p.GateScore {
		p.GateScore = other.GateScore
	}
	return p
}

// Same reports whether two policies are equal.
func (p Policy) Same(other Policy) bool {
	score := p.GateScore == other.GateScore || p.GateScore != nil && other.GateScore != nil && *p.GateScore == *other.GateScore
	return p.Gate == other.Gate && p.Scoring == other.Scoring && p.Pause == other.Pause && score
}

// stricter returns the later of two values in an order; an unknown value counts as the first.
func stricter[T comparable](order []T, a, b T) T {
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

// Under returns the stage with the rules of a policy.
func (s Stage) Under(p Policy) Stage {
	s.Mode = p.Gate
	if p.GateScore != nil {
		s.GateScore, s.Scoring = *p.GateScore, p.Scoring
	}
	return s
}

// Policy returns the rules of the stage.
func (s Stage) Policy() Policy {
	p := Policy{Gate: cmp.Or(s.Mode, GateAuto)} // a stored definition has no settings
	if s.Pause != PauseGates {
		p.Pause = s.Pause
	}
	if s.Gate == GateScore {
		score := s.GateScore
		p.Scoring, p.GateScore = cmp.Or(s.Scoring, ScoringClaimed), &score
	}
	return p
}

// Strict reports whether the gate of any stage requires the person's own act, by the given
// stages or by the session. The current stage alone would not be enough: an edit of the session
// would change that first.
func (s *Session) Strict(stages []Stage) bool {
	for _, st := range stages {
		gates := []GateMode{st.Mode, s.Policy[st.ID].Gate}
		if rec := s.Stages[st.ID]; rec != nil && rec.Policy != nil {
			gates = append(gates, rec.Policy.Gate)
		}
		if slices.Contains(gates, GateStrict) {
			return true
		}
	}
	return false
}
