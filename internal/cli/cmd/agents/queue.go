package agents

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// QueueWork has a model do the tasks that wait.
func QueueWork(term *terminal.Terminal, tasks *app.Tasks, rest program) *cobra.Command {
	cs, run := &clients{term: term, tasks: tasks, program: rest}, ""
	cmd := &cobra.Command{
		Use: "work", Short: "Have your model do the waiting tasks, the oldest first", Args: cobra.NoArgs,
		Long: `Has the agent of each waiting task do it, by the model that you have named in the settings
or name here. The agents read the project; their changes are kept aside, in the session that
bmad-mcp agent resume shows. All tasks together spend one --limit.

` + agentExitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cs.tasks.Config.Model.Named() && cs.model == "" && cs.provider == "" {
				return fault.New(fault.InvalidArgument, "no model is named, and this spends money by itself").
					WithHint("name one with --model, or in the settings; see docs/agents.md")
			}
			settings, err := cs.modelSettings(cs.tasks.Workspace)
			if err != nil {
				return err
			}
			client, err := cs.workingClient()
			if err != nil {
				return err
			}
			defer client.Close()
			return cs.program.WithQueue(func(q *queue.Queue) error {
				return cs.workQueue(cmd.Context(), q, client, run, settings.CostLimit)
			})
		},
	}
	cs.addFlags(cmd)
	cmd.Flags().StringVar(&run, "run", "", "only the tasks of this run")
	return cmd
}

// workQueue does the waiting tasks of a run, or of all. A task fails if its agent cannot do it. If
// money or the model's server keeps it from its end, it stays claimed, with a session to resume.
func (cs *clients) workQueue(ctx context.Context, q *queue.Queue, client *sdk.Client, run string, limit price.Money) error {
	done, left := 0, limit
	for {
		tasks, _, err := q.Tasks(ctx, run)
		if err != nil {
			return err
		}
		next := slices.IndexFunc(tasks, func(t queue.Task) bool { return t.Status == queue.Queued })
		if next < 0 {
			cs.term.Say("No task waits any more; %d were done.", done)
			return nil
		}
		t := tasks[next]
		if _, err := q.Step(ctx, queue.Step{ID: t.ID, To: queue.Claimed, By: notes.ByTerminal}); fault.Is(err, fault.Conflict) {
			continue // another worker was faster
		} else if err != nil {
			return err
		}
		cs.term.Say("%s works on: %s", t.Agent, visible.Cut(visible.Line(t.Task), 100, "…"))
		result, spent, err := cs.workTask(ctx, client, t, left)
		step := queue.Step{ID: t.ID, To: queue.Completed, By: notes.ByTerminal, Result: result}
		var limited *sdk.CostLimitError
		var server *sdk.ProviderError
		switch {
		case err != nil && (ctx.Err() != nil || errors.As(err, &limited) || errors.As(err, &server)):
			cs.term.Warnf("%s", cs.term.Lang.Say("the task %s is still claimed; bmad-mcp memory queue fail %s gives it up", t.ID, t.ID))
			return cs.explainError(err)
		case err != nil:
			step.To, step.Result = queue.Failed, err.Error()
		default:
			done++
		}
		if _, err := q.Step(ctx, step); err != nil {
			return err
		}
		if limit > 0 {
			left = max(left-spent, 1)
		}
		cs.term.Say("  %s: %s", step.To, visible.Cut(visible.Line(step.Result), 200, "…"))
	}
}

// workTask has an agent do one task.
func (cs *clients) workTask(ctx context.Context, client *sdk.Client, t queue.Task, limit price.Money) (result string, spent price.Money, err error) {
	files, release, err := cs.openFiles(false, nil)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, release()) }()
	words := t.Task
	if len(t.ContextFiles) > 0 {
		words += "\n\nRead first: /" + strings.Join(t.ContextFiles, ", /")
	}
	s, err := client.StartAgent(ctx, t.Agent, words, sdk.SessionOptions{FS: files, NoQuestions: true, CostLimit: limit})
	if err != nil {
		return "", 0, err
	}
	r, err := s.Run(ctx)
	return r.Text + "\n(bmad-mcp agent resume " + r.ID + ")", r.Costs.Spent, err
}
