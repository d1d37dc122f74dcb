package mcpwire

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Error is an error of a handler with its JSON-RPC code and data. The library itself gives every
// error of a handler the code for internal errors.
type Error struct {
	Code int // 0: the library's
	Data any
	Text string
}

// Error returns the text that the client gets.
func (e Error) Error() string { return e.Text }

// failed is the code and data of a request's error.
type failed struct {
	code   int // 0: the library's
	data   any
	modern bool
}

// failing writes the answer to a request.
type failing interface{ fail(id any, f failed) }

type failingKey struct{}

// noteFailure is a hook that records a request's error with the writer of its answer.
func noteFailure(ctx context.Context, id any, _ mcp.MCPMethod, message any, err error) {
	answer, ok := ctx.Value(failingKey{}).(failing)
	if !ok {
		return
	}
	f := failed{modern: Modern(ctx)}
	var known Error
	read, reading := message.(*mcp.ReadResourceRequest)
	switch {
	case errors.As(err, &known):
		f.code, f.data = known.Code, known.Data
	case reading && errors.Is(err, server.ErrResourceNotFound):
		f.data = map[string]any{"uri": read.Params.URI}
	default:
		return
	}
	answer.fail(id, f)
}

// in puts the failure into the answer that the library has made. f may be nil.
func (f *failed) in(message []byte) []byte {
	if f == nil {
		return message
	}
	var answer mcp.JSONRPCError
	if json.Unmarshal(message, &answer) != nil || answer.Error.Code == 0 {
		return message
	}
	if f.code != 0 {
		answer.Error.Code = f.code
	}
	answer.Error.Data = f.data
	out, err := json.Marshal(answer)
	if err != nil {
		return message
	}
	return append(out, '\n')
}
