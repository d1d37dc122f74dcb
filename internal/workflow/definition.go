package workflow

import (
	"embed"
	"slices"
	"sync"
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
	// KindBuild changes the project, and reports on it.
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

// gates are the gates that a stage of each kind may have, its default first.
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
	// DocumentName is the name that messages use for the deliverable.
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

	// Mode says which channels may decide at the gate, Scoring which score has to reach it, and
	// Pause the places at which the stage stops for the person, and AuditFloor is that of the policy; nil for the
	// default. They are settings of the person and the project, not part of the definition.
	Mode       GateMode    `json:"-"`
	Scoring    ScoringMode `json:"-"`
	Pause      PauseMode   `json:"-"`
	AuditFloor *float64    `json:"-"`
	// Verdict names the source of a report's verdict, Proved how many of its rows the
	// server's own commands have to prove: settings as well.
	Verdict VerdictMode `json:"-"`
	Proved  Proof       `json:"-"`
	Extra   Extra       `json:",unknown"`
}

// PromptName returns the name of the stage's role prompt.
func (s Stage) PromptName() string { return nameOrID(s.Prompt, s.ID) }

// RubricName returns the name of the stage's rubric.
func (s Stage) RubricName() string { return nameOrID(s.Rubric, s.ID) }

// Audited reports whether the stage's document is audited by a rubric. The report of a verdict is
// judged by its rows.
func (s Stage) Audited() bool { return s.Kind != KindVerdict }

func nameOrID(name string, id StageID) string {
	if name == "" {
		return string(id)
	}
	return name
}

// Owed returns the rows that the report of a verdict stage owes. A stage that names none owes
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
// judges: its own, or that of the stage whose work it judges.
func (s Stage) VerifiedBy() StageID {
	if s.Kind == KindVerdict && !s.Verify {
		return s.SendsBackTo
	}
	return s.ID
}

// Definition is a workflow as data: an ordered list of stages under a name.
type Definition struct {
	Name string `json:"name"`
	// Hash identifies the content: two definitions with one hash are the same.
	Hash string `json:"hash"`
	// Description describes the workflow, and When the work that it fits, in one line each.
	Description string  `json:"description,omitempty"`
	When        string  `json:"when,omitempty"`
	Stages      []Stage `json:"stages"`
	Extra       Extra   `json:",unknown"`
}

// DefaultGateScore is the score of 100 that a score gate asks for unless the definition or
// the configuration says otherwise.
const DefaultGateScore = 90

// DefaultName is the workflow of a session that names none.
const DefaultName = "bmad"

//go:embed definitions/*.yaml definitions/schema.json
var builtin embed.FS

// Builtins returns the built-in definitions, the default first. The caller owns them.
func Builtins() []*Definition {
	out := make([]*Definition, 0, len(builtins()))
	for _, d := range builtins() {
		out = append(out, d.Clone())
	}
	return out
}

// BuiltinText returns the YAML of a built-in definition; "" if there is none of the name.
func BuiltinText(name string) string {
	data, err := builtin.ReadFile("definitions/" + name + ".yaml")
	if err != nil {
		return ""
	}
	return string(data)
}

// Schema returns the JSON Schema of the YAML of a definition, for editors.
func Schema() string {
	data, _ := builtin.ReadFile("definitions/schema.json") // it is in the binary
	return string(data)
}

// builtins are read once: they cannot change.
var builtins = sync.OnceValue(func() []*Definition {
	var out []*Definition
	for _, name := range []string{DefaultName, "quick", "plan", "fix"} {
		d, err := Parse(name, []byte(BuiltinText(name)))
		if err != nil {
			panic(err) // a mistake in this package, which its tests find
		}
		out = append(out, d)
	}
	return out
})

// Default returns the six stages PO → Architect → SM → Dev → Review → QA. The
// caller owns the returned value and may adjust gates and engines.
func Default() *Definition { return builtins()[0].Clone() }

// Clone returns a copy that shares nothing that is changed in place.
func (d *Definition) Clone() *Definition {
	out := *d
	out.Stages = slices.Clone(d.Stages)
	return &out
}

// hash identifies the name and the stages of a definition.
func (d *Definition) hash() string {
	plain := *d
	plain.Hash = ""
	data, err := encodeForHash(plain, known)
	if err != nil {
		return ""
	}
	return Hash(data)
}

// First returns the stage a session begins with.
func (d *Definition) First() Stage { return d.Stages[0] }

// Stage returns the stage with the given id.
func (d *Definition) Stage(id StageID) (Stage, bool) {
	if i := d.Index(id); i >= 0 {
		return d.Stages[i], true
	}
	return Stage{}, false
}

// Index returns the position of a stage, counted from 0, or -1.
func (d *Definition) Index(id StageID) int {
	return slices.IndexFunc(d.Stages, func(s Stage) bool { return s.ID == id })
}

// Next returns the stage after id; ok is false after the last.
func (d *Definition) Next(id StageID) (next Stage, ok bool) {
	i := d.Index(id)
	if i < 0 || i+1 >= len(d.Stages) {
		return Stage{}, false
	}
	return d.Stages[i+1], true
}

// IDs lists the stage ids in order, as strings for messages and schemas.
func (d *Definition) IDs() []string { return IDsOf(d.Stages) }

// IDsOf lists the ids of stages, as strings.
func IDsOf(stages []Stage) []string {
	ids := make([]string, len(stages))
	for i, s := range stages {
		ids[i] = string(s.ID)
	}
	return ids
}

// StagesOf lists the stages of several definitions, each id once: the stage of the first
// definition that has it. A nil definition has none.
func StagesOf(definitions ...*Definition) []Stage {
	var out []Stage
	for _, d := range definitions {
		if d == nil {
			continue
		}
		for _, st := range d.Stages {
			if !slices.ContainsFunc(out, func(have Stage) bool { return have.ID == st.ID }) {
				out = append(out, st)
			}
		}
	}
	return out
}

// OfKind returns the first stage of a kind; ok is false if there is none.
func (d *Definition) OfKind(k Kind) (st Stage, ok bool) {
	i := slices.IndexFunc(d.Stages, func(s Stage) bool { return s.Kind == k })
	if i < 0 {
		return Stage{}, false
	}
	return d.Stages[i], true
}

// JudgesOf returns the stages whose failed work goes back to a stage, in order.
func (d *Definition) JudgesOf(id StageID) []Stage {
	var out []Stage
	for _, s := range d.Stages {
		if s.SendsBackTo == id && id != "" {
			out = append(out, s)
		}
	}
	return out
}

// StartsByBuilding reports whether st is a build stage with nothing before it that a person
// has decided on. It begins with a scope, which they approve.
func (d *Definition) StartsByBuilding(st Stage) bool {
	return st.Kind == KindBuild && d.First().ID == st.ID
}

// EnginesFor returns the engines the stage asks for, given the objective: codex
// joins a CodexOnRequest stage when the objective asks for it.
func (s Stage) EnginesFor(objective string) []Engine {
	engines := slices.Clone(s.Engines)
	if s.CodexOnRequest && !slices.Contains(engines, Codex) && wishesCodex(objective) {
		engines = append(engines, Codex)
	}
	return engines
}
