package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// printReply prints a reply: as the tool gives it, or as text for people.
func (a *app) printReply(r *engine.Reply, withPrompt bool) error {
	if a.asJSON {
		return a.printJSON(r)
	}
	fmt.Fprintln(a.out, plain(r.UserMessage))
	for _, s := range r.Stages {
		line := fmt.Sprintf("  %-10s %s", s.Stage, s.Status)
		if s.Score != nil {
			line += fmt.Sprintf(", score %g", *s.Score)
		}
		if s.Verdict != "" {
			line += ", " + string(s.Verdict)
		}
		if s.Audit != nil {
			line += fmt.Sprintf(", audit %g", *s.Audit)
		}
		if g := s.Grant; g != nil {
			line += fmt.Sprintf(", %s: %s", g.Decision, grantText(&workflow.Grant{Channel: g.Channel, Assurance: g.Assurance, TookMS: g.TookMS}, g.Unvouched))
		}
		if s.Artifact != "" {
			line += ", " + s.Artifact
		}
		if s.Stale {
			line += " (out of date)"
		}
		if s.Modified {
			line += " (modified since)"
		}
		if s.Missing {
			line += " (missing on disk)"
		}
		fmt.Fprintln(a.out, line)
	}
	for _, u := range r.Unreadable {
		fmt.Fprintln(a.out, "unreadable:", u)
	}
	if len(r.Unreadable) > 0 {
		fmt.Fprintln(a.out, "  what to do: bmad-mcp doctor names the remedy")
	}
	if res := r.Resource; res != nil {
		fmt.Fprintf(a.out, "\n%s\n\n%s\n", strings.Repeat("─", 60), strings.TrimRight(res.Text, "\n"))
		if res.Truncated && res.Path != "" {
			fmt.Fprintf(a.out, "… all of it is in %s\n", res.Path)
		}
	}
	if withPrompt && r.RolePrompt != "" {
		fmt.Fprintf(a.out, "\n%s\n\n%s\n", strings.Repeat("─", 60), r.RolePrompt)
	}
	if next := nextCommands(r); next != "" {
		fmt.Fprintf(a.out, "\nFrom the terminal:\n%s", next)
	}
	return nil
}

func (a *app) printJSON(v any) error {
	data, err := workflow.Marshal(v)
	if err == nil {
		_, err = a.out.Write(append(data, '\n'))
	}
	return err
}

func (a *app) printFailure(f *fault.Error) {
	// There is no place to report a failed write.
	_ = a.printJSON(mcpserver.NewFailure(f))
}

// plain removes the emphasis of Markdown for chat windows.
func plain(markdown string) string {
	return strings.NewReplacer("**", "", " _(", " (", ")_", ")").Replace(markdown)
}

// nextCommands lists the commands that a person at the terminal can run now.
func nextCommands(r *engine.Reply) string {
	task := shellWord(r.TaskName)
	if slices.Contains(r.PendingUserActions, string(workflow.ActionAdopt)) {
		return "  bmad-mcp adopt " + task + "\n"
	}
	lines := map[workflow.State][]string{
		workflow.Generating: {"submit " + task + " --stage " + string(r.Stage) + " --claude-result-path FILE"},
		workflow.Refining:   {"submit " + task + " --stage " + string(r.Stage) + " --claude-result-path FILE"},
	}[r.State]
	gate := map[workflow.State]string{workflow.AwaitingConfirmation: "confirm", workflow.AwaitingApproval: "approve", workflow.Clarifying: "answer"}[r.State]
	if r.Draft != nil && r.Draft.Modified && r.NextCall["action"] == workflow.ActionSubmit {
		lines = []string{"submit " + task + " --stage " + string(r.Stage) + " --claude-result-path " + shellWord(r.Draft.Path)}
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("  bmad-mcp task " + l + "\n")
	}
	if gate != "" {
		// For the person; scripts use bmad-mcp task.
		b.WriteString("  bmad-mcp " + gate + " " + task + "\n")
		if r.State != workflow.Clarifying {
			b.WriteString("  bmad-mcp reject " + task + "\n")
		}
	}
	return b.String()
}

// shellWord quotes a text for a shell, where it needs that.
func shellWord(text string) string {
	if text != "" && strings.IndexFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:", r)
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

// table prints rows whose last column is cut to the width of the terminal.
func (a *app) table(header []string, rows [][]string) error {
	width := widestLine
	if f, ok := a.raw.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 40 {
			width = w
		}
	}
	last := len(header) - 1
	used := 0
	for column := range last {
		widest := len([]rune(header[column]))
		for _, row := range rows {
			row[column] = visible.Clipped(row[column], 44)
			widest = max(widest, len([]rune(row[column])))
		}
		used += widest + 2
	}
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, row := range rows {
		row[last] = visible.Clipped(row[last], max(width-used-1, 20))
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// widestLine is how wide a table may be where the terminal does not say.
const widestLine = 160

// indent puts two spaces before each line.
func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// grantText describes the channel of a decision and how long it took. An unvouched entry is not
// repeated as a fact.
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

// warnOfChanges warns of a session that was changed by other hands.
func warnOfChanges(a *app, s *workflow.Session, v workflow.Verification) {
	if v.Changed() {
		fmt.Fprintf(a.out, "Changed by other hands: %s. It may not show what happened.\nTo continue from it as it is: bmad-mcp adopt %s\n\n", v.Problem, shellWord(s.TaskName))
	}
}
