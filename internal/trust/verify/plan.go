package verify

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Configured is the verify command of a stage in the present configuration.
type Configured struct {
	Command string
	By      workflow.Setter
	// Person is the command in the person's own file, nil if it names none.
	Person *string
	// Allowed is the time at which the person allowed the command by its text; nil if they have not.
	Allowed *time.Time
}

// Plan says which command a stage's submission is checked with.
type Plan struct {
	// Keep is the session's command from now on.
	Keep workflow.VerifyCommand
	// Changes lead from the one it kept to Keep, if the history should record them.
	Changes []Change
}

// Change is a step from one kept command to the next. If only Instead differs, the
// command stays the same.
type Change struct{ Before, After workflow.VerifyCommand }

// NewPlan decides between a session's kept command and the one configured now. A command of the person's own file
// counts at once. Any other is only noted, so that an edit takes no evidence away: the session follows once the
// person has allowed the new command.
func NewPlan(kept workflow.VerifyCommand, now Configured, at time.Time) Plan {
	switch {
	case kept.Command == "":
		return adoptConfigured(kept, now, at)
	case process.Same(kept.Command, now.Command):
		return keepCommand(kept, now, at)
	case kept.SetBy == workflow.SetAtGate && now.Command == "" && now.By != workflow.SetByPerson: // no file ever named it
		return Plan{Keep: kept}
	case now.By == workflow.SetByPerson:
		return adoptConfigured(kept, now, at)
	case kept.SetBy == workflow.SetByPerson && (now.Person == nil || *now.Person == ""): // they have taken it out
		return adoptConfigured(kept, now, at)
	case kept.SetBy == workflow.SetByPerson && !process.Same(kept.Command, *now.Person): // and a variable overrides it
		own := adoptConfigured(kept, Configured{Command: *now.Person, By: workflow.SetByPerson}, at)
		over := NewPlan(own.Keep, now, at)
		return Plan{Keep: over.Keep, Changes: append(own.Changes, over.Changes...)}
	case now.Command != "" && now.Allowed != nil && (now.Allowed.After(kept.At) || now.Allowed.IsZero()):
		return adoptConfigured(kept, now, at)
	case kept.Instead != nil && process.Same(*kept.Instead, now.Command):
		return Plan{Keep: kept}
	}
	next := kept
	next.Instead, next.Accepted = &now.Command, false
	return planChange(kept, next)
}

// adoptConfigured keeps the configured command.
func adoptConfigured(kept workflow.VerifyCommand, now Configured, at time.Time) Plan {
	next := workflow.VerifyCommand{Command: now.Command, SetBy: now.By, At: at, Extra: kept.Extra}
	if next.Command == kept.Command { // none before, none now
		return Plan{Keep: kept}
	}
	if next.SetBy == "" { // nobody names one: the person has taken theirs out
		next.SetBy = workflow.SetByPerson
	}
	return planChange(kept, next)
}

// keepCommand keeps the command as it is, and records who names it now.
func keepCommand(kept workflow.VerifyCommand, now Configured, at time.Time) Plan {
	next := kept
	next.Instead, next.Accepted = nil, false
	switch {
	case kept.SetBy != now.By:
		next.SetBy, next.At = now.By, at
	case kept.Instead == nil:
		return Plan{Keep: next}
	}
	return planChange(kept, next)
}

func planChange(before, after workflow.VerifyCommand) Plan {
	return Plan{Keep: after, Changes: []Change{{before, after}}}
}
