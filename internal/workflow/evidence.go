package workflow

import "time"

// Audit is what the server found in a document by a rubric.
type Audit struct {
	// Score is 100 minus the points of the findings, at least 0.
	Score float64 `json:"score"`
	// Summary names the costliest findings in one line; empty without findings.
	Summary  string         `json:"summary,omitempty"`
	Findings []AuditFinding `json:"findings,omitempty"`
	Extra    Extra          `json:",unknown"`
}

// AuditFinding is one thing that an audit found.
type AuditFinding struct {
	// ID names the rule, such as "AC-MISSING".
	ID string `json:"id"`
	// Severity is critical, major or minor.
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

// Evidence is what came of a command that the server ran on a person's behalf.
type Evidence struct {
	Command string    `json:"command"`
	At      time.Time `json:"at"`
	// ExitCode is -1 where the command did not end by itself.
	ExitCode int   `json:"exit_code"`
	TookMS   int64 `json:"took_ms"`
	TimedOut bool  `json:"timed_out,omitempty"`
	// Tail is the end of its output, of both streams.
	Tail string `json:"tail,omitempty"`
	// NotRun says why the command was not run; then nothing else but Command and At is set.
	NotRun string `json:"not_run,omitempty"`
	// SetBy says who has named the command.
	SetBy Setter `json:"set_by,omitempty"`
	// Changed says how the configuration differs from the command that the session keeps;
	// ChangedTo is what it names now, "" if nothing. Both are empty once the person has
	// accepted that.
	Changed   string  `json:"changed,omitempty"`
	ChangedTo *string `json:"changed_to,omitempty"`
	// Notes are facts that the person should know beside the result, such as a script that
	// has changed since they allowed the command.
	Notes []string `json:"notes,omitempty"`
	Extra Extra    `json:",unknown"`
}

// Passed reports whether the command was run and succeeded.
func (e *Evidence) Passed() bool { return e != nil && e.NotRun == "" && !e.Failed() }

// Failed reports whether the command was run and failed.
func (e *Evidence) Failed() bool {
	return e != nil && e.NotRun == "" && (e.ExitCode != 0 || e.TimedOut)
}

// Progress counts what became of a report's findings since the report before it.
type Progress struct {
	Fixed     int `json:"fixed"`
	Open      int `json:"open"`
	Withdrawn int `json:"withdrawn"`
	New       int `json:"new"`
	// Unchanged is true when the findings are the same and so is the work tree.
	Unchanged bool  `json:"unchanged,omitempty"`
	Extra     Extra `json:",unknown"`
}
