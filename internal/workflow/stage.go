package workflow

import (
	"cmp"
)

// StageID names a stage in files, arguments and replies.
type StageID string

// The stages of the built-in definitions.
const (
	PO        StageID = "po"
	Architect StageID = "architect"
	SM        StageID = "sm"
	Dev       StageID = "dev"
	Review    StageID = "review"
	QA        StageID = "qa"
)

// Kind is the form of a stage's submission, and how it is judged.
type Kind string

// The kinds of stage.
const (
	// KindDocument hands in a text that later stages work from.
	KindDocument Kind = "document"
	// KindPlan hands in a text with sprints.
	KindPlan Kind = "plan"
	// KindBuild changes the project, and reports on the changes.
	KindBuild Kind = "build"
	// KindVerdict judges the work of an earlier stage.
	KindVerdict Kind = "verdict"
)

// Kinds lists every kind of stage.
func Kinds() []Kind { return []Kind{KindDocument, KindPlan, KindBuild, KindVerdict} }

// Engine names who generates a stage's document.
type Engine string

// The engines a stage can ask for.
const (
	Claude Engine = "claude"
	Codex  Engine = "codex"
)

// Engines lists every engine, for validation and help texts.
func Engines() []Engine { return []Engine{Claude, Codex} }

// GateKind names the condition on which a stage's submission goes on.
type GateKind string

// The kinds of gate.
const (
	// GateScore: the claimed score must reach Stage.GateScore, then the human confirms.
	GateScore GateKind = "score"
	// GateApproval: the human approves every submission.
	GateApproval GateKind = "approval"
	// GateNone: the submission goes straight to the next stage.
	GateNone GateKind = "none"
	// GateVerdict: a pass goes on; a fail waits for the human.
	GateVerdict GateKind = "verdict"
)

// gates are the gates that a stage of each kind may have, the default first.
var gates = map[Kind][]GateKind{
	KindDocument: {GateScore, GateApproval, GateNone},
	KindPlan:     {GateApproval, GateNone},
	KindBuild:    {GateNone},
	KindVerdict:  {GateVerdict},
}

// Stage is one role of the pipeline. It is data: the state machine is the same for all.
type Stage struct {
	ID    StageID `json:"id"`
	Kind  Kind    `json:"kind"`
	Label string  `json:"label"` // as drawn in the pipeline, "PO"
	Role  string  `json:"role"`  // "Product Owner"
	// Description names in one line the product of the stage.
	Description string `json:"description"`
	// DocumentName is the name of the deliverable in messages.
	DocumentName string   `json:"document"`
	Gate         GateKind `json:"gate"`
	// GateScore is the claimed score, of 100, that opens a GateScore gate.
	GateScore float64 `json:"gate_score,omitempty"`
	// Engines are asked by default; CodexOnRequest adds codex when the objective asks for it.
	Engines        []Engine `json:"engines"`
	CodexOnRequest bool     `json:"codex_on_request,omitempty"`
	// Owes names the rows that the report of a verdict owes; see [Stage.Owed].
	Owes Owes `json:"owes,omitempty"`
	// SendsBackTo is the stage that failed work returns to; only a verdict has one.
	SendsBackTo StageID `json:"sends_back_to,omitempty"`
	// Verify is true if a verify command checks the submission.
	Verify bool `json:"verify,omitempty"`
	// Artifact is the file name of the deliverable; empty when the stage saves none.
	Artifact string `json:"artifact,omitempty"`
	// Appends is an earlier stage whose document is saved at the end of the artifact.
	Appends StageID `json:"appends,omitempty"`
	// Prompt and Rubric are the names of the role prompt and of the rubric; the id if empty.
	Prompt string `json:"prompt,omitempty"`
	Rubric string `json:"rubric,omitempty"`
	// Keys are the fields of a JSON submission that hold the document, the best first.
	Keys []string `json:"keys,omitempty"`
	// Personas are the agents of an installed BMAD method that can act in the stage.
	Personas []string `json:"personas,omitempty"`

	// Rules are the settings of the person and the project for the stage. They are not in the
	// definition; [Stage.Policy] completes them.
	Rules Policy `json:"-"`
	Extra Extra  `json:",unknown"`
}

// PromptName returns the name of the stage's role prompt.
func (s Stage) PromptName() string { return nameOrID(s.Prompt, s.ID) }

// RubricName returns the name of the stage's rubric.
func (s Stage) RubricName() string { return nameOrID(s.Rubric, s.ID) }

// Audited reports whether the stage's document is audited by a rubric. The report of a verdict is
// judged by the rows.
func (s Stage) Audited() bool { return s.Kind != KindVerdict }

func nameOrID(name string, id StageID) string {
	if name == "" {
		return string(id)
	}
	return name
}

// Owed returns the rows owed by the report of a verdict stage. A stage that names none owes
// criteria if it acts by the prompt of QA, else findings.
func (s Stage) Owed() Owes {
	switch {
	case s.Owes != "":
		return s.Owes
	case s.PromptName() == string(QA):
		return OwesCriteria
	}
	return OwesFindings
}

// VerifiedBy returns the stage whose verify command checks the work that a stage hands in or
// judges: the stage itself, or the one whose work it judges.
func (s Stage) VerifiedBy() StageID {
	if s.Kind == KindVerdict && !s.Verify {
		return s.SendsBackTo
	}
	return s.ID
}

// Under returns the stage with the rules of a policy.
func (s Stage) Under(p Policy) Stage {
	s.Rules = p
	if p.GateScore != nil && s.Gate == GateScore {
		s.GateScore = *p.GateScore
	}
	return s
}

// Policy returns the rules of the stage.
func (s Stage) Policy() Policy {
	p := Policy{Gate: cmp.Or(s.Rules.Gate, GateAuto)} // a stored definition has no settings
	if s.Rules.Pause != PauseGates {
		p.Pause = s.Rules.Pause
	}
	p.Approvers, p.Quorum = s.Rules.Approvers, s.Rules.Quorum
	if s.Rules.Watched() {
		p.FourEyes = s.Rules.FourEyes
	}
	if s.Gate == GateVerdict && s.Rules.Proved != ProvedNone {
		p.Proved = s.Rules.Proved
	}
	if s.Gate == GateScore {
		p.Scoring, p.GateScore = cmp.Or(s.Rules.Scoring, ScoringClaimed), new(s.GateScore)
	}
	if s.Floored() {
		p.AuditFloor = cmp.Or(s.Rules.AuditFloor, new(float64(DefaultAuditFloor)))
	}
	return p
}

// DefaultAuditFloor is the audit floor if the person has set none. A document with one critical
// fault is below it.
const DefaultAuditFloor = 60

// Floored reports whether the gate of the stage has an audit floor, as for a document or a plan.
// The work of a build is judged by a review, and a verdict by the rows.
func (s Stage) Floored() bool {
	return s.Gate != GateNone && (s.Kind == KindDocument || s.Kind == KindPlan)
}

// Names returns values as texts, for messages.
func Names[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// IDsOf lists the ids of stages, as strings.
func IDsOf(stages []Stage) []string {
	ids := make([]string, len(stages))
	for i, s := range stages {
		ids[i] = string(s.ID)
	}
	return ids
}
