package mcpwire

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// maxRounds bounds the rounds of questions to the client for one call.
const maxRounds = 5

// bridge lets handlers ask all clients in the modern style. A modern client repeats the call with the
// answers; legacy clients are asked here, because the library would ask them without a time limit, and fail
// the call with a client's error.
type bridge struct {
	// question is [Options.Question].
	question func(ctx context.Context, state string) (waiting context.Context, done func())
	refuse   func(context.Context, mcp.CallToolRequest, error) *mcp.CallToolResult
	tasks    *tasks
}

func (b bridge) middleware(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := next(ctx, call)
		for round := 1; round <= maxRounds && err == nil && result.NeedsInput(); round++ {
			if currentTask(ctx) == nil && server.IsModernRequest(ctx) {
				break
			}
			result, err = b.askAndCall(ctx, call, result, round, next)
		}
		return result, err
	}
}

// askAndCall puts the question of a result to the client, and calls the handler with the answers.
func (b bridge) askAndCall(
	ctx context.Context, call mcp.CallToolRequest, result *mcp.CallToolResult, round int, next server.ToolHandlerFunc,
) (*mcp.CallToolResult, error) {
	waiting, done := b.question(ctx, result.RequestState)
	defer done()
	var responses mcp.InputResponses
	if k := currentTask(ctx); k != nil {
		responses = b.tasks.askClient(waiting, k, result, round)
	} else {
		responses = b.askClient(waiting, result)
	}
	if b.tasks.closing.Err() != nil || ctx.Err() != nil {
		// Nobody has answered, and the arguments of the call must not count as an answer.
		return b.refuse(ctx, call, fault.New(fault.Conflict, "the connection ends before the person has answered").
			WithHint("nothing was decided, and what was handed in is kept; call status and go on from there")), nil
	}
	call.Params.RequestState, call.Params.InputResponses = result.RequestState, responses
	return next(ctx, call)
}

// askClient sends the requests of a result to a legacy client. A request without a timely answer, or answered
// by an error, has no response.
func (b bridge) askClient(ctx context.Context, result *mcp.CallToolResult) mcp.InputResponses {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.tasks.closing, cancel)()
	srv, responses := server.ServerFromContext(ctx), mcp.InputResponses{}
	for id, request := range result.InputRequests {
		switch {
		case request.Method == mcp.MethodListRoots:
			if list := Roots(ctx); list != nil {
				responses[id] = mcp.NewRootsInputResponse(*list)
			}
		case request.Elicitation != nil:
			answer, err := elicit(ctx, *request.Elicitation)
			if err == nil {
				responses[id] = mcp.NewElicitationInputResponse(*answer)
			}
		case request.Sampling != nil:
			answer, err := srv.RequestSampling(ctx, mcp.CreateMessageRequest{ //nolint:staticcheck // older hosts have nothing else
				Request: mcp.Request{Method: string(mcp.MethodSamplingCreateMessage)}, CreateMessageParams: *request.Sampling,
			})
			if err == nil {
				responses[id] = mcp.NewSamplingInputResponse(*answer)
			}
		}
	}
	return responses
}

// Caught turns a panic into an error and logs the stack. It has to be deferred. The error does not say how
// far the action had come.
func Caught(log *slog.Logger, kind, name string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	log.Error("internal error", kind, name, "panic", p, "stack", string(debug.Stack()))
	*err = fault.Unexpected(p)
}

// recoverPanics returns middleware that turns a panic of a tool's handler into a refused action.
func recoverPanics(log *slog.Logger, refuse func(context.Context, mcp.CallToolRequest, error) *mcp.CallToolResult) server.ToolHandlerMiddleware {
	return func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
			var bug error
			defer func() {
				if bug != nil {
					result, err = refuse(ctx, req, bug), nil
				}
			}()
			defer Caught(log, "tool", req.Params.Name, &bug)
			return next(ctx, req)
		}
	}
}

// rootsLimit bounds the wait for a client's roots. The project can be found without them, too.
const rootsLimit = 2 * time.Second

// Roots asks the legacy client of a request for its roots. It returns nil if the client does not answer
// in time, or answers with an error.
func Roots(ctx context.Context) *mcp.ListRootsResult {
	ctx, cancel := context.WithTimeout(ctx, rootsLimit)
	defer cancel()
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return nil
	}
	list, err := srv.RequestRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		return nil
	}
	return list
}
