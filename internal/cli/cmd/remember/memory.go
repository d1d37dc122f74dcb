// Package remember has the commands for the notes of a project.
package remember

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// options are the flags of all commands of the memory, to choose notes or to describe a new one.
type options struct {
	term *terminal.Terminal
	// withBook opens the notes of the project.
	withBook    func(do func(b *memory.Book) error) error
	kind, agent string
}

// Command returns the commands of the memory. withBook opens the notes of the project.
func Command(term *terminal.Terminal, withBook func(do func(b *memory.Book) error) error) *cobra.Command {
	o := &options{term: term, withBook: withBook}
	cmd := o.listCommand("memory")
	cmd.Short = "Search, read and write the notes of this project"
	cmd.Long = `Notes of five types (shared-context, decisions, agent-learnings, failures, stories) lie in
the repository, one on a line of structured/*.jsonl below the folder of the memory
(_bmad/_memory, _grimoire/_memory or .claude/bmad-memory): commit them. Assistants use
them with the toolset memory, the stages of a run by themselves. Notes that other tools
keep there are read as well.

Without a subcommand it lists the notes. forget is yours alone: it refuses an assistant's
terminal.`
	cmd.PersistentFlags().StringVar(&o.kind, "type", "", "the type of note: shared-context, decisions, agent-learnings, failures, stories")
	cmd.PersistentFlags().StringVar(&o.agent, "agent", "", "the agent that the note is from or for, such as dev")
	cmd.AddCommand(o.listCommand("list"), o.showCommand(), o.searchCommand(), o.addCommand(), o.forgetCommand())
	return cmd
}

// bookCommand returns a subcommand for work on the notes of the project.
func (o *options) bookCommand(use, short string, args cobra.PositionalArgs, do func(ctx context.Context, b *memory.Book, args []string) error) *cobra.Command {
	return terminal.Subcommand(use, short, args, func(ctx context.Context, args []string) error {
		return o.withBook(func(b *memory.Book) error { return do(ctx, b, args) })
	})
}

// sayProblems names unusable lines and files.
func (o *options) sayProblems(problems []notes.Problem) {
	for _, p := range problems {
		fmt.Fprintln(o.term.Err, o.term.Lang.Say("cannot be used: %s", p.In(o.term.Lang)))
	}
}
