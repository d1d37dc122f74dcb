package mcpwire

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// maxRounds bounds how often one call may ask its client for something.
const maxRounds = 5

// bridge lets handlers ask legacy clients in the modern style. The library would send their
// requests too, but without a time limit, and would fail the call with a client's error.
type bridge struct {
	formLimit func(state string) time.Duration
	refuse    func(error) *mcp.CallToolResult
	closing   context.Context
}

func (b bridge) middleware(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := next(ctx, call)
		for range maxRounds {
			if err != nil || !result.NeedsInput() || Modern(ctx) {
				return result, err
			}
			call.Params.RequestState = result.RequestState
			call.Params.InputResponses = b.fulfil(ctx, result)
			if b.closing.Err() != nil || ctx.Err() != nil {
				// Nobody has answered, and the arguments of the call must not stand in for that.
				return b.refuse(fault.New(fault.Conflict, "the connection ends before the person has answered").
					WithHint("nothing was decided, and what was handed in is kept; call status and go on from there")), nil
			}
			result, err = next(ctx, call)
		}
		return result, err
	}
}

// fulfil sends the requests of a result to a legacy client. A request without an answer in time,
// or with an error, has no response.
func (b bridge) fulfil(ctx context.Context, result *mcp.CallToolResult) mcp.InputResponses {
	responses := mcp.InputResponses{}
	for id, request := range result.InputRequests {
		switch {
		case request.Method == mcp.MethodListRoots:
			if list := Roots(ctx); list != nil {
				responses[id] = mcp.NewRootsInputResponse(*list)
			}
		case request.Elicitation != nil:
			if answer := b.elicit(ctx, result.RequestState, *request.Elicitation); answer != nil {
				responses[id] = mcp.NewElicitationInputResponse(*answer)
			}
		}
	}
	return responses
}

// elicit has the host show a form, and returns the person's answer; nil where there is none.
func (b bridge) elicit(ctx context.Context, state string, form mcp.ElicitationParams) *mcp.ElicitationResult {
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.formLimit(state))
	defer cancel()
	defer context.AfterFunc(b.closing, cancel)()
	answer, err := srv.RequestElicitation(ctx, mcp.ElicitationRequest{
		Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: form,
	})
	if err != nil {
		return nil
	}
	return answer
}
