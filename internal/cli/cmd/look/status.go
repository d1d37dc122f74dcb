package look

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// waitingRow is a run in the JSON of `status`.
type waitingRow struct {
	SessionID string           `json:"session_id"`
	TaskName  string           `json:"task_name"`
	Project   string           `json:"project"`
	Stage     workflow.StageID `json:"stage"`
	State     workflow.State   `json:"state"`
	// Command decides or answers, from the folder that status was called in.
	Command   string    `json:"command"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Status returns the command that lists the runs that wait for the person.
func Status(term *terminal.Terminal, tasks *app.Tasks) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "List what waits for you, in all projects that are known",
		Long: `Lists the runs that wait for your decision or answer, the one that changed last first, in
all projects in which a run was started, with the command that you type next.

` + terminal.ExitHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			here, err := tasks.Project()
			if err != nil {
				return err
			}
			rows, unreadable := []waitingRow{}, []string{}
			var working, doubted []string
			for _, folder := range tasks.Engine().Projects().List() {
				if _, gone := os.Stat(folder); gone != nil {
					continue
				}
				board, err := tasks.Engine().Board(cmd.Context(), project.Address{Cwd: folder}, engine.MaxBoard, term.Lang)
				if err != nil {
					board.Broken = []string{folder + ": " + lang.Of(err).In(term.Lang)}
				}
				unreadable = append(unreadable, board.Broken...)
				for _, r := range board.Rows {
					if !r.Found.Sound() {
						doubted = append(doubted, doubt(term, r, folder))
					}
					action := "decide"
					switch {
					case r.CurrentState.WaitsForHuman():
					case !r.CurrentState.Active():
						continue
					case r.Found.Sound():
						working = append(working, r.TaskName+" ("+filepath.Base(folder)+")")
						continue
					default:
						action = string(workflow.ActionAdopt)
					}
					command := "bmad-mcp " + action + " " + terminal.ShellWord(r.TaskName)
					if folder != here {
						command += " --cwd " + terminal.ShellWord(folder)
					}
					rows = append(rows, waitingRow{r.SessionID, r.TaskName, folder, r.CurrentStage, r.CurrentState, command, r.UpdatedAt})
				}
			}
			slices.SortStableFunc(rows, func(a, b waitingRow) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
			var table [][]string
			for _, r := range rows {
				table = append(table, []string{r.TaskName, filepath.Base(r.Project), string(r.Stage), term.Since(r.UpdatedAt), r.Command})
			}
			if !term.JSON {
				defer term.SayUnreadable(unreadable)
			}
			none := lang.T("Nothing waits for you. Start a run: bmad-mcp start \"what is to be built\"")
			if len(working) > 0 {
				none = lang.T("Nothing waits for you. The assistant has work to do in: %s.", terminal.JoinWords(working))
			}
			for _, line := range doubted {
				if !term.JSON {
					term.Say("%s\n", line)
				}
			}
			out := map[string]any{"waiting": rows, "unreadable": unreadable}
			if len(doubted) > 0 {
				out["doubted"] = doubted
			}
			return term.List(term.JSON, out, none, term.Header("TASK\tPROJECT\tSTAGE\tSINCE\tTYPE NEXT"), table)
		},
	}
}

// doubt says why a run cannot be relied on, and what shows it.
func doubt(term *terminal.Terminal, r engine.Row, folder string) string {
	problem := r.Found.In(term.Lang).Problem
	if r.Found.Changed() {
		return term.Lang.Say("%s (%s) was changed by other hands: %s. See: bmad-mcp log %s --verify", r.TaskName, filepath.Base(folder), problem, terminal.ShellWord(r.TaskName))
	}
	return term.Lang.Say("%s (%s) is not vouched for: %s. See: bmad-mcp log %s --verify", r.TaskName, filepath.Base(folder), problem, terminal.ShellWord(r.TaskName))
}
