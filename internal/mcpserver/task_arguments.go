package mcpserver

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

//go:embed task_schema.json
var taskSchema []byte

// taskArguments are those of bmad-task, in the order in which they are read: action is first,
// because it decides which others are taken.
var taskArguments = []argument[engine.Request]{
	{name: "action", text: func(q *engine.Request) *string { return (*string)(&q.Action) },
		missing: lang.T("pass one of: start, submit, answer, confirm, approve, status, resume, reopen, cancel")},
	{name: "session_id", text: func(q *engine.Request) *string { return &q.SessionID }},
	{name: "objective", text: func(q *engine.Request) *string { return &q.Objective }},
	{name: "workflow", text: func(q *engine.Request) *string { return &q.Workflow }},
	{name: "task_name", text: func(q *engine.Request) *string { return &q.TaskName }},
	{name: "cwd", text: func(q *engine.Request) *string { return &q.Cwd }},
	{name: "stage", text: func(q *engine.Request) *string { return &q.Stage }},
	{name: "claude_result", read: result(workflow.Claude, func(r *engine.Result) *string { return &r.Text })},
	{name: "codex_result", read: result(workflow.Codex, func(r *engine.Result) *string { return &r.Text })},
	{name: "claude_result_path", read: result(workflow.Claude, func(r *engine.Result) *string { return &r.Path })},
	{name: "codex_result_path", read: result(workflow.Codex, func(r *engine.Result) *string { return &r.Path })},
	{name: "sprints", read: valueAs(lang.T("a list of whole numbers such as [1, 2]"), func(q *engine.Request) *[]int { return &q.Sprints })},
	{name: "answers", read: valueAs(lang.T(`an object of question id and text such as {"q1": "…"}`), func(q *engine.Request) *map[string]string { return &q.Answers })},
	{name: "confirmed", read: truth(func(q *engine.Request) **bool { return &q.Confirmed }), decides: true},
	{name: "approved", read: truth(func(q *engine.Request) **bool { return &q.Approved }), decides: true},
	{name: "feedback", text: func(q *engine.Request) *string { return &q.Feedback }},
	{name: "view", text: func(q *engine.Request) *string { return &q.View }},
	{name: "wait", read: valueAs(lang.T("a whole number of seconds such as 50"), func(q *engine.Request) *int { return &q.Wait })},
	{name: "revision", read: readRevision},
}

var (
	submits = []workflow.Action{workflow.ActionSubmit}
	leaves  = []workflow.Action{workflow.ActionConfirm, workflow.ActionApprove, workflow.ActionReopen, workflow.ActionCancel}
)

// takenBy has the actions that take an argument; all others are taken by every action.
var takenBy = map[string][]workflow.Action{
	"objective":          {workflow.ActionStart},
	"workflow":           {workflow.ActionStart},
	"task_name":          {workflow.ActionStart},
	"claude_result":      submits,
	"codex_result":       submits,
	"claude_result_path": submits,
	"codex_result_path":  submits,
	"sprints":            submits,
	"answers":            {workflow.ActionAnswer},
	"confirmed":          {workflow.ActionConfirm},
	"approved":           {workflow.ActionApprove},
	"feedback":           leaves,
	"view":               {workflow.ActionStatus},
	"wait":               {workflow.ActionStatus},
	"revision":           append([]workflow.Action{workflow.ActionSubmit, workflow.ActionAnswer}, leaves...),
}

// taskShape is the shape of the arguments of bmad-task.
var taskShape = shapeOf(taskSchema)

// decodeTask reads the arguments of bmad-task.
func decodeTask(raw []byte) (engine.Request, error) {
	return arguments[engine.Request]{table: taskArguments, schema: taskShape, example: `{"action": "status"}`, fits: fitsAction}.decode(raw)
}

// fitsAction refuses an argument that the action of a call does not take.
func fitsAction(q *engine.Request, name string) error {
	if q.Action == "confirm_save" {
		q.Action = workflow.ActionConfirm
	}
	takes := func(name string) bool { return takenBy[name] == nil || slices.Contains(takenBy[name], q.Action) }
	if takes(name) || !slices.Contains(workflow.Actions(), q.Action) {
		return nil
	}
	var taken []string
	for _, a := range taskArguments {
		if a.name != "action" && takes(a.name) {
			taken = append(taken, a.name)
		}
	}
	return fault.New(fault.InvalidArgument, "%s does not take %s", q.Action, name).
		WithHint("%s takes: %s", q.Action, strings.Join(taken, ", "))
}

func result(e workflow.Engine, field func(*engine.Result) *string) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		i := slices.IndexFunc(q.Results, func(r engine.Result) bool { return r.Engine == e })
		if i < 0 {
			q.Results = append(q.Results, engine.Result{Engine: e})
			i = len(q.Results) - 1
		}
		if json.Unmarshal(raw, field(&q.Results[i])) != nil {
			return lang.Errorf("must be a text, not %s; a JSON document goes in as one text", kind(raw))
		}
		return nil
	}
}

// truth is not left out by null: leaving it out would be a decision.
func truth(field func(*engine.Request) **bool) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil || *field(q) == nil {
			return lang.Errorf("must be true or false, not %s", kind(raw))
		}
		return nil
	}
}

// valueAs reads an argument that has to be as want says.
func valueAs[V any](want lang.Text, field func(*engine.Request) *V) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil {
			return lang.Errorf("must be %s, not %s", want, kind(raw))
		}
		return nil
	}
}

func readRevision(q *engine.Request, raw json.RawMessage) error {
	if json.Unmarshal(raw, &q.Revision) != nil {
		return lang.Errorf("must be a whole number such as 4, not %.40s", raw)
	}
	return nil
}
