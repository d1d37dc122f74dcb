package request

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TaskSchema is the schema of the arguments of bmad-task.
//
//go:embed task_schema.json
var TaskSchema []byte

var (
	starts  = []workflow.Action{workflow.ActionStart}
	submits = []workflow.Action{workflow.ActionSubmit}
	looks   = []workflow.Action{workflow.ActionStatus}
	leaves  = []workflow.Action{
		workflow.ActionConfirm, workflow.ActionApprove, workflow.ActionReopen, workflow.ActionCancel,
	}
)

// taskArguments are the arguments of bmad-task, in the order of reading: action is first, because the others
// depend on it.
var taskArguments = []Argument[Request]{
	{Name: "action", Read: textField(func(q *Request) *string { return (*string)(&q.Action) })},
	{Name: "session_id", Read: textField(func(q *Request) *string { return &q.Session })},
	{Name: "objective", By: starts, Read: textField(func(q *Request) *string { return &q.Objective })},
	{Name: "workflow", By: starts, Read: textField(func(q *Request) *string { return &q.Workflow })},
	{Name: "task_name", By: starts, Read: textField(func(q *Request) *string { return &q.TaskName })},
	{Name: "cwd", Read: textField(func(q *Request) *string { return &q.Cwd })},
	{Name: "stage", Read: textField(func(q *Request) *string { return &q.Stage })},
	{Name: "claude_result", By: submits,
		Read: resultField(workflow.Claude, ReadDocument, func(r *Result) *string { return &r.Text })},
	{Name: "codex_result", By: submits,
		Read: resultField(workflow.Codex, ReadDocument, func(r *Result) *string { return &r.Text })},
	{Name: "claude_result_path", By: submits,
		Read: resultField(workflow.Claude, ReadText, func(r *Result) *string { return &r.Path })},
	{Name: "codex_result_path", By: submits,
		Read: resultField(workflow.Codex, ReadText, func(r *Result) *string { return &r.Path })},
	{Name: "sprints", By: submits,
		Read: valueAs(lang.T("a list of whole numbers such as [1, 2]"), func(q *Request) *[]int { return &q.Sprints })},
	{Name: "answers", By: []workflow.Action{workflow.ActionAnswer},
		Read: valueAs(lang.T(`an object of question id and text such as {"q1": "…"}`),
			func(q *Request) *map[string]string { return &q.Answers })},
	{Name: "confirmed", By: []workflow.Action{workflow.ActionConfirm},
		Read: boolField(func(q *Request) **bool { return &q.Yes }), Decides: true},
	{Name: "approved", By: []workflow.Action{workflow.ActionApprove},
		Read: boolField(func(q *Request) **bool { return &q.Yes }), Decides: true},
	{Name: "feedback", By: leaves, Read: textField(func(q *Request) *string { return &q.Feedback })},
	{Name: "view", By: looks, Read: textField(func(q *Request) *string { return &q.View })},
	{Name: "wait", By: looks,
		Read: valueAs(lang.T("a whole number of seconds such as 50"), func(q *Request) *int { return &q.Wait })},
	{Name: "revision", By: append([]workflow.Action{workflow.ActionSubmit, workflow.ActionAnswer}, leaves...),
		Read: readRevision},
}

// taskShape is the shape of the arguments of bmad-task.
var taskShape = ShapeOf(TaskSchema)

// Parse reads the arguments of bmad-task. The model can correct every error; the call then does nothing.
func Parse(raw []byte) (Request, error) {
	return Arguments[Request]{
		Table: taskArguments, Schema: taskShape, Example: `{"action": "status"}`, fits: fitsAction,
		Missing: lang.T("pass one of: start, submit, answer, confirm, approve, status, resume, reopen, cancel"),
	}.Decode(raw)
}

// fitsAction refuses an argument foreign to the action of the call.
func fitsAction(q *Request, given Argument[Request]) error {
	if q.Action == "confirm_save" {
		q.Action = workflow.ActionConfirm
	}
	takes := func(a Argument[Request]) bool { return a.By == nil || slices.Contains(a.By, q.Action) }
	if takes(given) || !slices.Contains(workflow.Actions(), q.Action) {
		return nil
	}
	var taken []string
	for _, a := range taskArguments {
		if a.Name != "action" && takes(a) {
			taken = append(taken, a.Name)
		}
	}
	return fault.New(fault.InvalidArgument, "%s does not take %s", q.Action, given.Name).
		WithHint("%s takes: %s", q.Action, strings.Join(taken, ", "))
}

func textField(field func(*Request) *string) func(*Request, json.RawMessage) error {
	return func(q *Request, raw json.RawMessage) error { return ReadText(field(q), raw) }
}

func resultField(
	e workflow.Engine, read func(*string, json.RawMessage) error, field func(*Result) *string,
) func(*Request, json.RawMessage) error {
	return func(q *Request, raw json.RawMessage) error {
		i := slices.IndexFunc(q.Results, func(r Result) bool { return r.Engine == e })
		if i < 0 {
			q.Results = append(q.Results, Result{Engine: e})
			i = len(q.Results) - 1
		}
		return read(field(&q.Results[i]), raw)
	}
}

// boolField is not left out by null: leaving it out would be a decision.
func boolField(field func(*Request) **bool) func(*Request, json.RawMessage) error {
	return func(q *Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil || *field(q) == nil {
			return lang.Errorf("must be true or false, not %s", kindOf(raw))
		}
		return nil
	}
}

// valueAs reads an argument of the form named by want.
func valueAs[V any](want lang.Text, field func(*Request) *V) func(*Request, json.RawMessage) error {
	return func(q *Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil {
			return lang.Errorf("must be %s, not %s", want, kindOf(raw))
		}
		return nil
	}
}

func readRevision(q *Request, raw json.RawMessage) error {
	if json.Unmarshal(raw, &q.Revision) != nil {
		return lang.Errorf("must be a whole number such as 4, not %.40s", raw)
	}
	return nil
}
