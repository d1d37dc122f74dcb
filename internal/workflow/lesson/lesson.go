// Package lesson has what the project memory and the runs exchange.
//
// A [Question] asks the memory for the notes of a stage's briefing, a [Note] answers it. A [Lesson] is a
// note that a change of a session leaves for later runs: a defect that a report names, a change that a
// person asks for, a decision of an architecture, a finished run.
package lesson

import "strings"

// The types of notes.
const (
	SharedContext  = "shared-context"
	Decisions      = "decisions"
	AgentLearnings = "agent-learnings"
	Failures       = "failures"
	Stories        = "stories"
)

// Types returns the types of notes.
func Types() []string {
	return []string{SharedContext, Decisions, AgentLearnings, Failures, Stories}
}

// The categories of failures.
const (
	CCFail          = "CC-FAIL"
	WrongAssumption = "WRONG-ASSUMPTION"
	ContextLoss     = "CONTEXT-LOSS"
	Hallucination   = "HALLUCINATION"
	ArchMistake     = "ARCH-MISTAKE"
	ProcessSkip     = "PROCESS-SKIP"
)

// Categories returns the categories of failures.
func Categories() []string {
	return []string{CCFail, WrongAssumption, ContextLoss, Hallucination, ArchMistake, ProcessSkip}
}

// The tags of failures, by their outcome.
const (
	// Resolved: the defect was fixed.
	Resolved = "resolved"
	// Withdrawn: it was not a defect.
	Withdrawn = "withdrawn"
)

// Limits of the notes in one briefing.
const (
	MaxNotes = 5
	// MaxBytes bounds the JSON of all of them together, MaxText the text of one.
	MaxBytes = 1480
	MaxText  = 300
)

// Note is a note as a briefing carries it.
type Note struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Agent string `json:"agent"`
	// By is the writer, as the note's line says; Source the file of that line.
	By     string `json:"by,omitempty"`
	Source string `json:"source,omitempty"`
	Date   string `json:"date,omitempty"`
	// Text is in quotation marks, and has no others of their kind: the text between them is the
	// note's.
	Text string `json:"text"`
	// Resolved is true for a fixed failure.
	Resolved bool `json:"resolved,omitempty"`
}

// Quote returns the text of a note as a quotation, which nothing in it ends.
func Quote(text string) string {
	return "“" + strings.NewReplacer("“", `"`, "”", `"`).Replace(text) + "”"
}

// Question asks the memory for the notes of a stage.
type Question struct {
	Text string
	// Types are the types of notes useful to the stage.
	Types []string
	// Session is the session that asks: it knows its own notes.
	Session string
}

// Lesson is a note left by a change of a session for later runs.
type Lesson struct {
	// Session and Finding tell lessons apart: a known lesson is not written again, even if the text
	// has changed.
	Session, Finding string
	Type, Agent      string
	// Text is empty if only the tags of a known lesson change.
	Text string
	Tags []string
}
