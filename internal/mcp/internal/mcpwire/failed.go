package mcpwire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Error is an error of a handler with its JSON-RPC code and data. The library itself gives every
// error of a handler the code for internal errors.
type Error struct {
	Code int // 0 stands for the library's
	Data any
	Text string
}

// Error returns the text that the client gets.
func (e Error) Error() string { return e.Text }

// edit replaces an answer of the library before it is written.
type edit struct {
	answer []byte // nil stands for the library's
	status int    // over HTTP; 0 stands for the library's
	// tools is the list of tools in JSON that takes the place of an empty one.
	tools json.RawMessage
}

// noTools is an empty list of tools. No text in JSON looks like it, because its quotes are escaped.
var noTools = []byte(`"tools":[]`)

// in returns the answer that is written.
func (e edit) in(answer []byte) []byte {
	switch {
	case e.answer != nil:
		return e.answer
	case e.tools != nil:
		return bytes.Replace(answer, noTools, append([]byte(`"tools":`), e.tools...), 1)
	}
	return answer
}

// ListTools has the answer to a request carry a list of tools in JSON instead of the library's, which it encodes
// anew for each request. It reports false if the request's answer cannot be edited.
func ListTools(ctx context.Context, id any, result *mcp.ListToolsResult, tools json.RawMessage) bool {
	answer, ok := ctx.Value(answererKey{}).(answerer)
	if ok {
		result.Tools = []mcp.Tool{}
		answer.edit(id, edit{tools: tools})
	}
	return ok
}

// answerWith returns the edit by which a request gets a result, or an error if it is not nil.
func answerWith(id any, result map[string]any, failure *mcp.JSONRPCErrorDetails, status int) edit {
	answer, err := json.Marshal(struct {
		JSONRPC string                   `json:"jsonrpc"`
		ID      any                      `json:"id"`
		Result  map[string]any           `json:"result,omitempty"`
		Error   *mcp.JSONRPCErrorDetails `json:"error,omitempty"`
	}{mcp.JSONRPC_VERSION, id, result, failure})
	if err != nil {
		return edit{}
	}
	return edit{answer: append(answer, '\n'), status: status}
}

// details returns an error in the form of the protocol.
func details(err error) *mcp.JSONRPCErrorDetails {
	known := Error{Text: err.Error()}
	errors.As(err, &known)
	return &mcp.JSONRPCErrorDetails{Code: cmp.Or(known.Code, mcp.INTERNAL_ERROR), Message: known.Text, Data: known.Data}
}

// answerer writes the answer to a request, with its edit.
type answerer interface{ edit(id any, e edit) }

// answererKey is the key of a request's answerer in its context.
type answererKey struct{}

// noteFailure returns a hook that passes a request's error to the writer of its answer.
func noteFailure(missing func(context.Context, mcp.MCPMethod, string) Error) server.OnErrorHookFunc {
	return func(ctx context.Context, id any, method mcp.MCPMethod, message any, err error) {
		var known Error
		isKnown := errors.As(err, &known)
		if name, unknown := unknownName(message, err); unknown && missing != nil {
			known, isKnown = missing(ctx, method, name), true
		}
		answer, ok := ctx.Value(answererKey{}).(answerer)
		if !ok || !isKnown {
			return
		}
		status := 0
		if known.Code != 0 && server.IsModernRequest(ctx) {
			status = http.StatusBadRequest // required since 2026-07-28
		}
		answer.edit(id, answerWith(id, nil, details(known), status))
	}
}

// unknownName returns the name in a request for something that nobody has added.
func unknownName(message any, err error) (name string, unknown bool) {
	switch call := message.(type) {
	case *mcp.CallToolRequest:
		return call.Params.Name, errors.Is(err, server.ErrToolNotFound)
	case *mcp.GetPromptRequest:
		return call.Params.Name, errors.Is(err, server.ErrPromptNotFound)
	case *mcp.ReadResourceRequest:
		return call.Params.URI, errors.Is(err, server.ErrResourceNotFound)
	}
	return "", false
}
