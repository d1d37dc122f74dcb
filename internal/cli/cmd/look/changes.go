package look

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// adoptionText describes the adoption in an entry: accepted changes, texts, and weaker rules.
func adoptionText(l lang.Language, e workflow.Transition) string {
	var parts []string
	if a := e.Adoption; a.From > 0 {
		parts = append(parts, l.Say("changed from entry %d on: %s", a.From, a.Problem))
	}
	parts = append(parts, workflow.AlterationsText(e.Adoption.Texts).In(l), e.Policy)
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "; ")
}

// sayNotes mentions a moved project, and gates passed with less than the rules ask for now.
func sayNotes(term *terminal.Terminal, v workflow.Verification) {
	if v.MovedFrom != "" {
		term.Say("Moved here from %s, which no longer has it; its next step records that.", v.MovedFrom)
	}
	if !v.Loose.Empty() {
		term.Say("Passed before these rules: %s.", v.Loose)
	}
}

// sayAltered names the texts changed since their approval, and the ways out.
func sayAltered(term *terminal.Terminal, s *workflow.Session, v workflow.Verification) {
	if len(v.Altered) == 0 {
		return
	}
	for _, t := range v.Altered {
		term.Say("Not as approved: %s.", t.Text())
	}
	term.Say("To accept that: bmad-mcp adopt %s; to put the approved text back: bmad-mcp adopt %s --restore\n", terminal.ShellWord(s.TaskName), terminal.ShellWord(s.TaskName))
}

// doubts says, in a line each, what shows that a run is not as its people left it.
func doubts(l lang.Language, name string, v workflow.Verification) (out []string) {
	switch v = v.In(l); {
	case v.Changed():
		out = append(out, l.Say("changed by other hands: %s: %s", name, v.Problem))
	case !v.Sound():
		out = append(out, l.Say("not confirmed: %s: %s", name, v.Problem))
	}
	for _, text := range v.Altered {
		out = append(out, l.Say("%s: not as approved: %s", name, text.Text()))
	}
	return out
}

// warnOfChanges warns of a session changed by other hands, or resting on entries that do not count.
func warnOfChanges(term *terminal.Terminal, s *workflow.Session, v workflow.Verification) {
	sayNotes(term, v)
	sayAltered(term, s, v)
	switch {
	case v.Sound():
	case !v.Changed():
		term.Say("Not confirmed: %s.\nIf you know whose key it is: bmad-mcp allow; to continue from it as it is: bmad-mcp adopt %s\n", v.Problem, terminal.ShellWord(s.TaskName))
	default:
		term.Say("Changed by other hands: %s. It may not show what happened.\nTo continue from it as it is: bmad-mcp adopt %s\n", v.Problem, terminal.ShellWord(s.TaskName))
	}
}
