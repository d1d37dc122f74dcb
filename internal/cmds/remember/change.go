package remember

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

func memoryForgetCommand(a *app.App, f *memoryFlags) *cobra.Command {
	yes, purge := false, false
	cmd := &cobra.Command{
		Use: "forget ID", Short: "Delete a note; restore brings it back", Args: cobra.ExactArgs(1),
		RunE: onBook(a, func(ctx context.Context, b *memory.Book, args []string) error {
			n, _, _, err := b.Show(ctx, notes.Type(f.kind), args[0])
			if err != nil {
				return err
			}
			agreed, err := a.AskPerson(ctx, yes, a.Lang.Say("%s\nDelete this note [y/n]: ", terminal.Indent(visible.Text(n.Text))))
			if err != nil {
				return err
			}
			if !agreed {
				a.Say("Not deleted.")
				return nil
			}
			return dropNote(ctx, a, b, n, purge)
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "without a question, for a script of yours")
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove its text from the files, for good")
	return cmd
}

func dropNote(ctx context.Context, a *app.App, b *memory.Book, n notes.Note, purge bool) error {
	drop, status := b.Forget, "deleted"
	if purge {
		drop, status = b.Purge, "purged"
	}
	n, err := drop(ctx, n.Type, n.ID, notes.ByTerminal)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"status": status, "id": n.ID, "type": n.Type})
	}
	if purge {
		a.Say("Deleted, and its text is out of the files. The history of git keeps it: rewrite it there if nobody may read it.")
	} else {
		a.Say("Deleted. bmad-mcp memory restore %s brings it back.", n.ID)
	}
	return nil
}

func memoryRestoreCommand(a *app.App, f *memoryFlags) *cobra.Command {
	return &cobra.Command{
		Use: "restore ID", Short: "Bring back a deleted note", Args: cobra.ExactArgs(1),
		RunE: onBook(a, func(ctx context.Context, b *memory.Book, args []string) error {
			if _, err := a.AskPerson(ctx, true, ""); err != nil {
				return err
			}
			n, err := b.Restore(ctx, notes.Type(f.kind), args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"status": notes.Restored, "id": n.ID, "type": n.Type})
			}
			a.Say("It is back: %s", visible.Cut(visible.Line(n.Text), 60, "…"))
			return nil
		}),
	}
}

func memoryGCCommand(a *app.App) *cobra.Command {
	apply := false
	cmd := &cobra.Command{
		Use: "gc", Short: "List, and with --apply remove, notes that have expired or were deleted", Args: cobra.NoArgs,
		RunE: onBook(a, func(ctx context.Context, b *memory.Book, _ []string) error {
			if apply {
				if _, err := a.AskPerson(ctx, true, ""); err != nil {
					return err
				}
			}
			c, err := b.Collect(ctx, apply)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(c)
			}
			a.Say("expired: %d, deleted: %d, replaced by a later line: %d, old deletions: %d, ids to separate: %d", c.Expired, c.Deleted, c.Superseded, c.Tombstones, c.Separated)
			switch {
			case len(c.Files) == 0:
				a.Say("Nothing to remove.")
			case apply:
				a.Say("Removed %d lines. Deleted notes can no longer be restored; the history of git keeps them.", c.Lines())
			default:
				a.Say("Nothing was removed; bmad-mcp memory gc --apply does it.")
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "remove what is listed")
	return cmd
}

// maxImport is the largest file to import, in bytes.
const maxImport = 64 << 20

func memoryImportCommand(a *app.App, f *memoryFlags) *cobra.Command {
	apply := false
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Show, and with --apply take in, the notes of a file", Args: cobra.ExactArgs(1),
		Long: `Takes in notes from what memory export wrote (jsonl, md), from a kit's export-md or
memories.json, or from lines of JSON; - is standard input. --type and --agent are for
notes that name none. Nothing is written without --apply. Notes that are refused are listed
with the reason: credentials, texts that are too long, notes that you have deleted.

` + terminal.ExitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := a.ReadNamed(cmd.Context(), args[0], maxImport)
			if err != nil {
				return err
			}
			src := memory.Source{Name: filepath.Base(args[0]), Data: data, Type: notes.Type(f.kind), Agent: f.agent, By: notes.ByTerminal}
			return a.WithBook(func(b *memory.Book) error {
				done, err := b.Import(cmd.Context(), src, apply)
				if err != nil {
					return err
				}
				return printImport(a, done)
			})
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "write the notes")
	return cmd
}

func printImport(a *app.App, done memory.Imported) error {
	if a.JSON {
		return a.PrintJSON(done)
	}
	for _, i := range done.Items {
		if i.Status == memory.Refused {
			a.Say("line %d is refused: %s", i.Line, i.Reason(a.Lang))
		}
	}
	sayProblems(a, done.Problems)
	a.Say("new: %d, unchanged: %d, changed: %d, refused: %d", done.Count[notes.Created], done.Count[notes.Unchanged], done.Count[notes.Updated], done.Count[memory.Refused])
	if !done.Applied {
		a.Say("Nothing was written; --apply does it.")
	}
	return nil
}

func memoryExportCommand(a *app.App, f *memoryFlags) *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use: "export", Short: "Print the notes as JSON lines, Markdown, failure museum or learnings", Args: cobra.NoArgs,
		RunE: onBook(a, func(ctx context.Context, b *memory.Book, _ []string) error {
			text, err := b.Export(ctx, format, f.filter())
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"format": format, "text": text})
			}
			_, err = fmt.Fprint(a.Out, text)
			return err
		}),
	}
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl, md, museum or learnings")
	return cmd
}

func memoryCheckCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Name lines and files of the memory that cannot be used", Args: cobra.NoArgs,
		RunE: onBook(a, func(ctx context.Context, b *memory.Book, _ []string) error {
			problems, err := b.Check(ctx)
			switch {
			case err != nil:
				return err
			case a.JSON:
				if err := a.PrintJSON(map[string]any{"problems": append([]notes.Problem{}, problems...)}); err != nil {
					return err
				}
			case len(problems) == 0:
				a.Say("All notes can be used.")
			}
			if len(problems) == 0 {
				return nil
			}
			if !a.JSON {
				sayProblems(a, problems)
			}
			return terminal.ErrReported
		}),
	}
}

// memoryStatsCommand counts the notes: of each type, or of each agent.
func memoryStatsCommand(a *app.App, f *memoryFlags, name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: onBook(a, func(ctx context.Context, b *memory.Book, _ []string) error {
			s, err := b.Stats(ctx, f.filter())
			if err != nil {
				return err
			}
			switch {
			case a.JSON && name == "stats":
				return a.PrintJSON(s)
			case a.JSON:
				return a.PrintJSON(map[string]any{"agents": s.ByAgent})
			case name == "stats":
				a.Say("%d notes in %d files of %s, %d bytes; %d expired, %d deleted, %d in files of other tools, %d problems",
					s.Notes, s.Files, s.Folder, s.Bytes, s.Expired, s.Deleted, s.Foreign, s.Problems)
				return terminal.Columns(a.Out, counts(s.ByType))
			case len(s.ByAgent) == 0:
				a.Say("No agent has notes.")
			}
			return terminal.Columns(a.Out, counts(s.ByAgent))
		}),
	}
}

// counts returns the rows of a table of numbers, by name.
func counts[K ~string](by map[K]int) (rows [][]string) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		rows = append(rows, []string{string(name), fmt.Sprint(by[name])})
	}
	return rows
}

func memoryMuseumCommand(a *app.App, f *memoryFlags) *cobra.Command {
	category, top := "", 0
	cmd := &cobra.Command{
		Use: "museum [WORDS]", Short: "Show the failures that the project remembers, the worst first",
		RunE: onBook(a, func(ctx context.Context, b *memory.Book, args []string) error {
			m, err := b.Failures(ctx, category, strings.Join(args, " "), top)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(m)
			}
			for _, one := range m.Failures {
				if f.agent == "" || strings.EqualFold(f.agent, one.Agent) {
					fmt.Fprintln(a.Out, strings.Join(slices.DeleteFunc([]string{one.Severity, one.Date, one.Agent,
						one.Category, visible.Line(one.Title)}, func(s string) bool { return s == "" }), "  "))
					if one.Lesson != "" {
						fmt.Fprintln(a.Out, terminal.Indent(visible.Line(one.Lesson)))
					}
				}
			}
			a.Say("%d of %d failures.", len(m.Failures), m.Total)
			sayProblems(a, m.Problems)
			return nil
		}),
	}
	cmd.Flags().StringVar(&category, "category", "", "CC-FAIL, WRONG-ASSUMPTION, CONTEXT-LOSS, HALLUCINATION, ARCH-MISTAKE or PROCESS-SKIP")
	cmd.Flags().IntVar(&top, "top", 0, "how many to show, from 1 to 50 (default 10)")
	return cmd
}
