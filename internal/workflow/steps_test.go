package workflow_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestStepsWait measures how long a session waited for a person: from the move before their
// decision, notes left out, and never less than nothing.
func TestStepsWait(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entry := func(after time.Duration, action workflow.Action, event workflow.Event) workflow.Transition {
		return workflow.Transition{At: at.Add(after), Action: action, Event: event}
	}
	s := &workflow.Session{History: []workflow.Transition{
		entry(0, workflow.ActionStart, workflow.EventStarted),
		entry(time.Minute, workflow.ActionSubmit, workflow.EventScoredReady),
		entry(2*time.Minute, workflow.ActionConfirm, workflow.EventPolicyChanged),
		entry(4*time.Minute, workflow.ActionConfirm, workflow.EventConfirmed),
		entry(5*time.Minute, workflow.ActionSubmit, workflow.EventQuestioned),
		entry(3*time.Minute, workflow.ActionAnswer, workflow.EventAnswered), // the clock was set back
	}}
	s.History[3].Grant = &workflow.Grant{Decision: workflow.DecisionApprove}
	s.History[5].Grant = &workflow.Grant{Decision: workflow.DecisionAnswer}
	zero, three := time.Duration(0), 3*time.Minute
	steps := s.Steps(workflow.Verification{Unvouched: []workflow.Span{{From: 4, To: 4}}})
	for i, want := range []*time.Duration{nil, nil, nil, &three, nil, &zero} {
		if got := steps[i].Waited; (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("entry %d waited %v, want %v", i+1, got, want)
		}
		if got, want := steps[i].Unvouched, i == 3; got != want {
			t.Errorf("entry %d is unvouched: got %v, want %v", i+1, got, want)
		}
	}
	for i, want := range map[int]map[string]any{3: {"unvouched": true, "waited_seconds": 180.0}, 5: {"waited_seconds": 0.0}, 1: {}} {
		data, err := json.Marshal(steps[i])
		var got map[string]any
		if err == nil {
			err = json.Unmarshal(data, &got)
		}
		if err != nil || got["unvouched"] != want["unvouched"] || got["waited_seconds"] != want["waited_seconds"] || got["action"] != string(s.History[i].Action) {
			t.Errorf("entry %d is %s, %v; want %v", i+1, data, err, want)
		}
	}
}
