package mcpserver

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
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

func taskTool() mcp.Tool {
	return newTool(TaskTool, "BMAD workflow", taskDescription, taskSchema, map[string]any{})
}

// newTool describes a tool that changes files of the project and nothing else.
func newTool(name, title, description string, schema []byte, meta map[string]any) mcp.Tool {
	tool := mcp.NewToolWithRawSchema(name, strings.TrimSpace(description), schema)
	tool.Title, tool.Icons = title, icons()
	tool.Annotations = mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    mcp.ToBoolPtr(false),
		DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint:  mcp.ToBoolPtr(false),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
	// Claude Code otherwise shows the model only the tool's name.
	meta["anthropic/alwaysLoad"] = true
	tool.Meta = mcp.NewMetaFromMap(meta)
	return tool
}

func (s *Server) handleTask(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	req, err := decodeTask(rawArguments(call))
	if err != nil {
		return failure(err), nil
	}
	req.By, req.Via, req.HostConfirm = caller(ctx), workflow.ChannelRelayed, s.hostConfirms(ctx)
	req.Tell, req.Client = s.telling(ctx, call), s.client(ctx)
	channel := s.formChannel(ctx, call)
	if channel != nil && channel.lost && req.Action == workflow.ActionSubmit {
		// The submission was taken before its questions were asked: it must not be taken twice.
		req = engine.Request{Action: workflow.ActionStatus, SessionID: req.SessionID, Cwd: req.Cwd, By: req.By, Client: req.Client, Via: req.Via, HostConfirm: req.HostConfirm}
	}
	if channel != nil {
		req.Ask, req.Forms, req.NoForms = channel, true, s.forms.isSilent(channel.client)
	}
	if f := channel.form(); f != nil {
		// The form says what the call is about; its arguments could be another's.
		req.SessionID, req.Cwd, req.Revision = f.bound.SessionID, f.cwd, &f.bound.Revision
		if f.bound.Action == workflow.ActionAnswer {
			// The call may be the submission that raised the questions: it was taken.
			req = engine.Request{
				Action: workflow.ActionAnswer, SessionID: req.SessionID, Cwd: req.Cwd, Revision: req.Revision,
				By: req.By, Client: req.Client, Via: req.Via, HostConfirm: req.HostConfirm, Ask: req.Ask, Forms: true, NoForms: req.NoForms, Answers: req.Answers,
			}
		}
		if channel.seen() {
			req.Via = "" // whatever the call says, the person has had their say
		}
	}
	if req.Via != "" && s.blind(ctx, req) {
		return failure(fault.New(fault.InvalidArgument, "revision is missing").
			WithHint("pass the revision of the reply that the human has seen, as next_call has it: over this connection nothing else says which draft is meant")), nil
	}
	if ask := s.place(ctx, call, &req); ask != nil {
		return ask, nil
	}
	return s.do(ctx, req, channel), nil
}

// blind reports whether a call says yes to whatever waits, and it cannot be told what its
// caller has seen: clients of protocol 2026-07-28 have no sessions over HTTP.
func (s *Server) blind(ctx context.Context, req engine.Request) bool {
	if !s.places.Remote || !mcpwire.Modern(ctx) || req.Revision != nil || req.Ask != nil && req.Confirmed == nil && req.Approved == nil {
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
func (s *Server) do(ctx context.Context, req engine.Request, channel *formChannel) *mcp.CallToolResult {
	began := s.engine.Clock()
	reply, err := s.engine.Do(ctx, req)
	took := s.engine.Clock().Sub(began)
	if errors.Is(err, engine.ErrAsked) {
		s.metrics.count(req.Action, took, "asked")
	} else {
		s.metrics.count(req.Action, took, outcome(err))
	}
	switch {
	case errors.Is(err, engine.ErrAsked) && channel != nil && channel.asking != nil:
		s.log.Info("asked", "action", req.Action, "session", req.SessionID)
		return channel.asking
	case err != nil:
		s.log.Info("refused", "action", req.Action, "session", req.SessionID, "error", err)
		return failure(err)
	}
	s.feed.Poke()
	s.log.Info("done", "action", req.Action, "session", reply.SessionID, "stage", reply.Stage, "state", reply.State)
	return success(reply)
}

func rawArguments(call mcp.CallToolRequest) []byte {
	if raw, ok := call.GetRawArguments().(json.RawMessage); ok {
		return raw
	}
	data, err := json.Marshal(call.Params.Arguments)
	if err != nil {
		return nil
	}
	return data
}

func success(reply *engine.Reply) *mcp.CallToolResult {
	data, err := reply.Encode()
	if err != nil {
		return failure(err)
	}
	return mcp.NewToolResultText(string(data))
}

// Failure is the JSON of a refused action.
type Failure struct {
	Status    string     `json:"status"` // always "failed"
	Code      fault.Code `json:"code"`
	Error     string     `json:"error"`
	Hint      string     `json:"hint"`
	Allowed   []string   `json:"allowed_actions"`
	SessionID string     `json:"session_id,omitempty"`
	// Stage, State and Revision say where the session stands that was found.
	Stage    string `json:"current_stage,omitempty"`
	State    string `json:"current_state,omitempty"`
	Revision int    `json:"revision,omitempty"`
	// NextCall is the call that mends it, where there is one.
	NextCall map[string]any `json:"next_call,omitempty"`
}

// NewFailure describes an error.
func NewFailure(err error) Failure {
	f := fault.From(err)
	out := Failure{Status: "failed", Code: f.Code, Error: clip(f.Message), Hint: clip(f.Hint), Allowed: f.Allowed, SessionID: f.SessionID,
		Stage: f.Stage, State: f.State, Revision: f.Revision, NextCall: f.NextCall}
	if out.Allowed == nil {
		out.Allowed = []string{}
	}
	return out
}

// clip bounds a text that may repeat what the caller sent.
func clip(s string) string { return visible.Clip(s, 2000) }

func failure(err error) *mcp.CallToolResult {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if encErr := enc.Encode(NewFailure(err)); encErr != nil {
		return mcp.NewToolResultError(err.Error())
	}
	return mcp.NewToolResultError(strings.TrimSpace(buf.String()))
}
