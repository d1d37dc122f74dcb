package look

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Status returns the command that lists the runs waiting for the person, or all runs of a project. With a run
// it calls showRun, which prints the run's state and the person's next command. Of the team's queue, it names the runs
// that the workers do not go on with.
func Status(term *terminal.Terminal, tasks *app.Tasks, databases *app.Databases, showRun func(cmd *cobra.Command, args []string) error) *cobra.Command {
	all := false
	cmd := tasks.MayOfTask(&cobra.Command{
		Use:   "status",
		Short: "See what waits for you, or where a run stands",
		Long: `Without RUN: the runs that wait for your decision or answer, those of this folder first, then
those of all projects in which a run was started, with the command that you type next.
With RUN: where it stands, the draft to read, the questions to answer, and what you type
next. With --all: all runs of this project, finished ones too. It changes nothing.`,
		Example: "  bmad-mcp status\n  bmad-mcp status sign-in\n  bmad-mcp status --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return showRun(cmd, args)
			case all:
				return listRuns(cmd.Context(), term, tasks)
			}
			here, err := tasks.Project()
			if err != nil {
				return err
			}
			here = trust.PathOf(here) // as known projects are recorded
			o, err := findWaiting(cmd.Context(), term, tasks, here)
			if err != nil {
				return err
			}
			o.addQueue(cmd.Context(), term, databases)
			if term.JSON {
				return term.PrintJSON(o)
			}
			o.printOverview(term, here)
			return nil
		},
	})
	cmd.Flags().BoolVar(&all, "all", false, "list all runs of this project")
	return cmd
}

// waitingRow is a run in the JSON of `status`.
type waitingRow struct {
	SessionID string           `json:"session_id"`
	TaskName  string           `json:"task_name"`
	Project   string           `json:"project"`
	Stage     workflow.StageID `json:"stage"`
	State     workflow.State   `json:"state"`
	// Command decides or answers, in the folder of the call of status.
	Command   string    `json:"command"`
	UpdatedAt time.Time `json:"updated_at"`
}

// overview is the JSON of `status`.
type overview struct {
	Waiting []waitingRow `json:"waiting"`
	// Unreadable has an error for each session and each project that cannot be read.
	Unreadable []string `json:"unreadable"`
	// Doubted has a sentence for each run whose history does not hold, and each text that is not as it was approved.
	Doubted []string `json:"doubted,omitempty"`
	// Unseen are the projects with more runs than status looks at.
	Unseen []string `json:"unseen,omitempty"`
	// Queued are the runs of the team's queue that stand still without waiting at a gate, and whose worker is lost.
	Queued []queuedRow `json:"queued,omitempty"`
	// working are the runs with work for the assistant, workers the ones in the hands of the team's workers.
	working, workers []workingRun
	// away is true if a project cannot be read.
	away bool
}

// workingRun is a run at work, as lists name it.
type workingRun struct{ id, task, folder string }

// nameOf names a run with its project.
func (w workingRun) nameOf() string { return w.task + " (" + filepath.Base(w.folder) + ")" }

// findWaiting looks at the project in a folder, and then at all known projects. Runs are listed in this order, and among
// the other projects the one changed last comes first.
func findWaiting(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, here string) (*overview, error) {
	o := &overview{Waiting: []waitingRow{}, Unreadable: []string{}}
	if err := o.addProject(ctx, term, tasks, here, here); err != nil {
		return nil, err
	}
	others := len(o.Waiting)
	for _, folder := range tasks.Engine().Projects().List() {
		if folder == here {
			continue
		}
		if err := o.addProject(ctx, term, tasks, folder, here); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(o.Waiting[others:], func(a, b waitingRow) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return o, nil
}

// addProject adds the runs of the project in a folder, the one changed last first; none of a folder that is gone. It fails
// only if ctx has ended.
func (o *overview) addProject(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, folder, here string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	board, err := tasks.Engine().Board(ctx, project.Address{Cwd: folder}, engine.MaxBoard, term.Lang)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		o.away = true
		board.Broken = []string{folder + ": " + lang.Of(err).In(term.Lang)}
	}
	o.Unreadable = append(o.Unreadable, board.Broken...)
	if board.More {
		o.Unseen = append(o.Unseen, folder)
	}
	for _, r := range board.Rows {
		o.addRun(term, r, folder, here)
	}
	return nil
}

// addRun adds a run of the project in a folder.
func (o *overview) addRun(term *terminal.Terminal, r engine.Row, folder, here string) {
	sound := r.Found.Sound()
	for _, text := range r.Found.Altered {
		o.Doubted = append(o.Doubted, term.Lang.Say("%s: not as approved: %s", r.TaskName+" ("+filepath.Base(folder)+")", text.Text()))
	}
	if r.Homeless != "" {
		o.Doubted = append(o.Doubted, term.Lang.Say("%s: its worktree is gone: %s. bmad-mcp run --resume %s makes it anew",
			r.TaskName+" ("+filepath.Base(folder)+")", r.Homeless, terminal.ShellWord(r.TaskName)))
	}
	if !sound {
		o.Doubted = append(o.Doubted, describeDoubt(term, r, folder))
	}
	action := "decide"
	switch {
	case r.CurrentState.WaitsForHuman():
	case !r.CurrentState.Active():
		return
	case sound:
		o.working = append(o.working, workingRun{r.SessionID, r.TaskName, folder})
		return
	default:
		action = string(workflow.ActionAdopt)
	}
	command := "bmad-mcp " + action + " " + terminal.ShellWord(r.TaskName)
	if folder != here {
		command += " --cwd " + terminal.ShellWord(folder)
	}
	o.Waiting = append(o.Waiting, waitingRow{r.SessionID, r.TaskName, folder, r.CurrentStage, r.CurrentState, command, r.UpdatedAt})
}

// printOverview prints the runs for a person, each with a command in a separate line, unbroken at any width.
func (o *overview) printOverview(term *terminal.Terminal, here string) {
	for _, r := range o.Waiting {
		facts := []string{r.TaskName, string(r.Stage), term.Since(r.UpdatedAt)}
		if r.Project != here {
			facts = append(facts, filepath.Base(r.Project))
		}
		term.Styled(terminal.Yellow, strings.Join(facts, " · "))
		term.Styled(terminal.Cyan, "  "+r.Command)
	}
	for _, r := range o.Queued {
		term.Styled(terminal.Yellow, strings.Join([]string{r.TaskName, sayQueued(term, r), filepath.Base(r.Project)}, " · "))
		term.Styled(terminal.Cyan, "  "+r.Command)
	}
	for _, line := range o.Doubted {
		term.Say("%s", line)
	}
	switch {
	case len(o.Waiting)+len(o.Queued) > 0:
	case len(o.Unreadable) > 0:
		term.Say("Something may wait for you: not all could be read.")
	case len(o.Unseen) > 0:
		term.Say("Among the runs that changed last, none waits for you.")
	case len(o.working) > 0:
		term.Say("Nothing waits for you. The assistant has work to do in: %s.", terminal.JoinWords(namesOf(o.working)))
	case len(o.workers) > 0:
		term.Say("Nothing waits for you. Workers of the team have: %s.", terminal.JoinWords(namesOf(o.workers)))
	default:
		term.Say("Nothing waits for you. Start a run: bmad-mcp start \"what is to be built\"")
	}
	for _, folder := range o.Unseen {
		term.Say("%s has more than %d runs; the older ones were not looked at. To list them: bmad-mcp status --all --cwd %s",
			folder, engine.MaxBoard, terminal.ShellWord(folder))
	}
	term.SayUnreadable(o.Unreadable)
}

// describeDoubt says why a run cannot be relied on, with the command that shows the reason.
func describeDoubt(term *terminal.Terminal, r engine.Row, folder string) string {
	problem := r.Found.In(term.Lang).Problem
	if r.Found.Changed() {
		return term.Lang.Say("%s (%s) was changed by other hands: %s. See: bmad-mcp log %s --verify", r.TaskName, filepath.Base(folder), problem, terminal.ShellWord(r.TaskName))
	}
	return term.Lang.Say("%s (%s) is not confirmed: %s. See: bmad-mcp log %s --verify", r.TaskName, filepath.Base(folder), problem, terminal.ShellWord(r.TaskName))
}
