package remember

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// noteRow is a note in the JSON of `memory list` and `memory show`.
type noteRow struct {
	notes.Note
	Deleted    bool   `json:"deleted,omitempty"`
	Suspicious bool   `json:"suspicious,omitempty"`
	File       string `json:"file,omitempty"`
}

func (o *options) listCommand(use string) *cobra.Command {
	all := false
	cmd := o.bookCommand(use, "List the notes, the newest first", cobra.NoArgs,
		func(ctx context.Context, b *memory.Book, _ []string) error {
			list, err := b.List(ctx, memory.Filter{Type: notes.Type(o.kind), Agent: o.agent, Deleted: all, Expired: all})
			if err != nil {
				return err
			}
			return o.printNotes(b, list)
		})
	cmd.Flags().BoolVar(&all, "all", false, "also notes that were deleted or have expired")
	return cmd
}

func (o *options) printNotes(b *memory.Book, list memory.Listed) error {
	if o.term.JSON {
		rows := []noteRow{}
		for _, n := range list.Notes {
			rows = append(rows, noteRow{Note: n, Suspicious: n.Suspicious()})
		}
		return o.term.PrintJSON(map[string]any{"folder": b.Path(), "notes": rows, "problems": append([]notes.Problem{}, list.Problems...)})
	}
	if len(list.Notes) == 0 {
		o.term.Say("There are no such notes in %s. Keep the first: bmad-mcp memory add \"what the team should know\"", b.Path())
	} else {
		rows := [][]string{o.term.Header("ID\tTYPE\tAGENT\tCHANGED\tTEXT")}
		for _, n := range list.Notes {
			text := visible.Cut(visible.Line(n.Text), 60, "…") + o.marksOf(memory.Found{Suspicious: n.Suspicious()})
			rows = append(rows, []string{n.ID[:min(len(n.ID), 8)], string(n.Type), n.Agent, n.UpdatedAt.Time.Local().Format(time.DateOnly), text})
		}
		if err := o.term.Columns(rows[0], rows[1:]); err != nil {
			return err
		}
	}
	o.sayProblems(list.Problems)
	return nil
}

func (o *options) showCommand() *cobra.Command {
	return o.bookCommand("show ID", "Show a note; the first 8 characters of its id are enough", cobra.ExactArgs(1),
		func(ctx context.Context, b *memory.Book, args []string) error {
			n, deleted, file, err := b.Show(ctx, notes.Type(o.kind), args[0])
			if err != nil {
				return err
			}
			if o.term.JSON {
				return o.term.PrintJSON(noteRow{n, deleted, n.Suspicious(), file})
			}
			if n.Text == "" {
				o.term.Say("%s, %s: it was deleted, and its text removed; the history of git may have it.", n.Type, n.ID)
				return nil
			}
			if n.By == "" {
				n.By = "?"
			}
			fmt.Fprintf(o.term.Out, "%s\n\n%s\n\n%s\n", o.term.Lang.Say("%s, %s, changed %s by %s", n.Type, n.Agent,
				n.UpdatedAt.Time.Local().Format("2006-01-02 15:04"), n.By), strings.TrimSpace(n.Text), n.ID)
			if len(n.Tags) > 0 {
				o.term.Say("tags: %s", strings.Join(n.Tags, ", "))
			}
			if n.Finding != "" {
				o.term.Say("run: %s, finding %s", n.Session, n.Finding)
			}
			o.term.Say("in %s", file)
			switch {
			case deleted:
				o.term.Say("It is deleted. To bring it back, add its text again, with its type and agent.")
			case n.Expired(o.term.Now()):
				o.term.Say("It has expired, and is not found any more.")
			case n.Suspicious():
				o.term.Say("It addresses the model that reads it, so that no briefing carries it.")
			}
			return nil
		})
}

// sharedAgent is the agent of a note without one.
const sharedAgent = "shared"

func (o *options) addCommand() *cobra.Command {
	var tags []string
	var expires string
	cmd := &cobra.Command{
		Use: "add [TEXT]", Short: "Keep a note; without TEXT it is read from standard input",
		Long: `Keeps a note. The same text of the same agent and type is one note: it is not written
twice, and --tag replaces its tags. Credentials are refused.`,
		Example: `  bmad-mcp memory add --type decisions "sessions are kept in PostgreSQL"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args, " ")
			if len(args) == 0 {
				data, err := o.term.ReadAll(cmd.Context())
				if err != nil {
					return err
				}
				text = string(data)
			}
			d := notes.Note{Type: notes.Type(o.kind), Agent: o.agent, Text: text, By: notes.ByTerminal}
			if d.Type == "" {
				d.Type = notes.SharedContext
			}
			if d.Agent == "" {
				d.Agent = sharedAgent
			}
			if cmd.Flags().Changed("tag") {
				d.Tags = append([]string{}, tags...)
			}
			if expires != "" {
				day, err := time.Parse(time.DateOnly, expires)
				if err != nil {
					return fault.New(fault.InvalidArgument, "--expires %q is not a day", expires).WithHint("write it as 2026-12-31")
				}
				d.ExpiresAt = notes.At(day)
			}
			return o.withBook(func(b *memory.Book) error { return o.addNote(cmd, b, d) })
		},
	}
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "a word by which the note can be found; may be repeated")
	cmd.Flags().StringVar(&expires, "expires", "", "the day from which the note is not found any more, such as 2026-12-31")
	return cmd
}

func (o *options) addNote(cmd *cobra.Command, b *memory.Book, d notes.Note) error {
	done, err := b.Remember(cmd.Context(), d)
	if err != nil {
		return err
	}
	if o.term.JSON {
		return o.term.PrintJSON(done)
	}
	switch done.Status {
	case notes.Unchanged:
		o.term.Say("It is known already: %s in %s.", done.ID, done.File)
	case notes.Updated:
		o.term.Say("It was known; its tags or its expiry are new: %s in %s.", done.ID, done.File)
	case notes.Restored:
		o.term.Say("It had been deleted, and is back: %s in %s.", done.ID, done.File)
	default:
		o.term.Say("Kept: %s in %s.", done.ID, done.File)
	}
	for _, s := range done.Similar {
		o.term.Say("nearly the same: %s %s", s.ID[:min(len(s.ID), 8)], visible.Cut(visible.Line(s.Text), 60, "…"))
	}
	return nil
}

func (o *options) searchCommand() *cobra.Command {
	limit, code, glob := 0, false, ""
	cmd := o.bookCommand("search WORDS", "Find notes by their words, also in another language or misspelt", cobra.MinimumNArgs(1),
		func(ctx context.Context, b *memory.Book, args []string) error {
			if code || glob != "" {
				return o.searchCode(ctx, b, memory.CodeQuery{Text: strings.Join(args, " "), Path: glob, Limit: limit})
			}
			found, err := b.Recall(ctx, memory.Query{Text: strings.Join(args, " "), Type: notes.Type(o.kind), Agent: o.agent, Limit: limit})
			if err != nil {
				return err
			}
			if o.term.JSON {
				return o.term.PrintJSON(found)
			}
			for _, r := range found.Results {
				fmt.Fprintf(o.term.Out, "%s  %s, %s, %s%s\n%s\n\n", r.ID[:min(len(r.ID), 8)], r.Type, r.Agent, r.Date, o.marksOf(r), terminal.Indent(strings.TrimSpace(r.Text)))
			}
			if found.NothingClose {
				o.term.Say("Nothing close among %d notes.", found.Searched)
			}
			o.sayProblems(found.Problems)
			return nil
		})
	cmd.Example = `  bmad-mcp memory search --path "*.go" "delay between two attempts"`
	cmd.Flags().IntVar(&limit, "limit", 0, "how many results to show, from 1 to 20 (default 5 notes, 8 places)")
	cmd.Flags().BoolVar(&code, "code", false, "find places in the files of the project instead of notes")
	cmd.Flags().StringVar(&glob, "path", "", "a pattern for the files, such as \"internal/**/*.go\"; implies --code")
	return cmd
}

// searchCode shows places in the files of the project.
func (o *options) searchCode(ctx context.Context, b *memory.Book, q memory.CodeQuery) error {
	found, err := b.SearchCode(ctx, q)
	if err != nil {
		return err
	}
	if o.term.JSON {
		return o.term.PrintJSON(found)
	}
	for _, r := range found.Results {
		fmt.Fprintf(o.term.Out, "%s:%d  %s (%d-%d)\n%s\n\n", r.File, r.TextFrom, r.Name, r.From, r.To, terminal.Indent(r.Text))
	}
	switch {
	case found.Searched == 0 && q.Path != "":
		o.term.Say("No file fits the pattern %s.", terminal.OneLine(q.Path))
	case found.NothingClose:
		o.term.Say("Nothing close among %d files.", found.Searched)
	}
	if n := found.LeftOut.NotIndexed; n > 0 {
		fmt.Fprintln(o.term.Err, o.term.Lang.Say("%d files are not searched yet; the next search goes on with them.", n))
	}
	if found.Degraded != "" {
		fmt.Fprintln(o.term.Err, found.Degraded)
	}
	return nil
}

// marksOf returns the reservations about a note.
func (o *options) marksOf(r memory.Found) string {
	out := ""
	if r.Weak {
		out += o.term.Lang.Say(" (weak)")
	}
	if r.Stale {
		out += o.term.Lang.Say(" (stale: the files that it names are gone)")
	}
	if r.Superseded {
		out += o.term.Lang.Say(" (superseded)")
	}
	if r.Suspicious {
		out += o.term.Lang.Say(" (suspicious: it addresses the model)")
	}
	return out
}

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
				if err := b.Forget(ctx, n.Type, n.ID, notes.ByTerminal); err != nil {
					return err
				}
				return o.term.Conclude(result, "Deleted. To bring it back, add its text again, with its type and agent.")
			}
			if err := b.Purge(ctx, n.Type, n.ID, notes.ByTerminal); err != nil {
				return err
			}
			result["status"] = "purged"
			return o.term.Conclude(result, "Deleted, and its text is out of the files. The history of git keeps it: rewrite it there if nobody may read it.")
		})
	cmd.Flags().BoolVar(&yes, "yes", false, "without a question, for a script of yours")
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove its text from the files, for good")
	return cmd
}
