package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// rpcError is an error of a handler that says how the protocol has it. The library gives
// every error of a handler the code for internal errors.
type rpcError struct {
	code int
	data any
	text string
}

// Error returns the text that the client gets.
func (e rpcError) Error() string { return e.text }

// failed is what a request's answer is to say of its failure.
type failed struct {
	code   int // 0: as the library has it
	data   any
	modern bool
}

// failing is the way on which a request's answer goes out.
type failing interface{ fail(id any, f failed) }

type failingKey struct{}

// noteFailure is a hook that tells the way of a request what its failure is.
func noteFailure(ctx context.Context, id any, _ mcp.MCPMethod, message any, err error) {
	way, ok := ctx.Value(failingKey{}).(failing)
	if !ok {
		return
	}
	f := failed{modern: server.IsModernRequest(ctx)}
	var known rpcError
	read, reading := message.(*mcp.ReadResourceRequest)
	switch {
	case errors.As(err, &known):
		f.code, f.data = known.code, known.data
	case reading && errors.Is(err, server.ErrResourceNotFound):
		f.data = map[string]any{"uri": read.Params.URI}
	default:
		return
	}
	way.fail(id, f)
}

// in puts the failure into the answer that the library has made of it. f may be nil.
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

// notFoundCode is the protocol's for a resource that there is not; it has changed with
// protocol 2026-07-28.
func notFoundCode(ctx context.Context) int {
	if server.IsModernRequest(ctx) {
		return mcp.INVALID_PARAMS
	}
	return mcp.RESOURCE_NOT_FOUND
}
