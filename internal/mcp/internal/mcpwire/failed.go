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

// Error is an error of a handler with a JSON-RPC code and data. The library alone would give all errors of
// handlers the code for internal errors.
type Error struct {
	Code int // 0: the library's code
	Data any
	Text string
}

// Error returns the text for the client.
func (e Error) Error() string { return e.Text }

// edit is a change of an answer of the library, made before it is written.
type edit struct {
	answer []byte // nil: the library's answer
	status int    // over HTTP; 0: the library's status
	// tools is a list of tools in JSON to put in place of an empty one.
	tools json.RawMessage
}

// noTools is an empty list of tools. It cannot occur inside a text, because quotes in JSON texts are escaped.
var noTools = []byte(`"tools":[]`)

// applyTo returns the answer to write.
func (e edit) applyTo(answer []byte) []byte {
	switch {
	case e.answer != nil:
		return e.answer
	case e.tools != nil:
		return bytes.Replace(answer, noTools, append([]byte(`"tools":`), e.tools...), 1)
	}
	return answer
}

// ListTools puts an encoded list of tools into the answer to a request, since the library would encode the
// list for each request. It returns false if the answer cannot be edited.
func ListTools(ctx context.Context, id any, result *mcp.ListToolsResult, tools json.RawMessage) bool {
	answer, ok := ctx.Value(answererKey{}).(answerer)
	if ok {
		result.Tools = []mcp.Tool{}
		answer.edit(id, edit{tools: tools})
	}
	return ok
}

// answerWith returns the edit to answer a request with a result, or with failure if it is not nil.
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

// errorDetails converts an error to the form of the protocol.
func errorDetails(err error) *mcp.JSONRPCErrorDetails {
	known := Error{Text: err.Error()}
	errors.As(err, &known)
	return &mcp.JSONRPCErrorDetails{Code: cmp.Or(known.Code, mcp.INTERNAL_ERROR), Message: known.Text, Data: known.Data}
}

// answerer writes the answer to a request, changed by an edit.
type answerer interface{ edit(id any, e edit) }

// answererKey is the context key of a request's answerer.
type answererKey struct{}

// noteFailure returns a hook that passes a request's error to the answerer.
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
		answer.edit(id, answerWith(id, nil, errorDetails(known), status))
	}
}

// unknownName returns the name in a request for a tool, prompt or resource that the library does not have.
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
