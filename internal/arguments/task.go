package arguments

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TaskSchema is the schema of the arguments of bmad-task.
//
//go:embed task_schema.json
var TaskSchema []byte

// taskArguments are those of bmad-task, in the order in which they are read: action is first,
// because it decides which others are taken.
var taskArguments = []Argument[request.Request]{
	{Name: "action", Read: text(func(q *request.Request) *string { return (*string)(&q.Action) })},
	{Name: "session_id", Read: text(func(q *request.Request) *string { return &q.Session })},
	{Name: "objective", Read: text(func(q *request.Request) *string { return &q.Objective })},
	{Name: "workflow", Read: text(func(q *request.Request) *string { return &q.Workflow })},
	{Name: "task_name", Read: text(func(q *request.Request) *string { return &q.TaskName })},
	{Name: "cwd", Read: text(func(q *request.Request) *string { return &q.Cwd })},
	{Name: "stage", Read: text(func(q *request.Request) *string { return &q.Stage })},
	{Name: "claude_result", Read: result(workflow.Claude, func(r *request.Result) *string { return &r.Text })},
	{Name: "codex_result", Read: result(workflow.Codex, func(r *request.Result) *string { return &r.Text })},
	{Name: "claude_result_path", Read: result(workflow.Claude, func(r *request.Result) *string { return &r.Path })},
	{Name: "codex_result_path", Read: result(workflow.Codex, func(r *request.Result) *string { return &r.Path })},
	{Name: "sprints", Read: valueAs(lang.T("a list of whole numbers such as [1, 2]"), func(q *request.Request) *[]int { return &q.Sprints })},
	{Name: "answers", Read: valueAs(lang.T(`an object of question id and text such as {"q1": "…"}`), func(q *request.Request) *map[string]string { return &q.Answers })},
	{Name: "confirmed", Read: truth(func(q *request.Request) **bool { return &q.Yes }), Decides: true},
	{Name: "approved", Read: truth(func(q *request.Request) **bool { return &q.Yes }), Decides: true},
	{Name: "feedback", Read: text(func(q *request.Request) *string { return &q.Feedback })},
	{Name: "view", Read: text(func(q *request.Request) *string { return &q.View })},
	{Name: "wait", Read: valueAs(lang.T("a whole number of seconds such as 50"), func(q *request.Request) *int { return &q.Wait })},
	{Name: "revision", Read: readRevision},
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
var taskShape = ShapeOf(TaskSchema)

// Task reads the arguments of bmad-task. An error is one that the model can correct; the call then
// does nothing.
func Task(raw []byte) (request.Request, error) {
	return Set[request.Request]{
		Table: taskArguments, Schema: taskShape, Example: `{"action": "status"}`, fits: fitsAction,
		Missing: lang.T("pass one of: start, submit, answer, confirm, approve, status, resume, reopen, cancel"),
	}.Decode(raw)
}

// fitsAction refuses an argument that the action of a call does not take.
func fitsAction(q *request.Request, name string) error {
	if q.Action == "confirm_save" {
		q.Action = workflow.ActionConfirm
	}
	takes := func(name string) bool { return takenBy[name] == nil || slices.Contains(takenBy[name], q.Action) }
	if takes(name) || !slices.Contains(workflow.Actions(), q.Action) {
		return nil
	}
	var taken []string
	for _, a := range taskArguments {
		if a.Name != "action" && takes(a.Name) {
			taken = append(taken, a.Name)
		}
	}
	return fault.New(fault.InvalidArgument, "%s does not take %s", q.Action, name).
		WithHint("%s takes: %s", q.Action, strings.Join(taken, ", "))
}

func text(field func(*request.Request) *string) func(*request.Request, json.RawMessage) error {
	return func(q *request.Request, raw json.RawMessage) error { return Text(field(q), raw) }
}

func result(e workflow.Engine, field func(*request.Result) *string) func(*request.Request, json.RawMessage) error {
	return func(q *request.Request, raw json.RawMessage) error {
		i := slices.IndexFunc(q.Results, func(r request.Result) bool { return r.Engine == e })
		if i < 0 {
			q.Results = append(q.Results, request.Result{Engine: e})
			i = len(q.Results) - 1
		}
		if json.Unmarshal(raw, field(&q.Results[i])) != nil {
			return lang.Errorf("must be a text, not %s; a JSON document goes in as one text", Kind(raw))
		}
		return nil
	}
}

// truth is not left out by null: leaving it out would be a decision.
func truth(field func(*request.Request) **bool) func(*request.Request, json.RawMessage) error {
	return func(q *request.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil || *field(q) == nil {
			return lang.Errorf("must be true or false, not %s", Kind(raw))
		}
		return nil
	}
}

// valueAs reads an argument that has to be as want says.
func valueAs[V any](want lang.Text, field func(*request.Request) *V) func(*request.Request, json.RawMessage) error {
	return func(q *request.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil {
			return lang.Errorf("must be %s, not %s", want, Kind(raw))
		}
		return nil
	}
}

func readRevision(q *request.Request, raw json.RawMessage) error {
	if json.Unmarshal(raw, &q.Revision) != nil {
		return lang.Errorf("must be a whole number such as 4, not %.40s", raw)
	}
	return nil
}
