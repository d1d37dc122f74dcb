// Package remember has the commands of the notes of a project and of its queue of tasks.
package remember

import (
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
)

// Command returns the commands of the memory.
func Command(a *app.App) *cobra.Command {
	o := &options{App: a}
	cmd := o.list("memory")
	cmd.Short = "Search, read and write the notes of this project"
	cmd.Long = `Notes of five types (shared-context, decisions, agent-learnings, failures, stories) lie in
the repository, one on a line of structured/*.jsonl below the folder of the memory
(_bmad/_memory, _grimoire/_memory or .claude/bmad-memory): commit them. Assistants use
them with the toolset memory, the stages of a run by themselves. Notes that other tools
keep there are read as well.

Without a subcommand it lists the notes. forget, restore and gc --apply are yours alone:
they refuse an assistant's terminal.

` + terminal.ExitHelp
	cmd.PersistentFlags().StringVar(&o.kind, "type", "", "the type of note: shared-context, decisions, agent-learnings, failures, stories")
	cmd.PersistentFlags().StringVar(&o.agent, "agent", "", "the agent that the note is from or for, such as dev")
	cmd.AddCommand(
		o.list("list"), o.show(), o.add(), o.search(),
		o.forget(), o.restore(), o.gc(), o.takeIn(), o.export(),
		o.check(), o.stats("stats", "Count the notes"), o.stats("agents", "List the agents that have notes"),
		o.museum(), o.queue(),
	)
	return cmd
}
