// Package workflow holds the rules of a run, as pure values and functions: it
// reads no clock, no file and no network.
//
// A [Workflow] is the ordered list of stages. A [Stage] is a role with its
// engines, its gate and the name of its artifact. A [Session] is one run for one
// objective; its [State] says where the current stage stands. A caller asks for
// an [Action]; what comes of it is an [Event], fired on the one transition table
// in machine.go; what happened is a [Transition], kept in the session's history.
package workflow

import (
	"slices"
	"strings"
)

// StageID names a stage in files, arguments and replies.
type StageID string

// The stages, in the order of the pipeline.
const (
	PO        StageID = "po"
	Architect StageID = "architect"
	SM        StageID = "sm"
	Dev       StageID = "dev"
	Review    StageID = "review"
	QA        StageID = "qa"
)

// Engine names who generates a stage's document.
type Engine string

// The engines a stage can ask for.
const (
	Claude Engine = "claude"
	Codex  Engine = "codex"
)

// Engines lists every engine, for validation and help texts.
func Engines() []Engine { return []Engine{Claude, Codex} }

// GateKind is the way in which a stage's submission is let on.
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

// Stage is one role of the pipeline. It is data: the state machine is the same for all.
type Stage struct {
	ID    StageID
	Label string // as drawn in the pipeline, "PO"
	Role  string // "Product Owner"
	// Description says in one line what the stage produces.
	Description string
	Gate        GateKind
	// GateScore is the claimed score, of 100, that opens a GateScore gate.
	GateScore float64
	// Mode says which channels may decide at the gate, Scoring which score has to reach it.
	Mode    GateMode
	Scoring ScoringMode
	// Engines are asked by default; CodexOnRequest adds codex when the objective names it.
	Engines        []Engine
	CodexOnRequest bool
	// Artifact is the file name of the deliverable; empty when the stage saves none.
	Artifact string
	// DocumentName is what messages call the deliverable.
	DocumentName string
}

// Workflow is an ordered list of stages.
type Workflow struct {
	Stages []Stage
}

// DefaultGateScore is the score of 100 that the PO and Architect gates ask for
// unless configuration says otherwise.
const DefaultGateScore = 90

// Default returns the six stages PO → Architect → SM → Dev → Review → QA. The
// caller owns the returned value and may adjust gates and engines.
func Default() *Workflow {
	w := &Workflow{Stages: []Stage{
		{
			ID: PO, Label: "PO", Role: "Product Owner",
			Description: "turns the objective into a product requirements document",
			Gate:        GateScore, GateScore: DefaultGateScore,
			Engines: []Engine{Claude}, CodexOnRequest: true,
			Artifact: "01-product-requirements.md", DocumentName: "product requirements",
		},
		{
			ID: Architect, Label: "Architect", Role: "System Architect",
			Description: "designs the system that meets the product requirements",
			Gate:        GateScore, GateScore: DefaultGateScore,
			Engines: []Engine{Claude}, CodexOnRequest: true,
			Artifact: "02-system-architecture.md", DocumentName: "system architecture",
		},
		{
			ID: SM, Label: "SM", Role: "Scrum Master",
			Description: "cuts the work into sprints of testable stories",
			Gate:        GateApproval,
			Engines:     []Engine{Claude},
			Artifact:    "03-sprint-plan.md", DocumentName: "sprint plan",
		},
		{
			ID: Dev, Label: "Dev", Role: "Developer",
			Description: "implements the sprints with tests",
			Gate:        GateNone,
			Engines:     []Engine{Codex}, DocumentName: "implementation report",
		},
		{
			ID: Review, Label: "Review", Role: "Reviewer",
			Description: "reviews the implementation against the plan",
			Gate:        GateVerdict,
			Engines:     []Engine{Codex},
			Artifact:    "04-dev-reviewed.md", DocumentName: "reviewed implementation",
		},
		{
			ID: QA, Label: "QA", Role: "QA Engineer",
			Description: "tests every acceptance criterion",
			Gate:        GateVerdict,
			Engines:     []Engine{Codex},
			Artifact:    "05-qa-report.md", DocumentName: "QA report",
		},
	}}
	for i := range w.Stages {
		w.Stages[i].Mode, w.Stages[i].Scoring = GateAuto, ScoringClaimed
	}
	return w
}

// First returns the stage a session begins with.
func (w *Workflow) First() Stage { return w.Stages[0] }

// Stage returns the stage with the given id.
func (w *Workflow) Stage(id StageID) (Stage, bool) {
	if i := w.Index(id); i >= 0 {
		return w.Stages[i], true
	}
	return Stage{}, false
}

// Index returns the position of a stage, counted from 0, or -1.
func (w *Workflow) Index(id StageID) int {
	return slices.IndexFunc(w.Stages, func(s Stage) bool { return s.ID == id })
}

// Next returns the stage after id; ok is false after the last.
func (w *Workflow) Next(id StageID) (next Stage, ok bool) {
	i := w.Index(id)
	if i < 0 || i+1 >= len(w.Stages) {
		return Stage{}, false
	}
	return w.Stages[i+1], true
}

// IDs lists the stage ids in order, as strings for messages and schemas.
func (w *Workflow) IDs() []string {
	ids := make([]string, len(w.Stages))
	for i, s := range w.Stages {
		ids[i] = string(s.ID)
	}
	return ids
}

// EnginesFor returns the engines the stage asks for, given the objective: codex
// joins a CodexOnRequest stage when the objective names it.
func (s Stage) EnginesFor(objective string) []Engine {
	engines := slices.Clone(s.Engines)
	if s.CodexOnRequest && strings.Contains(strings.ToLower(objective), "codex") && !slices.Contains(engines, Codex) {
		engines = append(engines, Codex)
	}
	return engines
}
