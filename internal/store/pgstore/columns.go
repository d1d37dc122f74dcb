package pgstore

import (
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// stamp is the form of a time in a column: it sorts, and loses nothing.
const stamp = "2006-01-02T15:04:05.000000000Z"

func formatTime(t time.Time) string { return t.UTC().Format(stamp) }

// columns are the columns of a session taken from the body, for lists.
type columns struct {
	name             string
	objective        []byte
	stage, state     string
	active           bool
	created, updated string
	revision         int
}

func columnsOf(s *workflow.Summary) columns {
	return columns{s.TaskName, []byte(s.Objective), string(s.CurrentStage), string(s.CurrentState), s.CurrentState.Active(),
		formatTime(s.CreatedAt), formatTime(s.UpdatedAt), s.Revision}
}

// differencesTo names the columns with another value than the body.
func (c columns) differencesTo(body columns) (names []string) {
	for _, column := range []struct {
		name string
		same bool
	}{
		{"task_name", c.name == body.name}, {"objective", string(c.objective) == string(body.objective)},
		{"stage", c.stage == body.stage}, {"state", c.state == body.state}, {"active", c.active == body.active},
		{"created_at", c.created == body.created}, {"updated_at", c.updated == body.updated}, {"revision", c.revision == body.revision},
	} {
		if !column.same {
			names = append(names, column.name)
		}
	}
	return names
}

// columnsError returns the error for a row whose columns contradict the session.
func columnsError(id, name string, wrong []string) error {
	return fault.New(fault.Conflict, "the store lists run %s, whose task name is %q, with other values than it has: %s", id, name, strings.Join(wrong, ", ")).
		WithHint("somebody has changed its row: name the run by its id; its next change writes the row anew")
}

// checkSessionID checks that a row holds the session with the id.
func checkSessionID(found, id string) error {
	if strings.EqualFold(found, id) {
		return nil
	}
	return fault.New(fault.Storage, "the store has another run under the id %s: %q", id, found).
		WithHint("somebody has changed the row: restore it from a backup of the database; other runs are not affected")
}

// nameTaken returns the error for a session whose task name is taken.
func nameTaken(name string) error {
	return fault.New(fault.Conflict, "another run has the task name %q", name).
		WithHint("if somebody has changed a row, bmad-mcp store --check names it")
}
