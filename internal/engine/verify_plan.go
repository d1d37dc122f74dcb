package engine

import (
	"fmt"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// configuredVerify is what the configuration says of one stage's verify command now.
type configuredVerify struct {
	command string
	by      workflow.Setter
	// person is what the person's own file says, where it says something.
	person *string
	// allowed is when the person allowed the command by its text; nil where they have not.
	allowed *time.Time
}

// verifyPlan is what a stage's submission is checked with.
type verifyPlan struct {
	// keep is what the session keeps from now on, news what of that the history should
	// tell, "" if nothing.
	keep workflow.VerifyCommand
	news string
}

// planVerify decides between the command that a session keeps and the one configured now.
// What the person's own file says counts at once. Anything else is only noted, so that an
// edit takes no evidence away: the session follows once the person has allowed the new
// command.
func planVerify(kept workflow.VerifyCommand, now configuredVerify, at time.Time) verifyPlan {
	switch {
	case kept.Command == "":
		return adoptVerify(kept, now, at)
	case verify.Same(kept.Command, now.command):
		return sameVerify(kept, now, at)
	case now.by == workflow.SetByPerson:
		return adoptVerify(kept, now, at)
	case kept.SetBy == workflow.SetByPerson && (now.person == nil || *now.person == ""): // they have taken it out
		return adoptVerify(kept, now, at)
	case kept.SetBy == workflow.SetByPerson && !verify.Same(kept.Command, *now.person): // and a variable speaks over it
		own := adoptVerify(kept, configuredVerify{command: *now.person, by: workflow.SetByPerson}, at)
		over := planVerify(own.keep, now, at)
		return verifyPlan{keep: over.keep, news: own.news + "; " + over.news}
	case now.command != "" && now.allowed != nil && (now.allowed.After(kept.At) || now.allowed.IsZero()):
		return adoptVerify(kept, now, at)
	}
	p := verifyPlan{keep: kept}
	if kept.Instead == nil || !verify.Same(*kept.Instead, now.command) {
		p.keep.Instead, p.keep.Accepted = &now.command, false
		p.news = fmt.Sprintf("%s, and %s still counts", insteadText(now.command), commandText(kept))
	}
	return p
}

// adoptVerify keeps what is configured.
func adoptVerify(kept workflow.VerifyCommand, now configuredVerify, at time.Time) verifyPlan {
	next := workflow.VerifyCommand{Command: now.command, SetBy: now.by, At: at, Extra: kept.Extra}
	if next.Command == kept.Command { // none before, none now
		return verifyPlan{keep: kept}
	}
	if next.SetBy == "" { // nobody names one: the person has taken theirs out
		next.SetBy = workflow.SetByPerson
	}
	return verifyPlan{keep: next, news: commandText(kept) + " → " + commandText(next)}
}

// sameVerify keeps the command as it is, and takes note of who names it now.
func sameVerify(kept workflow.VerifyCommand, now configuredVerify, at time.Time) verifyPlan {
	p := verifyPlan{keep: kept}
	p.keep.Instead, p.keep.Accepted = nil, false
	switch {
	case kept.SetBy != now.by:
		p.keep.SetBy, p.keep.At = now.by, at
		p.news = commandText(kept) + " → " + commandText(p.keep)
	case kept.Instead != nil:
		p.news = commandText(kept) + " is configured again"
	}
	return p
}

// insteadText says what is configured in place of a command that is kept.
func insteadText(command string) string {
	if command == "" {
		return "the configuration no longer names one"
	}
	return "the configuration names `" + clip(command, 120) + "` instead"
}

// commandText says a command and who has set it.
func commandText(c workflow.VerifyCommand) string {
	if c.Command == "" {
		return "none"
	}
	return "`" + clip(c.Command, 120) + "` (" + setterText(c.SetBy) + ")"
}

func setterText(by workflow.Setter) string {
	switch by {
	case workflow.SetByPerson:
		return "your own file"
	case workflow.SetByEnvironment:
		return "a variable"
	}
	return "the project's file"
}
