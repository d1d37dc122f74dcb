package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// printReply prints a reply: as the tool gives it, or as text for people.
func (a *app) printReply(r engine.Outcome, withPrompt bool) error {
	if a.asJSON {
		return a.printJSON(r.Reply)
	}
	fmt.Fprintln(a.out, plain(r.UserMessage))
	for _, s := range r.Stages {
		line := fmt.Sprintf("  %-10s %s", s.Stage, s.Status)
		if s.Score != nil {
			line += a.lang.Say(", score %g", *s.Score)
		}
		if s.Verdict != "" {
			line += a.lang.Say(", %s", s.Verdict)
		}
		if s.Audit != nil {
			line += a.lang.Say(", audit %g", *s.Audit)
		}
		if g := s.Grant; g != nil {
			line += a.lang.Say(", %s: %s", g.Decision, a.grantText(&workflow.Grant{Channel: g.Channel, Assurance: g.Assurance, TookMS: g.TookMS}, g.Unvouched))
		}
		if s.Artifact != "" {
			line += a.lang.Say(", %s", s.Artifact)
		}
		if s.Stale {
			line += a.lang.Say(" (out of date)")
		}
		if s.Modified {
			line += a.lang.Say(" (modified since)")
		}
		if s.Missing {
			line += a.lang.Say(" (missing on disk)")
		}
		fmt.Fprintln(a.out, line)
	}
	a.sayUnreadable(r.Unreadable)
	if res := r.Resource; res != nil {
		fmt.Fprintf(a.out, "\n%s\n\n%s\n", strings.Repeat("─", 60), strings.TrimRight(res.Text, "\n"))
		if res.Truncated && res.Path != "" {
			a.say("… all of it is in %s", res.Path)
		}
	}
	if withPrompt && r.RolePrompt != "" {
		fmt.Fprintf(a.out, "\n%s\n\n%s\n", strings.Repeat("─", 60), r.RolePrompt)
	}
	if next := nextCommands(r.Standing); next != "" {
		fmt.Fprintf(a.out, "\n%s\n%s", a.lang.Say("From the terminal:"), next)
	}
	return nil
}

// sayUnreadable names the session files that cannot be read.
func (a *app) sayUnreadable(files []string) {
	for _, u := range files {
		a.say("unreadable: %s", u)
	}
	if len(files) > 0 {
		a.say("  what to do: bmad-mcp doctor names the remedy")
	}
}

func (a *app) printJSON(v any) error {
	data, err := workflow.Marshal(v)
	if err == nil {
		_, err = a.out.Write(append(data, '\n'))
	}
	return err
}

func (a *app) printFailure(f *fault.Error) {
	// A failed write cannot be reported anywhere.
	_ = a.printJSON(mcpserver.NewFailure(f))
}

// plain removes the emphasis of Markdown for chat windows.
func plain(markdown string) string {
	return strings.NewReplacer("**", "", " _(", " (", ")_", ")").Replace(markdown)
}

// nextCommands lists the commands to run at the terminal now, "" if there is no session.
func nextCommands(s *standing.Standing) string {
	if s == nil {
		return ""
	}
	task := shellWord(s.TaskName)
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

// shellWord quotes a text for a shell if it needs that, for example one with a space.
func shellWord(text string) string {
	if text != "" && strings.IndexFunc(text, func(r rune) bool {
		plain := r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		return !plain && !strings.ContainsRune("-_./:", r)
	}) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func joinWords(words []string) string { return strings.Join(words, ", ") }

// oneLine puts a text into one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// forPeople reports whether a list is shown to a person: a terminal gets a table, everything
// else JSON.
func (a *app) forPeople() bool {
	return !a.asJSON && isTerminal(a.raw)
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width returns the columns of the terminal, and other if the output is none.
func (a *app) width(other int) int {
	if f, ok := a.raw.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 40 {
			return w
		}
	}
	return other
}

// table prints rows whose last column is cut to the width of the terminal.
func (a *app) table(header []string, rows [][]string) error {
	width := a.width(widestLine)
	last := len(header) - 1
	used := 0
	for column := range last {
		widest := visible.Columns(header[column])
		for _, row := range rows {
			row[column] = visible.Cut(row[column], 44, "…")
			widest = max(widest, visible.Columns(row[column]))
		}
		used += widest + 2
	}
	for _, row := range rows {
		row[last] = visible.Cut(row[last], max(width-used-1, 20), "…")
	}
	return columns(a.out, slices.Concat([][]string{header}, rows))
}

// columns prints rows of equal length so that their cells align on a terminal, which draws a
// character of Chinese two columns wide.
func columns(out io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		widths = append(widths, make([]int, max(len(row)-len(widths), 0))...)
		for i, cell := range row {
			widths[i] = max(widths[i], visible.Columns(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			row[i] = cell + strings.Repeat(" ", widths[i]-visible.Columns(cell)+2)
		}
		if _, err := fmt.Fprintln(out, strings.Join(row, "")); err != nil {
			return err
		}
	}
	return nil
}

// widestLine is the width of a table, in columns, if that of the terminal is not known.
const widestLine = 160

// indent puts two spaces before each line.
func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// grantText describes the channel of a decision and how long it took. An unvouched entry is not
// repeated as a fact.
func (a *app) grantText(g *workflow.Grant, unvouched bool) string {
	switch {
	case g == nil:
		return ""
	case unvouched:
		return a.lang.Say("unvouched: says %s", g.Channel)
	}
	text := fmt.Sprintf("%s (%s)", g.Channel, g.Assurance)
	if g.Channel == workflow.ChannelRelayed {
		text = a.lang.Say("relayed by the assistant (%s)", g.Assurance)
	}
	if took, ok := g.Took(); ok {
		text = a.lang.Say("%s in %s", text, took.Round(time.Second))
	}
	return text
}

// adoptionText describes the state that a person has accepted.
func (a *app) adoptionText(by *workflow.Adoption) string {
	texts := workflow.AlterationsText(by.Texts).In(a.lang)
	if by.From == 0 {
		return texts
	}
	if texts != "" {
		return a.lang.Say("changed from entry %d on: %s; %s", by.From, by.Problem, texts)
	}
	return a.lang.Say("changed from entry %d on: %s", by.From, by.Problem)
}

// sayMoved tells that the project of a session was moved.
func sayMoved(a *app, v workflow.Verification) {
	if v.MovedFrom != "" {
		a.say("Moved here from %s, which no longer has it; its next step records that.", v.MovedFrom)
	}
}

// sayAltered names the approved texts that are not as they were approved, and the ways out.
func sayAltered(a *app, s *workflow.Session, v workflow.Verification) {
	if len(v.Altered) == 0 {
		return
	}
	for _, t := range v.Altered {
		a.say("Not as approved: %s.", t.Text())
	}
	a.say("To accept that: bmad-mcp adopt %s; to put the approved text back: bmad-mcp adopt %s --restore\n", shellWord(s.TaskName), shellWord(s.TaskName))
}

// warnOfChanges warns of a session that was changed by other hands.
func warnOfChanges(a *app, s *workflow.Session, v workflow.Verification) {
	sayMoved(a, v)
	sayAltered(a, s, v)
	if v.Changed() {
		a.say("Changed by other hands: %s. It may not show what happened.\nTo continue from it as it is: bmad-mcp adopt %s\n", v.Problem, shellWord(s.TaskName))
	}
}
