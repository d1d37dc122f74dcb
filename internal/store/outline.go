package store

import (
	"bytes"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// outline has the keys of a session for a list, and the keys that identify a session.
type outline struct {
	SessionID    string           `json:"session_id"`
	TaskName     string           `json:"task_name"`
	Objective    string           `json:"objective"`
	CurrentStage workflow.StageID `json:"current_stage"`
	CurrentState workflow.State   `json:"current_state"`
	Workflow     jsontext.Value   `json:"workflow"`
	CreatedAt    time.Time        `json:"created_at"`
	UpdatedAt    time.Time        `json:"updated_at"`
	Version      int              `json:"version"`
	Revision     int              `json:"revision"`
}

// DecodeSummary reads the summary for lists from the stored form, at a small part of the price of [Decode].
// All of the text has to be JSON; the records of stages and the history are not looked at. Every error
// comes from Decode.
func DecodeSummary(data []byte, path string) (workflow.Summary, error) {
	var o outline
	err := workflow.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &o)
	short := workflow.Summary{
		SessionID: o.SessionID, TaskName: o.TaskName, Objective: o.Objective,
		CurrentStage: o.CurrentStage, CurrentState: o.CurrentState,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, Revision: o.Revision,
		Position: workflow.PositionOf(stagesOf(o.Workflow), o.CurrentStage),
	}
	if err != nil || o.Version < 1 || o.Version > workflow.FormatVersion || short.Position.At == 0 || !canList(short) {
		s, err := Decode(data, path)
		if err != nil {
			return workflow.Summary{}, err
		}
		return s.Summary(), nil
	}
	return short, nil
}

// canList reports whether all values of a summary are valid for a session, so a list can show them
// unchanged.
func canList(s workflow.Summary) bool {
	id, ok := ParseID(s.SessionID)
	return ok && id == s.SessionID && artifact.IsName(s.TaskName) && artifact.IsName(string(s.CurrentStage)) &&
		slices.Contains(workflow.States(), s.CurrentState) && s.Revision >= 0 && s.Revision <= maxCount
}

// maxWorkflows bounds the remembered definitions.
const maxWorkflows = 100

// maxStored bounds the length of a definition read for a list.
const maxStored = 8 * workflow.MaxDefinition

// checked has the stages of each checked definition, by the definition's JSON: most sessions have one of a
// few.
var checked = recent.New[string, []workflow.Stage](maxWorkflows)

// stagesOf returns the stages of the definition in a session; none if it is not valid.
func stagesOf(definition jsontext.Value) []workflow.Stage {
	if known, ok := checked.Get(string(definition)); ok {
		return known
	}
	var s workflow.Session
	if len(definition) > maxStored {
		return nil // Decode judges it
	}
	if definition != nil && workflow.Unmarshal(definition, &s.Workflow) != nil {
		return nil
	}
	if s.Workflow != nil && s.Workflow.Check() != nil {
		return nil
	}
	stages := s.Definition().Stages
	checked.Put(string(definition), stages)
	return stages
}
