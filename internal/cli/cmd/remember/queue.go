package remember

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
)

func (o *options) queueCommand(work *cobra.Command) *cobra.Command {
	cmd := o.queueListCommand("queue")
	cmd.AddCommand(
		o.queueListCommand("list"),
		work,
		o.queueStepCommand("take [ID]", "Claim a task: the one of that id, else the one that has waited longest", queue.Claimed, cobra.MaximumNArgs(1)),
		o.queueStepCommand("done ID [RESULT]", "Say that a claimed task is done", queue.Completed, cobra.MinimumNArgs(1)),
		o.queueStepCommand("fail ID [REASON]", "Say that a claimed task has failed", queue.Failed, cobra.MinimumNArgs(1)),
		o.queueStepCommand("cancel ID [REASON]", "Cancel a task", queue.Cancelled, cobra.MinimumNArgs(1)),
	)
	return cmd
}

func (o *options) queueListCommand(use string) *cobra.Command {
	run := ""
	cmd := terminal.Subcommand(use, "List the tasks that wait for an agent, and take or end them", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			return o.store.WithQueue(func(q *queue.Queue) error { return o.printTasks(ctx, q, run) })
		})
	if use == "list" {
		cmd.Short = "List the tasks, the oldest first"
	}
	cmd.Flags().StringVar(&run, "run", "", "only the tasks of this run")
	return cmd
}

// printTasks lists the tasks of a run, or of all.
func (o *options) printTasks(ctx context.Context, q *queue.Queue, run string) error {
	tasks, problems, err := q.Tasks(ctx, run)
	if err != nil {
		return err
	}
	if o.term.JSON {
		return o.term.PrintJSON(map[string]any{"tasks": append([]queue.Task{}, tasks...), "problems": append([]notes.Problem{}, problems...)})
	}
	o.sayProblems(problems)
	if len(tasks) == 0 {
		o.term.Say("There are no tasks. The tool spawn_subagent_task queues one.")
		return nil
	}
	rows := [][]string{o.term.Header("ID\tSTATE\tAGENT\tRUN\tOUTPUT\tTASK")}
	for _, t := range tasks {
		rows = append(rows, []string{t.ID[:min(len(t.ID), 8)], t.Status, t.Agent, t.RunID, t.OutputKey, visible.Cut(visible.Line(t.Task), 48, "…")})
	}
	return o.term.Columns(rows[0], rows[1:])
}

func (o *options) queueStepCommand(use, short, to string, args cobra.PositionalArgs) *cobra.Command {
	return terminal.Subcommand(use, short, args, func(ctx context.Context, args []string) error {
		step := queue.Step{Agent: o.agent, To: to, By: notes.ByTerminal}
		if len(args) > 0 {
			step.ID, step.Result = args[0], strings.Join(args[1:], " ")
		}
		return o.store.WithQueue(func(q *queue.Queue) error {
			t, err := q.Step(ctx, step)
			if err != nil {
				return err
			}
			if o.term.JSON {
				return o.term.PrintJSON(t)
			}
			o.term.Say("Task %s of %s is now %s: %s", t.ID, t.Agent, t.Status, visible.Line(t.Task))
			if to == queue.Claimed {
				for _, name := range t.ContextFiles {
					o.term.Say("read first: %s", name)
				}
				o.term.Say("Then: bmad-mcp memory queue done %s, or fail", t.ID)
			}
			return nil
		})
	})
}
