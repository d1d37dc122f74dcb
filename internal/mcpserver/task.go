package mcpserver

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	//go:embed task_description.md
	taskDescription string
	//go:embed task_schema.json
	taskSchema []byte
)

// TaskTool is the name of the workflow tool.
const TaskTool = "bmad-task"

// tasks serves the tools of the workflow.
type tasks struct {
	engine  *engine.Engine
	callers *callers
	metrics *metrics
	// changed is called when an action may have changed something.
	changed func()
	log     *slog.Logger
}

func (t tasks) task(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	req, err := decodeTask(rawArguments(call))
	if err != nil {
		return refuse(err), nil
	}
	who := t.callers.request(ctx)
	req.By, req.Client, req.Tell = who.By, who.Client, telling(ctx, call)
	req.Via, req.HostConfirm = workflow.ChannelRelayed, t.callers.hostConfirms(ctx)
	channel := t.callers.channel(ctx, call)
	if channel != nil && channel.lost && req.Action == workflow.ActionSubmit {
		// The submission was taken before its questions were asked: it must not be taken twice.
		req = engine.Request{Action: workflow.ActionStatus, SessionID: req.SessionID, Cwd: req.Cwd, By: req.By, Client: req.Client, Via: req.Via, HostConfirm: req.HostConfirm}
	}
	if channel != nil {
		req.Ask, req.Forms, req.NoForms = channel, true, channel.silent()
	}
	if f := channel.form(); f != nil {
		// The form determines the subject of the call; its arguments could be another's.
		req.SessionID, req.Cwd, req.Revision = f.bound.SessionID, f.cwd, &f.bound.Revision
		if f.bound.Action == workflow.ActionAnswer {
			// The call may be the submission that raised the questions: it was taken.
			req = engine.Request{
				Action: workflow.ActionAnswer, SessionID: req.SessionID, Cwd: req.Cwd, Revision: req.Revision,
				By: req.By, Client: req.Client, Via: req.Via, HostConfirm: req.HostConfirm, Ask: req.Ask, Forms: true, NoForms: req.NoForms, Answers: req.Answers,
			}
		}
		if channel.seen() {
			req.Via = "" // whatever the call says, the person has decided
		}
	}
	if req.Via != "" && t.blind(ctx, req) {
		return refuse(fault.New(fault.InvalidArgument, "revision is missing").
			WithHint("pass the revision of the reply that the human has seen, as next_call has it: over this connection nothing else says which draft is meant")), nil
	}
	if ask := t.callers.place(ctx, call, &req); ask != nil {
		return ask, nil
	}
	return t.do(ctx, req, channel), nil
}

// blind reports whether a call would accept any draft that waits, and nothing shows which one its
// caller has seen: modern clients have no sessions over HTTP.
func (t tasks) blind(ctx context.Context, req engine.Request) bool {
	if !t.callers.places.Remote || !mcpwire.Modern(ctx) || req.Revision != nil || req.Ask != nil && req.Confirmed == nil && req.Approved == nil {
		return false
	}
	switch req.Action {
	case workflow.ActionConfirm:
		return req.Confirmed == nil || *req.Confirmed
	case workflow.ActionApprove:
		return req.Approved != nil && *req.Approved
	}
	return false
}

// do runs an action and returns its result: the reply, the refusal, or the question on
// its way to the person.
func (t tasks) do(ctx context.Context, req engine.Request, channel *formChannel) *mcp.CallToolResult {
	began := t.engine.Clock()
	reply, err := t.engine.Do(ctx, req)
	t.metrics.count(req.Action, t.engine.Clock().Sub(began), outcome(err))
	switch {
	case errors.Is(err, engine.ErrAsked) && channel != nil && channel.asking != nil:
		t.log.Info("asked", "action", req.Action, "session", req.SessionID)
		return channel.asking
	case err != nil:
		t.log.Info("refused", "action", req.Action, "session", req.SessionID, "error", err)
		return refuse(err)
	}
	t.changed()
	t.log.Info("done", "action", req.Action, "session", reply.SessionID, "stage", reply.Stage, "state", reply.State)
	return success(reply)
}

func success(reply *engine.Reply) *mcp.CallToolResult {
	data, err := reply.Encode()
	if err != nil {
		return refuse(err)
	}
	return mcp.NewToolResultText(string(data))
}

// telling returns a function that passes an action's notices on to the client: as progress, if
// the call asks for that, and as log messages at level info, which are sent only to clients that
// want that level.
func telling(ctx context.Context, call mcp.CallToolRequest) func(engine.Notice) {
	var token mcp.ProgressToken
	if call.Params.Meta != nil {
		token = call.Params.Meta.ProgressToken
	}
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return nil
	}
	var mu sync.Mutex
	last := -1.0
	return func(n engine.Notice) {
		mu.Lock()
		defer mu.Unlock()
		// The work goes on where a client takes no notification.
		_ = srv.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "bmad-mcp", n.Message))
		if token == nil {
			return
		}
		// The protocol wants it to grow each time; a clock may stand still.
		progress := max(n.Elapsed.Seconds(), math.Nextafter(last, math.MaxFloat64))
		last = progress
		params := map[string]any{"progressToken": token, "progress": progress, "message": n.Message}
		if n.Limit > 0 {
			params["total"] = max(n.Limit.Seconds(), progress)
		}
		_ = mcpwire.SendProgress(ctx, params)
	}
}

// taskArguments are those of bmad-task, in the order in which they are read: action is first,
// because it decides which others are taken.
var taskArguments = []argument[engine.Request]{
	{name: "action", text: func(q *engine.Request) *string { return (*string)(&q.Action) },
		missing: "pass one of: start, submit, answer, confirm, approve, status, resume, reopen, cancel"},
	{name: "session_id", text: func(q *engine.Request) *string { return &q.SessionID }},
	{name: "objective", text: func(q *engine.Request) *string { return &q.Objective }},
	{name: "cwd", text: func(q *engine.Request) *string { return &q.Cwd }},
	{name: "stage", text: func(q *engine.Request) *string { return &q.Stage }},
	{name: "claude_result", read: result(workflow.Claude, func(r *engine.Result) *string { return &r.Text })},
	{name: "codex_result", read: result(workflow.Codex, func(r *engine.Result) *string { return &r.Text })},
	{name: "claude_result_path", read: result(workflow.Claude, func(r *engine.Result) *string { return &r.Path })},
	{name: "codex_result_path", read: result(workflow.Codex, func(r *engine.Result) *string { return &r.Path })},
	{name: "sprints", read: valueAs("a list of whole numbers such as [1, 2]", func(q *engine.Request) *[]int { return &q.Sprints })},
	{name: "answers", read: valueAs(`an object of question id and text such as {"q1": "…"}`, func(q *engine.Request) *map[string]string { return &q.Answers })},
	{name: "confirmed", read: truth(func(q *engine.Request) **bool { return &q.Confirmed }), decides: true},
	{name: "approved", read: truth(func(q *engine.Request) **bool { return &q.Approved }), decides: true},
	{name: "feedback", text: func(q *engine.Request) *string { return &q.Feedback }},
	{name: "view", text: func(q *engine.Request) *string { return &q.View }},
	{name: "revision", read: readRevision},
}

var (
	submits = []workflow.Action{workflow.ActionSubmit}
	leaves  = []workflow.Action{workflow.ActionConfirm, workflow.ActionApprove, workflow.ActionReopen, workflow.ActionCancel}
)

// takenBy has the actions that take an argument; all others are taken by every action.
var takenBy = map[string][]workflow.Action{
	"objective":          {workflow.ActionStart},
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
	"revision":           append([]workflow.Action{workflow.ActionSubmit, workflow.ActionAnswer}, leaves...),
}

// decodeTask reads the arguments of bmad-task.
func decodeTask(raw []byte) (engine.Request, error) {
	return arguments[engine.Request]{table: taskArguments, example: `{"action": "status"}`, fits: fitsAction}.decode(raw)
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
			return fmt.Errorf("must be a text, not %s; a JSON document goes in as one text", kind(raw))
		}
		return nil
	}
}

// truth is not left out by null: leaving it out would be a decision.
func truth(field func(*engine.Request) **bool) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil || *field(q) == nil {
			return fmt.Errorf("must be true or false, not %s", kind(raw))
		}
		return nil
	}
}

// valueAs reads an argument that has to be as want says.
func valueAs[V any](want string, field func(*engine.Request) *V) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil {
			return fmt.Errorf("must be %s, not %s", want, kind(raw))
		}
		return nil
	}
}

func readRevision(q *engine.Request, raw json.RawMessage) error {
	if json.Unmarshal(raw, &q.Revision) != nil {
		return fmt.Errorf("must be a whole number such as 4, not %.40s", raw)
	}
	return nil
}
