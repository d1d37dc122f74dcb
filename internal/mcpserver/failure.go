package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// Failure is the JSON of a refused action.
type Failure struct {
	Status    string     `json:"status"` // always "failed"
	Code      fault.Code `json:"code"`
	Error     string     `json:"error"`
	Hint      string     `json:"hint"`
	Allowed   []string   `json:"allowed_actions"`
	SessionID string     `json:"session_id,omitempty"`
	// Stage, State and Revision are those of the session that was found.
	Stage    string `json:"current_stage,omitempty"`
	State    string `json:"current_state,omitempty"`
	Revision int    `json:"revision,omitempty"`
	// Suggestions are names or addresses that the caller may have meant. The hint has them too,
	// which is enough for a model.
	Suggestions []string `json:"-"`
	// NextCall is the call that fixes it, if there is one.
	NextCall map[string]any `json:"next_call,omitempty"`
}

// NewFailure describes an error, in its own language.
func NewFailure(err error) Failure {
	f := fault.From(err)
	out := Failure{Status: "failed", Code: f.Code, Error: clip(f.Message), Hint: clip(f.Hint), Allowed: f.Allowed, SessionID: f.SessionID,
		Stage: f.Stage, State: f.State, Revision: f.Revision, Suggestions: f.Suggestions, NextCall: f.NextCall}
	if out.Allowed == nil {
		out.Allowed = []string{}
	}
	return out
}

// data returns the data of a JSON-RPC error, beside its text; key names the subject.
func (f Failure) data(key, subject string) map[string]any {
	out := map[string]any{key: subject, "code": f.Code, "hint": f.Hint}
	if len(f.Suggestions) > 0 {
		out["suggestions"] = f.Suggestions
	}
	return out
}

// clip bounds a text that may repeat words of the caller.
func clip(s string) string { return visible.Clip(s, 2000) }

// refuse returns the result of a call that was refused with an error, in the language of the person
// behind the request.
func (c *callers) refuse(ctx context.Context, req request.Request, err error) *mcp.CallToolResult {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if encErr := enc.Encode(NewFailure(c.engine.Translated(ctx, req, err))); encErr != nil {
		return mcp.NewToolResultError(err.Error())
	}
	return mcp.NewToolResultError(strings.TrimSpace(buf.String()))
}
