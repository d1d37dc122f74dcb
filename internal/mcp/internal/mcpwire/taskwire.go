package mcpwire

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
)

// The methods of the extension, unknown to the library. Over HTTP, the library refuses them in otherwise
// valid requests, and the refusal is replaced.
const (
	methodTasksGet    = "tasks/get"
	methodTasksUpdate = "tasks/update"
	methodTasksCancel = "tasks/cancel"
)

func isTaskMethod(method string) bool {
	return method == methodTasksGet || method == methodTasksUpdate || method == methodTasksCancel
}

// taskRequest is a request of the extension.
type taskRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta           *mcp.Meta                  `json:"_meta"`
		TaskID         string                     `json:"taskId"`
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
	} `json:"params"`
}

// taskClient returns the key of the client of a request, the owner of the tasks of the request.
func taskClient(ctx context.Context) string {
	if _, overHTTP := httpguard.VisitorIn(ctx); !overHTTP {
		return "" // on stdio there is only one client
	}
	return ClientKey(ctx)
}

// answerHTTP answers a request of the extension over HTTP.
func (t *tasks) answerHTTP(r *http.Request, body []byte) edit {
	who := httpguard.VisitorOf(r)
	return t.answerRequest(body, func(q taskRequest) (string, error) {
		if name, ok := mcp.DecodeHeaderValue(r.Header.Get(mcp.HeaderName)); !ok || name != q.Params.TaskID {
			return "", Error{Code: mcp.HEADER_MISMATCH, Text: "the header " + mcp.HeaderName + " has to be the taskId of the request"}
		}
		if who.Page {
			return "", TasksNeeded() // see [Capabilities]
		}
		client := mcp.Implementation{}
		if info := q.Params.Meta.ClientInfo(); info != nil {
			client = *info
		}
		return sessionlessKey(who, client), nil
	})
}

// answerRequest answers a request of the extension; who returns the client. It leaves a request of another
// protocol to the library.
func (t *tasks) answerRequest(body []byte, who func(taskRequest) (client string, err error)) edit {
	var q taskRequest
	version := func() string { return q.Params.Meta.ProtocolVersion() }
	if json.Unmarshal(body, &q) != nil || !mcp.IsModernProtocol(version()) || !mcp.IsValidProtocolVersion(version()) {
		return edit{}
	}
	result, err := t.dispatch(q, who)
	if err != nil {
		return refuseWith(q.ID, err)
	}
	return answerWith(q.ID, result, nil, http.StatusOK)
}

// refuseWith returns the edit to answer a request with an error.
func refuseWith(id any, err error) edit {
	return answerWith(id, nil, errorDetails(err), http.StatusBadRequest)
}

func (t *tasks) dispatch(q taskRequest, who func(taskRequest) (string, error)) (result map[string]any, err error) {
	client, err := who(q)
	if err != nil {
		return nil, err
	}
	if can := q.Params.Meta.ClientCapabilities(); can == nil || !takesTasks(*can) {
		return nil, TasksNeeded()
	}
	switch result = map[string]any{}; q.Method {
	case methodTasksGet:
		result, err = t.getTask(client, q.Params.TaskID)
	case methodTasksUpdate:
		err = t.updateTask(client, q.Params.TaskID, q.Params.InputResponses)
	default:
		err = t.cancelTask(client, q.Params.TaskID)
	}
	if err != nil {
		return nil, err
	}
	return withMeta(result, mcp.ResultTypeComplete, mcp.Implementation{Name: t.self.Name, Version: t.self.Version}), nil
}

// handle stands for a task in a result until the answer is written.
type handle map[string]any

// noteHandle answers a call that became a task with the task's handle.
func (t *tasks) noteHandle(ctx context.Context, id any, _ *mcp.CallToolRequest, result any) {
	made, _ := result.(*mcp.CallToolResult)
	answer, ok := ctx.Value(answererKey{}).(answerer)
	if made == nil || !ok {
		return
	}
	if h, isHandle := made.StructuredContent.(handle); isHandle {
		answer.edit(id, answerWith(id, withMeta(h, "task", t.self), nil, 0))
	}
}

// withMeta adds to a result the keys that the library adds to other results.
func withMeta(result map[string]any, kind mcp.ResultType, self mcp.Implementation) map[string]any {
	result["resultType"] = kind
	result["_meta"] = map[string]any{mcp.MetaKeyServerInfo: self}
	return result
}

// failureOf returns the error of a call in the form of a task, or nil for a call with a result.
func failureOf(result *mcp.CallToolResult, err error) *mcp.JSONRPCErrorDetails {
	switch {
	case err != nil:
		return errorDetails(err)
	case result == nil || result.NeedsInput():
		return errorDetails(errors.New("the call has no result"))
	}
	return nil
}
