package mcpwire

import (
	"bytes"
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

// failed is the code and data of a request's error.
type failed struct {
	code int    // 0 stands for the library's
	text string // "" stands for the library's
	data any
}

// answering writes the answer to a request.
type answering interface {
	// edit has the answer changed before it is written. Over HTTP it gets a status; 0 stands for the
	// library's.
	edit(id any, e edit, status int)
}

// edit returns the replacement of an answer.
type edit func(answer []byte) []byte

// in changes an answer. e may be nil.
func (e edit) in(answer []byte) []byte {
	if e == nil {
		return answer
	}
	return e(answer)
}

type answeringKey struct{}

// noteFailure returns a hook that passes a request's error to the writer of its answer.
func noteFailure(missing func(context.Context, mcp.MCPMethod, string) Error) server.OnErrorHookFunc {
	return func(ctx context.Context, id any, method mcp.MCPMethod, message any, err error) {
		answer, ok := ctx.Value(answeringKey{}).(answering)
		if !ok {
			return
		}
		var known Error
		var f failed
		if name, unknown := unknownName(message, err); unknown && missing != nil {
			known = missing(ctx, method, name)
			f.text = known.Text
		} else if !errors.As(err, &known) {
			return
		}
		f.code, f.data = known.Code, known.Data
		status := 0
		if f.code != 0 && Modern(ctx) {
			status = http.StatusBadRequest // required since 2026-07-28
		}
		answer.edit(id, f.in, status)
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

// in puts the failure into the answer that the library has made.
func (f failed) in(message []byte) []byte {
	var answer mcp.JSONRPCError
	if json.Unmarshal(message, &answer) != nil || answer.Error.Code == 0 {
		return message
	}
	if f.code != 0 {
		answer.Error.Code = f.code
	}
	if f.text != "" {
		answer.Error.Message = f.text
	}
	answer.Error.Data = f.data
	return encodeLine(answer, message)
}

// encodeLine returns the JSON of a message with the line end that stdio needs, or the other bytes if it has
// none.
func encodeLine(message any, other []byte) []byte {
	out, err := json.Marshal(message)
	if err != nil {
		return other
	}
	return append(out, '\n')
}

// editJSON returns a message with a change of its JSON.
func editJSON(message []byte, change func(map[string]any)) []byte {
	var m map[string]any
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	if decoder.Decode(&m) != nil {
		return message
	}
	change(m)
	return encodeLine(m, message)
}
