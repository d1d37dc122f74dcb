package standing

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Bar is the reason why the yes of the caller does not count.
type Bar int

// The bars, first the ones that another round does not remove.
const (
	NotBarred    Bar = iota
	BarUnknown       // nobody knows on whose behalf the caller acts
	BarApprover      // they are not among the approvers
	BarEdited        // a yes to an edited draft would be the writer's own
	BarUnwritten     // nobody knows who has written the draft
	BarWriter        // they have written it
	BarGiven         // their yes counts already
)

// Ruled reports whether it matters who says yes at the session's gate. At a blocked stage a yes opens nothing.
func (s *Standing) Ruled() bool {
	return s.Policy.Ruled() && (s.Session.CurrentState.Gated() || s.Met()) && !s.Blocked()
}

// IsBarred reports whether the yes of the caller does not count.
func (s *Standing) IsBarred() bool { return s.Bar() != NotBarred }

// Bar returns why the yes of the caller does not count.
func (s *Standing) Bar() Bar {
	if !s.Ruled() {
		return NotBarred
	}
	me, writers := s.Call.Person, s.Writers()
	switch {
	case workflow.IsUnknown(me):
		return BarUnknown
	case !s.isApprover(me):
		return BarApprover
	case s.Policy.Watched() && s.Draft.Edited:
		return BarEdited
	case s.Policy.Watched() && slices.ContainsFunc(writers, workflow.IsUnknown):
		return BarUnwritten
	case s.Policy.Watched() && me.IsAmong(writers):
		return BarWriter
	case s.Missing() > 0 && slices.ContainsFunc(s.Given(), func(g workflow.Grant) bool { return g.Is(me) }):
		return BarGiven
	}
	return NotBarred
}

func (s *Standing) isApprover(p workflow.Person) bool {
	return s.Policy.Approvers == nil || slices.Contains(s.Policy.Approvers, p.Subject)
}

// Writers returns the people behind the draft, as far as the caller can be told apart from them.
func (s *Standing) Writers() []workflow.Person {
	return workflow.WritersAt(s.Session.History, s.Session.CurrentStage, s.Call.Person)
}

// Given returns the yeses to the draft as it is now.
func (s *Standing) Given() []workflow.Grant {
	return slices.DeleteFunc(workflow.GivenAt(s.Session.History, s.Draft.Now(), s.Call.Person), func(g workflow.Grant) bool {
		return !s.isApprover(g.Person) || s.Policy.Watched() && g.IsAmong(s.Writers())
	})
}

// Missing returns how many people more have to say yes.
func (s *Standing) Missing() int { return max(s.Policy.Quorum, 1) - len(s.Given()) }

// Now returns the hash of the draft as it is now; "" if it is unknown.
func (d Draft) Now() string {
	if d.Edit != nil {
		return d.Edit.SHA256
	}
	return d.SHA256
}
