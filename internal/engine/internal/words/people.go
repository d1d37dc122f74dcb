package words

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Barred refuses the caller's yes at a gate that wants the yes of other people; nil if it counts.
func Barred(s *standing.Standing) error {
	why := Bars(s)
	if why.Empty() {
		return nil
	}
	return fault.New(fault.GatePending, "%s", why).WithHint("%s; anybody can say no, with what to change; nothing was changed", mayDecide(s))
}

// Bars says why the yes of the caller does not count; empty if it does.
func Bars(s *standing.Standing) lang.Text {
	me := s.Call.Label()
	switch s.Bar() {
	case standing.BarUnknown:
		if s.Call.Untold {
			return untold
		}
		return lang.T("nothing shows on whose behalf this yes is")
	case standing.BarApprover:
		return lang.T("%s is not among those who can let this pass", me)
	case standing.BarEdited:
		return lang.T("the draft was changed since it was handed in, and nobody can let their own change pass (four eyes)")
	case standing.BarUnwritten:
		return lang.T("nothing shows who wrote this round, so that nobody counts as another person (four eyes)")
	case standing.BarWriter:
		return lang.T("%s wrote this round, and nobody can let their own work pass (four eyes)", me)
	case standing.BarGiven:
		return lang.T("the yes of %s counts already", me)
	}
	return lang.Text{}
}

// Why a store cannot tell the caller from others, and what to do.
var (
	untold    = lang.T("the store cannot tell its members apart, who share the role that owns its tables, and this machine has no key")
	tellApart = lang.T("give each member a database role of their own, or this program a state folder for its key (HOME, or XDG_STATE_HOME)")
)

// ToTellApart adds, where the store cannot tell the caller from others, why and what to do about it.
func ToTellApart(s *standing.Standing, hint lang.Text) lang.Text {
	if !s.Call.Untold {
		return hint
	}
	return lang.T("%s: %s; %s", untold, tellApart, hint)
}

// mayDecide says who can let the document pass.
func mayDecide(s *standing.Standing) lang.Text {
	var barred []string
	if s.Policy.Watched() {
		barred = knownWriters(s)
	}
	for _, g := range s.Given() {
		barred = append(barred, g.Label())
	}
	switch {
	case s.Bar() == standing.BarUnknown && s.Call.Untold:
		return tellApart
	case s.Bar() == standing.BarEdited, s.Bar() == standing.BarUnwritten:
		return lang.T("say no, and have it handed in once more: then another person can let it pass")
	case s.Policy.Approvers != nil:
		left := slices.DeleteFunc(slices.Clone(s.Policy.Approvers), func(name string) bool { return slices.Contains(barred, name) })
		if len(left) < s.Missing() {
			return lang.T("too few of the approvers are left: say no, or change the settings and reopen the stage")
		}
		return lang.T("those who can: %s", strings.Join(left, ", "))
	case len(barred) > 0:
		return lang.T("those who can: everybody but %s", strings.Join(barred, ", "))
	}
	return lang.T("those who can: everybody with an account of their own")
}

// knownWriters names the people answering for the round, as far as they are known.
func knownWriters(s *standing.Standing) (names []string) {
	for _, w := range slices.DeleteFunc(s.Writers(), workflow.IsUnknown) {
		names = append(names, w.Label())
	}
	return names
}

// describeApprovals says which people have to let the document pass, and whose yes is missing; nil if anybody can.
func describeApprovals(s *standing.Standing) (lines []string) {
	if s.Call.Untold && !s.Ruled() {
		return []string{s.Say("Nobody counts as another person here: %s; %s.", untold, tellApart)}
	}
	if !s.Ruled() {
		return nil
	}
	p := s.Policy
	if p.Approvers != nil {
		lines = append(lines, s.Say("Approvers: %s.", cmp.Or(strings.Join(p.Approvers, ", "), "–")))
	}
	if p.Watched() {
		lines = append(lines, s.Say("Four eyes: written by %s, so another person lets it pass.", cmp.Or(strings.Join(knownWriters(s), ", "), "?")))
	}
	if p.Quorum > 1 {
		given := []string{}
		for _, g := range s.Given() {
			given = append(given, s.Say("%s on %s", g.Who(), g.At.UTC().Format(time.RFC3339)))
		}
		if len(given) == 0 {
			given = append(given, s.Say("nobody yet"))
		}
		lines = append(lines, s.Say("It needs the yes of %d people. Given: %s. Missing: %d.", p.Quorum, strings.Join(given, s.Say(", ")), s.Missing()))
	}
	if writers := knownWriters(s); p.TooFew(writers...) {
		lines = append(lines, s.Say("**It can never pass as it is**: %s.", tooFew(p, writers...)))
	}
	if why := Bars(s); !why.Empty() {
		lines = append(lines, s.Say("**Your yes does not count here**: %s.", why))
	}
	return lines
}

// tooFew says why a text of some writers can never pass.
func tooFew(p workflow.Policy, writers ...string) lang.Text {
	return lang.T("%d approvers have to say yes, and only %d can: name more approvers, or a smaller quorum", max(p.Quorum, 1), len(p.Left(writers...)))
}

// unmet names the stages at which nothing that the caller hands in can pass; empty if there are none.
func unmet(s *standing.Standing) string {
	var ids []string
	var why lang.Text
	for _, st := range s.Workflow.Stages {
		if p := st.Policy(); s.Workflow.Gated(st) && p.TooFew(s.Call.Subject) {
			ids, why = append(ids, string(st.ID)), tooFew(p, s.Call.Subject)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return s.Say("**Nothing that %s hands in can pass %s**: %s.", cmp.Or(s.Call.Subject, "?"), strings.Join(ids, ", "), why) + "\n\n"
}

// Counted says that a yes counts, and more people are needed.
func Counted(s *standing.Standing, g workflow.Grant) string {
	return GrantNote(s.Language, g) + s.Say("The yes of %s counts.", g.Who()) + "\n\n"
}

// AtWorkers says that the workers of a team have a run.
func AtWorkers(l lang.Language, task string) string {
	return l.Say("A worker of the team works on this run, or takes it next. The assistant leaves it alone, and submits nothing. "+
		"To have it work here, take the run from the queue first: bmad-mcp queue cancel %s", task) + "\n\n"
}

// Others names the active sessions that a call without a session did not mean; "" if there are none.
func Others(l lang.Language, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "\n\n" + l.Say("This is the one that you have started. Others are active, too: %s.", strings.Join(names, ", "))
}
