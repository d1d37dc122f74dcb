package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// evidenceText says in one line how a command ended, and what the person should know about
// it.
func evidenceText(e *workflow.Evidence) string {
	text := resultText(e)
	if e.Changed != "" {
		text += "; changed during the run: " + e.Changed
	}
	if len(e.Notes) > 0 {
		text += "; note: " + strings.Join(e.Notes, "; ")
	}
	return text
}

// resultText says in one line how a command ended.
func resultText(e *workflow.Evidence) string {
	command := "`" + clip(e.Command, 120) + "`"
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

// historyText is a submission's evidence as the history records it.
func historyText(e *workflow.Evidence) string {
	if e == nil {
		return ""
	}
	return strings.ReplaceAll(visible.Line(evidenceText(e)), "`", "")
}

// planText says how a session's verify command changes; "" if it does not.
func planText(p verify.Plan) string {
	var steps []string
	for _, c := range p.Changes {
		before, after := commandText(c.Before), commandText(c.After)
		switch {
		case c.After.Instead != nil:
			steps = append(steps, insteadText(*c.After.Instead)+", and "+before+" still counts")
		case c.Before.Command == c.After.Command && c.Before.SetBy == c.After.SetBy:
			steps = append(steps, before+" is configured again")
		default:
			steps = append(steps, before+" → "+after)
		}
	}
	return strings.Join(steps, "; ")
}

// insteadText names the command that is configured in place of a kept one.
func insteadText(command string) string {
	if command == "" {
		return "the configuration no longer names one"
	}
	return "the configuration names `" + clip(command, 120) + "` instead"
}

// commandText names a command and who has set it.
func commandText(c workflow.VerifyCommand) string {
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
	return "`" + clip(c.Command, 120) + "` (" + by + ")"
}

// scriptText says how a file that a command names differs from what was allowed.
func scriptText(c trust.ScriptChange) string {
	text := c.Text + map[trust.ScriptState]string{
		trust.ScriptNew:     " was not there when you allowed the command",
		trust.ScriptChanged: " has changed since you allowed it",
		trust.ScriptGone:    " is gone since you allowed it",
		trust.ScriptBack:    " is back since you allowed it to be gone",
	}[c.State]
	if c.Since.IsZero() {
		return text
	}
	return text + " on " + c.Since.Format(time.DateOnly)
}
