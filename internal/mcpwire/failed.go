package mcpwire

import (
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

// edit changes an answer before it is written.
type edit struct {
	change func(answer []byte) []byte // nil stands for the library's answer
	status int                        // over HTTP; 0 stands for the library's
}

// in returns the changed answer.
func (e edit) in(answer []byte) []byte {
	if e.change == nil {
		return answer
	}
	return e.change(answer)
}

// answerer writes the answer to a request, with its edit.
type answerer interface{ edit(id any, e edit) }

// answererKey is the key of a request's answerer in its context.
type answererKey struct{}

// noteFailure returns a hook that passes a request's error to the writer of its answer.
func noteFailure(missing func(context.Context, mcp.MCPMethod, string) Error) server.OnErrorHookFunc {
	return func(ctx context.Context, id any, method mcp.MCPMethod, message any, err error) {
		answer, ok := ctx.Value(answererKey{}).(answerer)
		if !ok {
			return
		}
		var known Error
		isKnown := errors.As(err, &known)
		known.Text = "" // the library has it
		if name, unknown := unknownName(message, err); unknown && missing != nil {
			known, isKnown = missing(ctx, method, name), true
		}
		if !isKnown {
			return
		}
		e := edit{change: known.in}
		if known.Code != 0 && server.IsModernRequest(ctx) {
			e.status = http.StatusBadRequest // required since 2026-07-28
		}
		answer.edit(id, e)
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

// in puts the error into the answer that the library has made, whose text stays if the error has none.
func (e Error) in(message []byte) []byte {
	var answer mcp.JSONRPCError
	if json.Unmarshal(message, &answer) != nil || answer.Error.Code == 0 {
		return message
	}
	if e.Code != 0 {
		answer.Error.Code = e.Code
	}
	if e.Text != "" {
		answer.Error.Message = e.Text
	}
	answer.Error.Data = e.Data
	out, err := json.Marshal(answer)
	if err != nil {
		return message
	}
	return append(out, '\n')
}
