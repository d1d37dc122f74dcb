package cli

import (
	"fmt"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// grantText says by which channel a decision came, and how long it took. What an entry says
// that nothing vouches for is not repeated as if it had happened.
func grantText(g *workflow.Grant, unvouched bool) string {
	switch {
	case g == nil:
		return ""
	case unvouched:
		return fmt.Sprintf("unvouched: says %s", g.Channel)
	}
	text := fmt.Sprintf("%s (%s)", g.Channel, g.Assurance)
	if g.Channel == workflow.ChannelRelayed {
		text = fmt.Sprintf("relayed by the assistant (%s)", g.Assurance)
	}
	if took, ok := g.Took(); ok {
		text += " in " + took.Round(time.Second).String()
	}
	return text
}

// adoptionText describes the state that a person has accepted.
func adoptionText(a *workflow.Adoption) string {
	return fmt.Sprintf("changed from entry %d on: %s", a.From, a.Problem)
}

// warnOfChanges says so where a session was changed by other hands.
func warnOfChanges(a *app, s *workflow.Session, v workflow.Verification) {
	if v.Changed() {
		fmt.Fprintf(a.out, "Changed by other hands: %s. It may not show what happened.\nTo go on from it as it stands: bmad-mcp adopt %s\n\n", v.Problem, shellWord(s.TaskName))
	}
}
