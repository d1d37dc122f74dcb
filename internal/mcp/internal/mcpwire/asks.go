package mcpwire

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// asks has the server's own unanswered requests: a chan json.RawMessage for each. Their ids are texts, the
// ids of the library's requests are numbers.
type asks struct{ open sync.Map }

// asked identifies a request to the client of a session.
type asked struct{ session, id string }

// sendRequest writes a request to the client of a session, and returns the result. If ctx ends first, the client is
// told that nobody waits for the answer any more, so that it closes a form.
func (a *asks) sendRequest(ctx context.Context, session string, write func(message []byte), method mcp.MCPMethod, params any) (json.RawMessage, error) {
	id, answer := rand.Text(), make(chan json.RawMessage, 1)
	q := asked{session, id}
	request := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": method}
	if params != nil {
		request["params"] = params
	}
	message, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	a.open.Store(q, answer)
	defer a.open.Delete(q)
	write(message)
	select {
	case result := <-answer:
		if result == nil {
			return nil, errors.New("the client answers with an error")
		}
		return result, nil
	case <-ctx.Done():
	}
	message, err = json.Marshal(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION, "method": mcp.MethodNotificationCancelled, "params": map[string]any{"requestId": id, "reason": "no answer is needed any more"},
	})
	if err == nil {
		write(message)
	}
	return nil, ctx.Err()
}

// endSession answers the requests to the client of a session that has ended, as failed.
func (a *asks) endSession(session string) {
	a.open.Range(func(key, answer any) bool {
		if key.(asked).session == session && a.open.CompareAndDelete(key, answer) {
			answer.(chan json.RawMessage) <- nil
		}
		return true
	})
}

// deliverAnswer passes on the answer to a request in asks, and returns false for any other. The answer has to
// come over the session of the request.
func (a *asks) deliverAnswer(session string, id, result json.RawMessage) bool {
	name := ""
	_ = json.Unmarshal(id, &name) // an id of another type is not in asks
	answer, ok := a.open.LoadAndDelete(asked{session, name})
	if ok {
		answer.(chan json.RawMessage) <- result
	}
	return ok
}

// elicit shows the person a form of a legacy client, and returns their answer. The library's own request can be
// neither found nor withdrawn.
func elicit(ctx context.Context, params mcp.ElicitationParams) (*mcp.ElicitationResult, error) {
	var result json.RawMessage
	var err error
	switch to := ctx.Value(answererKey{}).(type) {
	case *stdioFilter:
		result, err = to.asks.sendRequest(ctx, "", to.writeRequest, mcp.MethodElicitationCreate, params)
	case *response:
		session := server.ClientSessionFromContext(ctx)
		if to.asks == nil || session == nil {
			return nil, errors.New("the client takes no streams")
		}
		result, err = to.asks.sendRequest(ctx, session.SessionID(), to.writeAhead, mcp.MethodElicitationCreate, params)
	default: // in one process with the client
		return server.ServerFromContext(ctx).RequestElicitation(ctx, mcp.ElicitationRequest{Params: params})
	}
	answer := new(mcp.ElicitationResult)
	if err == nil {
		err = json.Unmarshal(result, answer)
	}
	return answer, err
}
