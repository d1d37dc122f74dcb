package mcpserver

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestDecidedSince finds the last act of a person, once the run does not wait for another.
func TestDecidedSince(t *testing.T) {
	history := []workflow.Transition{{Action: workflow.ActionStart}, {Action: workflow.ActionSubmit}, {Action: workflow.ActionConfirm}}
	for _, c := range []struct {
		name    string
		state   workflow.State
		more    []workflow.Action
		entries int
		want    workflow.Action
	}{
		{"a decision", workflow.Generating, nil, 2, workflow.ActionConfirm},
		{"already seen", workflow.Generating, nil, 3, ""},
		{"before work of others", workflow.Generating, []workflow.Action{workflow.ActionSubmit}, 2, workflow.ActionConfirm},
		{"work of others", workflow.Generating, []workflow.Action{workflow.ActionSubmit}, 3, ""},
		{"two decisions", workflow.Generating, []workflow.Action{workflow.ActionReopen}, 2, workflow.ActionReopen},
		{"waiting again", workflow.AwaitingConfirmation, []workflow.Action{workflow.ActionSubmit}, 2, ""},
		{"one of two yeses", workflow.AwaitingConfirmation, nil, 2, ""},
		{"the end", workflow.Completed, []workflow.Action{workflow.ActionApprove}, 3, workflow.ActionApprove},
		{"an older session", workflow.Generating, nil, 9, ""},
	} {
		s := &workflow.Session{CurrentState: c.state}
		s.History = append(s.History, history...)
		for _, a := range c.more {
			s.History = append(s.History, workflow.Transition{Action: a})
		}
		if got := decidedSince(s, c.entries); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
