package remember

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

func (o *options) forgetCommand() *cobra.Command {
	yes, purge := false, false
	cmd := o.bookCommand("forget ID", "Delete a note", cobra.ExactArgs(1),
		func(ctx context.Context, b *memory.Book, args []string) error {
			n, _, _, err := b.Show(ctx, notes.Type(o.kind), args[0])
			if err != nil {
				return err
			}
			agreed, err := o.term.AskPerson(ctx, yes, o.term.Lang.Say("%s\nDelete this note [y/n]: ", terminal.Indent(visible.Text(n.Text))))
			if err != nil {
				return err
			}
			if !agreed {
				o.term.Say("Not deleted.")
				return nil
			}
			result := map[string]any{"status": "deleted", "id": n.ID, "type": n.Type}
			if !purge {
				if _, err := b.Forget(ctx, n.Type, n.ID, notes.ByTerminal); err != nil {
					return err
				}
				return o.term.Conclude(result, "Deleted. To bring it back, add its text again, with its type and agent.")
			}
			if _, err := b.Purge(ctx, n.Type, n.ID, notes.ByTerminal); err != nil {
				return err
			}
			result["status"] = "purged"
			return o.term.Conclude(result, "Deleted, and its text is out of the files. The history of git keeps it: rewrite it there if nobody may read it.")
		})
	cmd.Flags().BoolVar(&yes, "yes", false, "without a question, for a script of yours")
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove its text from the files, for good")
	return cmd
}

func (o *options) checkCommand() *cobra.Command {
	return o.bookCommand("check", "Name lines and files of the memory that cannot be used", cobra.NoArgs,
		func(ctx context.Context, b *memory.Book, _ []string) error {
			problems, err := b.Check(ctx)
			switch {
			case err != nil:
				return err
			case o.term.JSON:
				err = o.term.PrintJSON(map[string]any{"problems": append([]notes.Problem{}, problems...)})
			case len(problems) == 0:
				o.term.Say("All notes can be used.")
			default:
				o.sayProblems(problems)
			}
			if err == nil && len(problems) > 0 {
				return terminal.ErrReported
			}
			return err
		})
}

// statsCommand returns the command that counts the notes of each type, or of each agent.
func (o *options) statsCommand(name, short string) *cobra.Command {
	return o.bookCommand(name, short, cobra.NoArgs,
		func(ctx context.Context, b *memory.Book, _ []string) error {
			s, err := b.Stats(ctx, o.filter())
			if err != nil {
				return err
			}
			switch {
			case o.term.JSON && name == "stats":
				return o.term.PrintJSON(s)
			case o.term.JSON:
				return o.term.PrintJSON(map[string]any{"agents": s.ByAgent})
			case name == "stats":
				o.term.Say("%d notes in %d files of %s, %d bytes; %d expired, %d deleted, %d in files of other tools, %d problems",
					s.Notes, s.Files, s.Folder, s.Bytes, s.Expired, s.Deleted, s.Foreign, s.Problems)
				return o.term.Columns(nil, countRows(s.ByType))
			case len(s.ByAgent) == 0:
				o.term.Say("No agent has notes.")
			}
			return o.term.Columns(nil, countRows(s.ByAgent))
		})
}

// countRows returns the rows of a table of numbers, by name.
func countRows[K ~string](by map[K]int) (rows [][]string) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		rows = append(rows, []string{string(name), fmt.Sprint(by[name])})
	}
	return rows
}

func (o *options) museumCommand() *cobra.Command {
	category, top := "", 0
	cmd := o.bookCommand("museum [WORDS]", "Show the failures that the project remembers, the worst first", nil,
		func(ctx context.Context, b *memory.Book, args []string) error {
			m, err := b.Failures(ctx, category, strings.Join(args, " "), top)
			if err != nil {
				return err
			}
			if o.term.JSON {
				return o.term.PrintJSON(m)
			}
			for _, one := range m.Failures {
				if o.agent == "" || strings.EqualFold(o.agent, one.Agent) {
					fmt.Fprintln(o.term.Out, strings.Join(slices.DeleteFunc([]string{one.Severity, one.Date, one.Agent,
						one.Category, visible.Line(one.Title)}, func(s string) bool { return s == "" }), "  "))
					if one.Lesson != "" {
						fmt.Fprintln(o.term.Out, terminal.Indent(visible.Line(one.Lesson)))
					}
				}
			}
			o.term.Say("%d of %d failures.", len(m.Failures), m.Total)
			o.sayProblems(m.Problems)
			return nil
		})
	cmd.Flags().StringVar(&category, "category", "", "CC-FAIL, WRONG-ASSUMPTION, CONTEXT-LOSS, HALLUCINATION, ARCH-MISTAKE or PROCESS-SKIP")
	cmd.Flags().IntVar(&top, "top", 0, "how many to show, from 1 to 50 (default 10)")
	return cmd
}
