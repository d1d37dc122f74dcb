package look

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// sessionRow is a run in the JSON of `status --all`.
type sessionRow struct {
	SessionID string           `json:"session_id"`
	TaskName  string           `json:"task_name"`
	Stage     workflow.StageID `json:"stage"`
	State     workflow.State   `json:"state"`
	Objective string           `json:"objective"`
	CreatedAt time.Time        `json:"created_at"`
	UpdatedAt time.Time        `json:"updated_at"`
	// Integrity is "changed" for a session changed by other hands, "partly" for one with entries that do not
	// count, else empty.
	Integrity workflow.ChainStatus `json:"integrity,omitempty"`
	// Altered are the approved texts that are not as they were approved.
	Altered []workflow.Alteration `json:"altered,omitempty"`
}

// listRuns lists all runs of the project, the oldest first.
func listRuns(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks) error {
	dir, err := tasks.Project()
	if err != nil {
		return err
	}
	at := project.Address{Cwd: dir}
	sessions, unreadable, cwd, err := tasks.Engine().Sessions(ctx, at)
	if err != nil {
		return err
	}
	changed, err := tasks.Engine().Changed(ctx, at, sessions, false)
	if err != nil {
		return err
	}
	if term.JSON {
		rows := make([]sessionRow, len(sessions))
		for i, s := range sessions {
			v := changed[s.SessionID]
			rows[i] = sessionRow{s.SessionID, s.TaskName, s.CurrentStage, s.CurrentState, s.Objective, s.CreatedAt, s.UpdatedAt, "", v.Altered}
			if !v.Sound() {
				rows[i].Integrity = v.Status
			}
		}
		return term.PrintJSON(map[string]any{"cwd": cwd, "sessions": rows, "unreadable": append([]string{}, unreadable...)})
	}
	if len(sessions)+len(unreadable) == 0 {
		term.Say("%s has no runs. Start one: bmad-mcp start \"what is to be built\"", cwd)
		return nil
	}
	rows := [][]string{term.Header("RUN\tSTAGE\tSTATE\tCHANGED\tID\tOBJECTIVE")}
	for _, s := range sessions {
		rows = append(rows, []string{
			s.TaskName, string(s.CurrentStage), string(s.CurrentState), term.When(s.UpdatedAt, "2006-01-02 15:04"),
			s.SessionID, visible.Cut(visible.Line(s.Objective), 48, "…"),
		})
	}
	if err := term.Columns(rows[0], rows[1:]); err != nil {
		return err
	}
	for _, s := range sessions {
		for _, line := range doubts(term.Lang, s.TaskName, changed[s.SessionID]) {
			term.Say("%s", line)
		}
	}
	term.SayUnreadable(unreadable)
	return nil
}
