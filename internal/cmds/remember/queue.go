package remember

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cmds/agents"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

func memoryQueueCommand(a *app.App, f *memoryFlags) *cobra.Command {
	cmd := queueListCommand(a, "queue")
	cmd.AddCommand(
		queueListCommand(a, "list"),
		agents.QueueWork(a),
		queueStepCommand(a, f, "take [ID]", "Claim a task: the one of that id, else the one that has waited longest", queue.Claimed, cobra.MaximumNArgs(1)),
		queueStepCommand(a, f, "done ID [RESULT]", "Say that a claimed task is done", queue.Completed, cobra.MinimumNArgs(1)),
		queueStepCommand(a, f, "fail ID [REASON]", "Say that a claimed task has failed", queue.Failed, cobra.MinimumNArgs(1)),
		queueStepCommand(a, f, "cancel ID [REASON]", "Cancel a task", queue.Cancelled, cobra.MinimumNArgs(1)),
	)
	return cmd
}

func queueListCommand(a *app.App, use string) *cobra.Command {
	run := ""
	cmd := &cobra.Command{
		Use: use, Short: "List the tasks that wait for an agent, and take or end them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithQueue(func(q *queue.Queue) error { return printTasks(cmd.Context(), a, q, run) })
		},
	}
	if use == "list" {
		cmd.Short = "List the tasks, the oldest first"
	}
	cmd.Flags().StringVar(&run, "run", "", "only the tasks of this run")
	return cmd
}

// printTasks lists the tasks of a run, or of all.
func printTasks(ctx context.Context, a *app.App, q *queue.Queue, run string) error {
	tasks, problems, err := q.Tasks(ctx, run)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"tasks": append([]queue.Task{}, tasks...), "problems": append([]notes.Problem{}, problems...)})
	}
	sayProblems(a, problems)
	if len(tasks) == 0 {
		a.Say("There are no tasks. The tool spawn_subagent_task queues one.")
		return nil
	}
	rows := [][]string{a.Header("ID\tSTATE\tAGENT\tRUN\tOUTPUT\tTASK")}
	for _, t := range tasks {
		rows = append(rows, []string{t.ID[:min(len(t.ID), 8)], t.Status, t.Agent, t.RunID, t.OutputKey, visible.Cut(visible.Line(t.Task), 48, "…")})
	}
	return terminal.Columns(a.Out, rows)
}

func queueStepCommand(a *app.App, f *memoryFlags, use, short, to string, args cobra.PositionalArgs) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			step := queue.Step{Agent: f.agent, To: to, By: notes.ByTerminal}
			if len(args) > 0 {
				step.ID, step.Result = args[0], strings.Join(args[1:], " ")
			}
			return a.WithQueue(func(q *queue.Queue) error {
				t, err := q.Step(cmd.Context(), step)
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(t)
				}
				a.Say("Task %s of %s is now %s: %s", t.ID, t.Agent, t.Status, visible.Line(t.Task))
				if to == queue.Claimed {
					for _, name := range t.ContextFiles {
						a.Say("read first: %s", name)
					}
					a.Say("Then: bmad-mcp memory queue done %s, or fail", t.ID)
				}
				return nil
			})
		},
	}
}
