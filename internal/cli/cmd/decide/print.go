package decide

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// printReply prints a reply: in the tool's JSON, or as text for people.
func printReply(term *terminal.Terminal, r engine.Outcome, withPrompt, person bool) error {
	if term.JSON {
		return term.PrintJSON(r.Reply)
	}
	term.Markdown(r.UserMessage, terminal.Plain(r.UserMessage))
	for _, s := range r.Stages {
		line := fmt.Sprintf("  %-10s %s", s.Stage, s.Status)
		if s.Score != nil {
			line += term.Lang.Say(", score %g", *s.Score)
		}
		if s.Verdict != "" {
			line += term.Lang.Say(", %s", s.Verdict)
		}
		if s.Audit != nil {
			line += term.Lang.Say(", form %g", *s.Audit)
		}
		if g := s.Grant; g != nil {
			means := story.Means(term.Lang, &workflow.Grant{Channel: g.Channel, TookMS: g.TookMS}, g.Unvouched)
			line += term.Lang.Say(", decided by %s (%s)", cmp.Or(g.Who(), term.Lang.Say("Somebody")), means)
		}
		if s.Artifact != "" {
			line += term.Lang.Say(", %s", s.Artifact)
		}
		if s.Stale {
			line += term.Lang.Say(" (out of date)")
		}
		if s.Modified {
			line += term.Lang.Say(" (modified since)")
		}
		if s.Missing {
			line += term.Lang.Say(" (missing on disk)")
		}
		term.Printf("%s\n", line)
	}
	term.SayUnreadable(r.Unreadable)
	if res := r.Resource; res != nil {
		fmt.Fprintf(term.Out, "\n%s\n\n%s\n", strings.Repeat("─", 60), strings.TrimRight(res.Text, "\n"))
		if res.Truncated && res.Path != "" {
			term.Say("… all of it is in %s", res.Path)
		}
	}
	if withPrompt && r.RolePrompt != "" {
		fmt.Fprintf(term.Out, "\n%s\n\n%s\n", strings.Repeat("─", 60), r.RolePrompt)
	}
	if r.Queued {
		term.Say("\nA worker of the team takes it from here: bmad-mcp queue show %s", terminal.ShellWord(r.Standing.Session.TaskName))
		return nil
	}
	sayNext(term, r.Standing, person)
	return nil
}

// sayNext prints the commands to run at the terminal now, and for a person what to say in the host.
func sayNext(term *terminal.Terminal, s *engine.Standing, person bool) {
	next := nextCommands(s, person)
	if next == "" {
		return
	}
	where := term.Lang.Say("From the terminal:")
	if person && hasWork(s) {
		where = term.Lang.Say("In your host, say: Use bmad-task to go on with %s. Without a host:", s.Session.TaskName)
	}
	fmt.Fprintf(term.Out, "\n%s\n%s", where, next)
}

// hasWork reports whether an assistant has work to do.
func hasWork(s *engine.Standing) bool {
	return s.Session.CurrentState.Active() && !s.Session.CurrentState.WaitsForHuman() && !s.Stopped()
}

// nextCommands returns the commands to run at the terminal now; "" without a session. While an assistant has
// work to do, a person can only have it done; a script hands the work in.
func nextCommands(s *engine.Standing, person bool) string {
	if s == nil {
		return ""
	}
	task := terminal.ShellWord(s.Session.TaskName)
	var lines []string
	switch {
	case s.Stopped():
		lines = []string{"adopt " + task}
	case person && hasWork(s):
		lines = []string{"run --resume " + task}
	case s.Session.CurrentState == workflow.Generating, s.Session.CurrentState == workflow.Refining:
		lines = []string{"task submit " + task + " --stage " + string(s.Session.CurrentStage) + " --claude-result-path FILE"}
	case s.Met():
		lines = []string{"decide " + task, "decide " + task + " --skip"}
	case s.Session.CurrentState.WaitsForHuman():
		lines = []string{"decide " + task}
	}
	text := ""
	for _, line := range lines {
		text += "  bmad-mcp " + line + "\n"
	}
	return text
}
