package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// printReply prints a reply: as the tool gives it, or as text for people.
func (a *app) printReply(r engine.Outcome, withPrompt bool) error {
	if a.JSON {
		return a.PrintJSON(r.Reply)
	}
	fmt.Fprintln(a.Out, terminal.Plain(r.UserMessage))
	for _, s := range r.Stages {
		line := fmt.Sprintf("  %-10s %s", s.Stage, s.Status)
		if s.Score != nil {
			line += a.Lang.Say(", score %g", *s.Score)
		}
		if s.Verdict != "" {
			line += a.Lang.Say(", %s", s.Verdict)
		}
		if s.Audit != nil {
			line += a.Lang.Say(", audit %g", *s.Audit)
		}
		if g := s.Grant; g != nil {
			line += a.Lang.Say(", %s: %s", g.Decision, a.grantText(&workflow.Grant{Channel: g.Channel, Assurance: g.Assurance, TookMS: g.TookMS}, g.Unvouched))
		}
		if s.Artifact != "" {
			line += a.Lang.Say(", %s", s.Artifact)
		}
		if s.Stale {
			line += a.Lang.Say(" (out of date)")
		}
		if s.Modified {
			line += a.Lang.Say(" (modified since)")
		}
		if s.Missing {
			line += a.Lang.Say(" (missing on disk)")
		}
		fmt.Fprintln(a.Out, line)
	}
	a.SayUnreadable(r.Unreadable)
	if res := r.Resource; res != nil {
		fmt.Fprintf(a.Out, "\n%s\n\n%s\n", strings.Repeat("─", 60), strings.TrimRight(res.Text, "\n"))
		if res.Truncated && res.Path != "" {
			a.Say("… all of it is in %s", res.Path)
		}
	}
	if withPrompt && r.RolePrompt != "" {
		fmt.Fprintf(a.Out, "\n%s\n\n%s\n", strings.Repeat("─", 60), r.RolePrompt)
	}
	if next := nextCommands(r.Standing); next != "" {
		fmt.Fprintf(a.Out, "\n%s\n%s", a.Lang.Say("From the terminal:"), next)
	}
	return nil
}

// nextCommands lists the commands to run at the terminal now, "" if there is no session.
func nextCommands(s *standing.Standing) string {
	if s == nil {
		return ""
	}
	task := terminal.ShellWord(s.TaskName)
	var lines []string
	switch action := standing.GateAction(s.CurrentState); {
	case s.Stopped():
		lines = []string{"adopt " + task}
	case s.CurrentState == workflow.Generating, s.CurrentState == workflow.Refining:
		lines = []string{"task submit " + task + " --stage " + string(s.CurrentStage) + " --claude-result-path FILE"}
	case s.CurrentState.Gated(): // for the person; scripts use bmad-mcp task
		lines = []string{string(action) + " " + task, "reject " + task}
	case s.Met():
		lines = []string{string(action) + " " + task, "confirm " + task}
	case action != "":
		lines = []string{string(action) + " " + task}
	}
	text := ""
	for _, line := range lines {
		text += "  bmad-mcp " + line + "\n"
	}
	return text
}

// grantText describes the channel of a decision and how long it took. An unvouched entry is not
// repeated as a fact.
func (a *app) grantText(g *workflow.Grant, unvouched bool) string {
	switch {
	case g == nil:
		return ""
	case unvouched:
		return a.Lang.Say("unvouched: says %s", g.Channel)
	}
	text := fmt.Sprintf("%s (%s)", g.Channel, g.Assurance)
	if g.Channel == workflow.ChannelRelayed {
		text = a.Lang.Say("relayed by the assistant (%s)", g.Assurance)
	}
	if took, ok := g.Took(); ok {
		text = a.Lang.Say("%s in %s", text, took.Round(time.Second))
	}
	return text
}

// adoptionText describes the state that a person has accepted.
func (a *app) adoptionText(by *workflow.Adoption) string {
	texts := workflow.AlterationsText(by.Texts).In(a.Lang)
	if by.From == 0 {
		return texts
	}
	if texts != "" {
		return a.Lang.Say("changed from entry %d on: %s; %s", by.From, by.Problem, texts)
	}
	return a.Lang.Say("changed from entry %d on: %s", by.From, by.Problem)
}

// sayMoved tells that the project of a session was moved.
func sayMoved(a *app, v workflow.Verification) {
	if v.MovedFrom != "" {
		a.Say("Moved here from %s, which no longer has it; its next step records that.", v.MovedFrom)
	}
}

// sayAltered names the approved texts that are not as they were approved, and the ways out.
func sayAltered(a *app, s *workflow.Session, v workflow.Verification) {
	if len(v.Altered) == 0 {
		return
	}
	for _, t := range v.Altered {
		a.Say("Not as approved: %s.", t.Text())
	}
	a.Say("To accept that: bmad-mcp adopt %s; to put the approved text back: bmad-mcp adopt %s --restore\n", terminal.ShellWord(s.TaskName), terminal.ShellWord(s.TaskName))
}

// warnOfChanges warns of a session that was changed by other hands.
func warnOfChanges(a *app, s *workflow.Session, v workflow.Verification) {
	sayMoved(a, v)
	sayAltered(a, s, v)
	if v.Changed() {
		a.Say("Changed by other hands: %s. It may not show what happened.\nTo continue from it as it is: bmad-mcp adopt %s\n", v.Problem, terminal.ShellWord(s.TaskName))
	}
}
