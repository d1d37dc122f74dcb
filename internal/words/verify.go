package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Evidence says in one line how a command ended, and what the person should know about
// it.
func Evidence(e *workflow.Evidence) string {
	text := Result(e)
	if e.Changed != "" {
		text += "; changed during the run: " + e.Changed
	}
	if len(e.Notes) > 0 {
		text += "; note: " + strings.Join(e.Notes, "; ")
	}
	return text
}

// Result says in one line how a command ended.
func Result(e *workflow.Evidence) string {
	command := "`" + Clip(e.Command, 120) + "`"
	switch {
	case e.NotRun != "":
		return command + " was not run: " + e.NotRun
	case e.TimedOut:
		return fmt.Sprintf("%s was ended after %s", command, time.Duration(e.TookMS)*time.Millisecond)
	case e.ExitCode != 0:
		return fmt.Sprintf("%s failed with exit code %d", command, e.ExitCode)
	}
	return command + " passed"
}

// HistoryEvidence is a submission's evidence as the history records it.
func HistoryEvidence(e *workflow.Evidence) string {
	if e == nil {
		return ""
	}
	return strings.ReplaceAll(visible.Line(Evidence(e)), "`", "")
}

// VerifyChange says how a session's verify command changes.
func VerifyChange(before, after workflow.VerifyCommand) string {
	was, is := Command(before), Command(after)
	switch {
	case after.Instead != nil:
		return Instead(*after.Instead) + ", and " + was + " still counts"
	case before.Command == after.Command && before.SetBy == after.SetBy:
		return was + " is configured again"
	}
	return was + " → " + is
}

// Instead names the command that is configured in place of a kept one.
func Instead(command string) string {
	if command == "" {
		return "the configuration no longer names one"
	}
	return "the configuration names `" + Clip(command, 120) + "` instead"
}

// Command names a command and who has set it.
func Command(c workflow.VerifyCommand) string {
	if c.Command == "" {
		return "none"
	}
	by := "the project's file"
	switch c.SetBy {
	case workflow.SetByPerson:
		by = "your own file"
	case workflow.SetByEnvironment:
		by = "a variable"
	}
	return "`" + Clip(c.Command, 120) + "` (" + by + ")"
}

// ScriptState is how a file that a command names differs from the one that was allowed.
type ScriptState string

// The states of such a file, as the sentence about it continues.
const (
	ScriptNew     ScriptState = " was not there when you allowed the command"
	ScriptChanged ScriptState = " has changed since you allowed it"
	ScriptGone    ScriptState = " is gone since you allowed it"
	ScriptBack    ScriptState = " is back since you allowed it to be gone"
)

// Script says how a file differs from the one that was allowed; since may be zero.
func Script(file string, state ScriptState, since time.Time) string {
	text := file + string(state)
	if since.IsZero() {
		return text
	}
	return text + " on " + since.Format(time.DateOnly)
}

// PolicyChange says how a stage's gate asks for something else than before.
func PolicyChange(stage workflow.StageID, before, after workflow.Policy) string {
	return fmt.Sprintf("%s: %s → %s", stage, policyText(before), policyText(after))
}

func policyText(p workflow.Policy) string {
	if p.GateScore == nil {
		return string(p.Gate)
	}
	return fmt.Sprintf("%s, %s %s", p.Gate, p.Scoring, Points(*p.GateScore))
}

// NotAllowed says that the person has not allowed a command, and how to.
func NotAllowed(n standing.Names) string {
	return "you have not allowed it in this project yet; in a terminal: " + n.Program + " allow"
}

// AllowedBefore says that a command was allowed for another project at the same path.
func AllowedBefore(n standing.Names) string {
	return NotAllowed(n) + " (what you allowed at this path was for another project, or its run state was cleared since)"
}

// AllowedElsewhere says that a command is allowed in another project. It does not name that: a
// client that asks may not be served that folder.
func AllowedElsewhere(n standing.Names) string {
	return NotAllowed(n) + " (you have in another one; each is asked about by itself, a copy or worktree too)"
}

// AllowancesUnreadable says that the record of what the person allows cannot be read.
func AllowancesUnreadable(n standing.Names) string {
	return "what you have allowed cannot be read, so nothing is; in a terminal: " + n.Program + " allow"
}

// maxNotes bounds how many changed files are named.
const maxNotes = 5

// Scripts joins the notes on files that have changed, and says how to settle it.
func Scripts(notes []string, n standing.Names) []string {
	if more := len(notes) - maxNotes; more > 0 {
		notes = append(notes[:maxNotes:maxNotes], fmt.Sprintf("and %d more files have", more))
	}
	if len(notes) > 0 {
		notes[len(notes)-1] += " (to see and settle it: " + n.Program + " allow)"
	}
	return notes
}
