package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
)

// Failure is the JSON of a refused action.
type Failure struct {
	Status    string     `json:"status"` // always "failed"
	Code      fault.Code `json:"code"`
	Error     string     `json:"error"`
	Hint      string     `json:"hint"`
	Allowed   []string   `json:"allowed_actions"`
	SessionID string     `json:"session_id,omitempty"`
	// Stage, State and Revision describe the session of the call, if one was found.
	Stage    string `json:"current_stage,omitempty"`
	State    string `json:"current_state,omitempty"`
	Revision int    `json:"revision,omitempty"`
	// NextCall is a call that fixes the problem, if there is one.
	NextCall map[string]any `json:"next_call,omitempty"`
}

// NewFailure describes an error in the error's language.
func NewFailure(err error) Failure {
	f := fault.From(err)
	out := Failure{Status: "failed", Code: f.Code, Error: clipText(f.Message), Hint: clipText(f.Hint), Allowed: f.Allowed, SessionID: f.SessionID,
		Stage: f.Stage, State: f.State, Revision: f.Revision, NextCall: f.NextCall}
	if out.Allowed == nil {
		out.Allowed = []string{}
	}
	return out
}

// protocolError returns the JSON-RPC error of a refused request, in the language of the person behind the
// request. key names the subject in the data.
func (c *callers) protocolError(ctx context.Context, req request.Request, err error, key, subject string) mcpwire.Error {
	f := c.engine.Translated(ctx, req, err)
	hint := clipText(f.Hint)
	data := map[string]any{key: subject, "code": f.Code, "hint": hint}
	if len(f.Suggestions) > 0 { // for programs: the hint has them, too
		data["suggestions"] = f.Suggestions
	}
	return mcpwire.Error{Text: f.Language.Say("%s (%s)", clipText(f.Message), hint), Data: data}
}

// clipText bounds a text that may repeat words of the caller.
func clipText(s string) string { return visible.Fit(s, 2000) }

// failureResult returns the result of a refused call, in the language of the person behind the request.
func (c *callers) failureResult(ctx context.Context, req request.Request, err error) *mcp.CallToolResult {
	data, encErr := method.Encode(NewFailure(c.engine.Translated(ctx, req, err)))
	if encErr != nil {
		return mcp.NewToolResultError(err.Error())
	}
	return mcp.NewToolResultError(string(data))
}
