package workflow

import (
	"maps"
	"reflect"
	"time"
)

// Audit is the result of checking a document by a rubric.
type Audit struct {
	// Score is 100 minus the points of the findings, at least 0.
	Score float64 `json:"score"`
	// Summary names the costliest findings in one line; empty without findings.
	Summary  string         `json:"summary,omitempty"`
	Findings []AuditFinding `json:"findings,omitempty"`
	Extra    Extra          `json:",unknown"`
}

// AuditFinding is one defect found by an audit.
type AuditFinding struct {
	// ID names the rule, for example "AC-MISSING".
	ID string `json:"id"`
	// Severity is critical, major or minor; or question, of a rule that may be wrong here, and takes no points.
	Severity string `json:"severity"`
	// Line counts from 1; 0 is the document as a whole.
	Line    int    `json:"line,omitempty"`
	Problem string `json:"problem"`
	// Fix describes the remedy.
	Fix string `json:"fix,omitempty"`
	// Points are subtracted from the score.
	Points float64 `json:"points"`
	Extra  Extra   `json:",unknown"`
}

// SeverityQuestion is the severity of a finding that asks.
const SeverityQuestion = "question"

// Asks reports whether the finding only asks.
func (f AuditFinding) Asks() bool { return f.Severity == SeverityQuestion }

// Evidence is the result of a verify command.
type Evidence struct {
	Command string    `json:"command"`
	At      time.Time `json:"at"`
	// ExitCode is -1 if the command did not end by itself.
	ExitCode int   `json:"exit_code"`
	TookMS   int64 `json:"took_ms"`
	TimedOut bool  `json:"timed_out,omitempty"`
	// Tail is the end of the command's output, of both streams.
	Tail string `json:"tail,omitempty"`
	// NotRun is the reason why the command was not run; then only Command and At are set.
	NotRun string `json:"not_run,omitempty"`
	// SetBy is the setter of the command.
	SetBy Setter `json:"set_by,omitempty"`
	// Changed describes how the configured command differs from the session's; ChangedTo is the
	// configured one, "" if there is none. Both are empty once the person has accepted the
	// difference.
	Changed   string  `json:"changed,omitempty"`
	ChangedTo *string `json:"changed_to,omitempty"`
	// Notes are facts that the person should know besides the result, for example a script that has
	// changed since they allowed the command.
	Notes []string `json:"notes,omitempty"`
	Extra Extra    `json:",unknown"`
}

// Failed reports whether the command was run and failed.
func (e *Evidence) Failed() bool {
	if e == nil || e.NotRun != "" {
		return false
	}
	return e.ExitCode != 0 || e.TimedOut
}

// Progress compares a report's findings with the previous report's.
type Progress struct {
	Fixed     int `json:"fixed"`
	Open      int `json:"open"`
	Withdrawn int `json:"withdrawn"`
	New       int `json:"new"`
	// Unchanged is true when the findings are the same and so is the work tree.
	Unchanged bool  `json:"unchanged,omitempty"`
	Extra     Extra `json:",unknown"`
}

// Setter is the origin of a setting.
type Setter string

// The setters. An environment variable is a separate setter: it may come from the person, or from a
// file of the project that configures how a host starts the server.
const (
	SetByPerson      Setter = "person"
	SetByProject     Setter = "project"
	SetByEnvironment Setter = "environment"
	// SetAtGate is the person's choice at the gate of a plan, for one run.
	SetAtGate Setter = "gate"
)

// VerifyCommand is the command that checks the submissions of a stage. It is kept in the session,
// so that an edit of the configuration cannot remove it.
type VerifyCommand struct {
	// Command is "" if the person has removed it.
	Command string    `json:"command"`
	SetBy   Setter    `json:"set_by"`
	At      time.Time `json:"at"`
	// Instead is the configured command if it differs and does not count, "" if none is configured;
	// nil if the configuration names Command.
	Instead *string `json:"instead,omitempty"`
	// Accepted is true once the person has decided at a gate that showed Instead.
	Accepted bool  `json:"accepted,omitempty"`
	Extra    Extra `json:",unknown"`
}

// Same reports whether two commands are equal, apart from unknown keys.
func (c VerifyCommand) Same(other VerifyCommand) bool {
	at := c.At.Equal(other.At)
	c.At, other.At = time.Time{}, time.Time{}
	c.Extra, other.Extra = nil, nil
	return at && reflect.DeepEqual(c, other)
}

// SameVerifyCommands reports whether two sets of commands are equal.
func SameVerifyCommands(a, b map[StageID]VerifyCommand) bool {
	return maps.EqualFunc(a, b, VerifyCommand.Same)
}
