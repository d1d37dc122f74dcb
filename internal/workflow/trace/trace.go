// Package trace follows the requirements of a run to the evidence: requirement, story, criterion, sprint, row of the
// verdict, check or test, and file. What the documents do not link is reported as such.
//
// [Link] gets the documents and reports of a run. The one reader of criteria has found the requirements, stories and
// criteria in them; a link is a node below another one, or an id that a document names beside another.
//
// # Invariants
//
//   - Every criterion of the gate is in the trace once, under the id of the gate (TestLinks, FuzzLink).
//   - A link has a place in a document: no text is compared with another (TestLinks, TestNothingIsGuessed).
//   - A document takes time in proportion to its length, and links are bounded (TestLargeDocuments).
package trace

import (
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Facts are the texts and reports of a run.
type Facts struct {
	// Documents are the documents that may define criteria, as in [verdict.Sources]. The plan is the last one, if
	// there is one.
	Documents []Document
	Criteria  *verdict.Criteria
	Sprints   []workflow.Sprint
	Reports   []Report
}

// Document is the approved or else the latest text of a stage.
type Document struct {
	Stage  workflow.StageID
	Text   string
	IsPlan bool
}

// Report is the last judged report of a stage that owes a row for each criterion.
type Report struct {
	Stage  workflow.StageID
	Record *workflow.Record
	// Text is its document, "" if nobody can read it.
	Text string
	// Stale is true if an earlier stage was reopened since.
	Stale bool
	// Lines has the numbers of lines of the existing files that it cites.
	Lines map[string]int
}

// Trace has the requirements of a run and everything linked with them, in the order of the documents. Links are ids.
type Trace struct {
	Requirements []Requirement `json:"requirements"`
	Stories      []Story       `json:"stories"`
	Criteria     []Criterion   `json:"criteria"`
	Sprints      []Sprint      `json:"sprints"`
	// Holes are missing links.
	Holes []Hole `json:"holes"`
	// Unknown are the kinds of links that nothing can be said about, each one of [Unknowns].
	Unknown []Unknown `json:"unknown"`
}

// Place is a line of the document of a stage, from 1.
type Place struct {
	Stage workflow.StageID `json:"stage"`
	Line  int              `json:"line"`
}

// Requirement is a requirement, or a part of one.
type Requirement struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
	Place
	// Whole is the requirement that it is a part of.
	Whole   string   `json:"whole,omitempty"`
	Stories []string `json:"stories"`
	// Epics are the epics said to cover it.
	Epics    []string `json:"epics,omitempty"`
	Criteria []string `json:"criteria"`
}

// Story is a story of the requirements, or an entry of the plan's sprints.
type Story struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Place
	Epic         string   `json:"epic,omitempty"`
	Requirements []string `json:"requirements"`
	Criteria     []string `json:"criteria"`
	Sprints      []int    `json:"sprints"`
}

// Criterion is a criterion that a report owes a row for. A requirement or story without criteria is one itself.
type Criterion struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
	Place
	Requirements []string `json:"requirements"`
	Stories      []string `json:"stories"`
	Sprints      []int    `json:"sprints"`
	State        State    `json:"state"`
	Row          *Row     `json:"row,omitempty"`
}

// Sprint is a sprint of the plan. Line is 0 if the plan does not name it.
type Sprint struct {
	Number int                   `json:"number"`
	Name   string                `json:"name"`
	Title  string                `json:"title"`
	Status workflow.SprintStatus `json:"status"`
	Place
	Stories  []string `json:"stories"`
	Criteria []string `json:"criteria"`
}

// Row is a row of a report. Line is 0 if the document has no table with the row.
type Row struct {
	Place
	Result   string         `json:"result"`
	Evidence string         `json:"evidence,omitempty"`
	Checks   []Check        `json:"checks,omitempty"`
	Tests    []string       `json:"tests,omitempty"`
	Files    []verdict.File `json:"files,omitempty"`
	// Stale is true if an earlier stage was reopened since.
	Stale bool `json:"stale,omitempty"`
	// byWord is true if nothing can be looked up for a pass.
	byWord bool
}

// Check is a command that a row cites. Server is true if the server itself ran it.
type Check struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	Server  bool   `json:"server,omitempty"`
}

// State is the outcome of a criterion so far.
type State string

// The states of a criterion.
const (
	Met     State = "met"
	Failed  State = "failed"
	NotRun  State = "not_run"
	Open    State = "open"
	LeftOut State = "left_out"
)

// HoleKind names a missing link.
type HoleKind string

// The kinds of holes.
const (
	WithoutStory     HoleKind = "requirement_without_story"
	InNoSprint       HoleKind = "story_in_no_sprint"
	CriterionNowhere HoleKind = "criterion_in_no_sprint"
	WithoutRow       HoleKind = "criterion_without_row"
	WithoutEvidence  HoleKind = "passed_without_evidence"
	WithoutCriterion HoleKind = "row_without_criterion"
)

// Hole is a missing link of the requirement, story, criterion or row with an id.
type Hole struct {
	Kind HoleKind `json:"kind"`
	ID   string   `json:"id"`
}

// Unknown names links that nothing can be said about.
type Unknown string

// The unknown links.
const (
	// NoCriteria: no document has a requirement or criterion that can be read.
	NoCriteria Unknown = "no_criteria"
	// NoRequirements: the criteria stand below stories, and there are no requirements beside them.
	NoRequirements Unknown = "no_requirements"
	// NoStories: no document has a story.
	NoStories Unknown = "no_stories"
	// Unlinked: there are stories and requirements, and none names one of the others.
	Unlinked Unknown = "stories_name_no_requirement"
	// NoSprints: there is no plan with sprints yet; Unassigned: the plan names neither a story nor a criterion.
	NoSprints  Unknown = "no_sprints"
	Unassigned Unknown = "sprints_name_nothing"
	// NoReport: no report has answered the criteria yet.
	NoReport Unknown = "no_report"
	// TooMany: a document names more ids than are followed.
	TooMany Unknown = "too_many_ids"
)
