package mcpserver

import (
	"context"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// maxRounds bounds how often one call may ask its client for something.
const maxRounds = 5

// bridging lets handlers ask in the style of protocol 2026-07-28 whatever the client
// speaks: they return a result that asks for input, and run again with what came. For
// older clients the library would send the requests too, but without a time limit, and
// with a client's error as the call's.
func (s *Server) bridging(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := next(ctx, call)
		for range maxRounds {
			if err != nil || !result.NeedsInput() || modern(ctx) {
				return result, err
			}
			call.Params.RequestState = result.RequestState
			call.Params.InputResponses = s.fulfil(ctx, result)
			if s.closing.Err() != nil || ctx.Err() != nil {
				// Nobody has answered; nothing that the call says may stand in for that.
				return failure(fault.New(fault.Conflict, "the connection ends before the person has answered").
					WithHint("nothing was decided, and what was handed in is kept; call status and go on from there")), nil
			}
			result, err = next(ctx, call)
		}
		return result, err
	}
}

// fulfil sends the requests of a result to an older client. One without an answer in
// time, or with an error, is left out.
func (s *Server) fulfil(ctx context.Context, result *mcp.CallToolResult) mcp.InputResponses {
	responses := mcp.InputResponses{}
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return responses
	}
	for id, request := range result.InputRequests {
		switch {
		case request.Method == mcp.MethodListRoots:
			ctx, cancel := context.WithTimeout(ctx, rootsLimit)
			if list, err := srv.RequestRoots(ctx, mcp.ListRootsRequest{}); err == nil && list != nil {
				responses[id] = mcp.NewRootsInputResponse(*list)
			}
			cancel()
		case request.Elicitation != nil:
			ctx, cancel := context.WithTimeout(ctx, s.formLimit(result.RequestState))
			defer context.AfterFunc(s.closing, cancel)()
			answer, err := srv.RequestElicitation(ctx, mcp.ElicitationRequest{
				Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: *request.Elicitation,
			})
			if err == nil && answer != nil {
				responses[id] = mcp.NewElicitationInputResponse(*answer)
			}
			cancel()
		}
	}
	return responses
}

// formLimit returns how long the form of a state may take.
func (s *Server) formLimit(state string) time.Duration {
	if folder, ok := strings.CutPrefix(state, folderPrefix); ok {
		return s.folderForms.limit(folder)
	}
	return s.forms.limit(state)
}

// modern reports whether a request is of protocol 2026-07-28 or newer.
func modern(ctx context.Context) bool {
	info := server.RequestProtocolInfoFromContext(ctx)
	return info != nil && info.Modern
}

// capabilities returns what the client of a request says it can do. Of what a web page says,
// nothing is taken: there is no person's host behind it to put a question to.
func capabilities(ctx context.Context) mcp.ClientCapabilities {
	if fromPage(ctx) {
		return mcp.ClientCapabilities{}
	}
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.ClientCapabilities == nil {
			return mcp.ClientCapabilities{}
		}
		return *info.ClientCapabilities
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientCapabilities()
	}
	return mcp.ClientCapabilities{}
}
