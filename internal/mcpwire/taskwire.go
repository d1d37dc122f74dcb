package mcpwire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
)

// The methods of the extension. The library does not know them, and refuses them if it finds the rest of
// a request good. That refusal is replaced.
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

// taskClient returns the key of the client of a request, to which its tasks belong.
func taskClient(ctx context.Context) string {
	if _, overHTTP := httpguard.VisitorIn(ctx); !overHTTP {
		return "" // on stdio it is the only one
	}
	return ClientKey(ctx)
}

// answerHTTP answers a request of the extension over HTTP.
func (t *tasks) answerHTTP(r *http.Request, body []byte) edit {
	who := httpguard.VisitorOf(r)
	return t.answer(body, func(q taskRequest) (string, error) {
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

// answerStdio answers a request of the extension on stdio, once the library has refused it.
func (t *tasks) answerStdio(line []byte) edit {
	return edit{change: func(message []byte) []byte {
		var refusal mcp.JSONRPCError
		if json.Unmarshal(message, &refusal) != nil || refusal.Error.Code != mcp.METHOD_NOT_FOUND {
			return message
		}
		return t.answer(line, func(taskRequest) (string, error) { return "", nil }).in(message)
	}}
}

// answer answers a request of the extension; who returns its client. The library's answer to one that is
// not modern stands.
func (t *tasks) answer(body []byte, who func(taskRequest) (client string, err error)) edit {
	var q taskRequest
	if json.Unmarshal(body, &q) != nil || !mcp.IsModernProtocol(q.Params.Meta.ProtocolVersion()) {
		return edit{}
	}
	result, err := t.serve(q, who)
	if err != nil {
		return replaceByError(q.ID, err)
	}
	return replaceBy(q.ID, "result", result, http.StatusOK)
}

// replaceByError returns the edit by which a request ends in an error.
func replaceByError(id json.RawMessage, failure error) edit {
	return replaceBy(id, "error", failureOf(nil, failure), http.StatusBadRequest)
}

func replaceBy(id json.RawMessage, key string, value any, status int) edit {
	answer, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, key: value})
	if err != nil {
		return edit{}
	}
	return edit{func([]byte) []byte { return append(answer, '\n') }, status}
}

func (t *tasks) serve(q taskRequest, who func(taskRequest) (string, error)) (result map[string]any, err error) {
	client, err := who(q)
	if err != nil {
		return nil, err
	}
	if can := q.Params.Meta.ClientCapabilities(); can == nil || !takesTasks(*can) {
		return nil, TasksNeeded()
	}
	switch result = map[string]any{}; q.Method {
	case methodTasksGet:
		result, err = t.get(client, q.Params.TaskID)
	case methodTasksUpdate:
		err = t.update(client, q.Params.TaskID, q.Params.InputResponses)
	default:
		err = t.stop(client, q.Params.TaskID)
	}
	if err != nil {
		return nil, err
	}
	result["resultType"] = mcp.ResultTypeComplete
	result["_meta"] = map[string]any{mcp.MetaKeyServerInfo: t.self}
	return result, nil
}

// handle is the result that stands for a task until the answer is written.
type handle struct{ seed map[string]any }

// noteHandle makes the handle of a task the answer to the call that became it.
func noteHandle(ctx context.Context, id any, _ *mcp.CallToolRequest, result any) {
	made, _ := result.(*mcp.CallToolResult)
	answer, ok := ctx.Value(answererKey{}).(answerer)
	if made == nil || !ok {
		return
	}
	if h, isHandle := made.StructuredContent.(handle); isHandle {
		answer.edit(id, edit{change: h.in})
	}
}

// MarshalJSON implements json.Marshaler.
func (h handle) MarshalJSON() ([]byte, error) { return json.Marshal(h.seed) }

// in puts the handle in the place of the result of an answer, whose metadata stays.
func (h handle) in(message []byte) []byte {
	var answer struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  map[string]any  `json:"result"`
	}
	if json.Unmarshal(message, &answer) != nil || answer.Result == nil {
		return message
	}
	answer.Result = map[string]any{"resultType": "task", "_meta": answer.Result["_meta"]}
	for key, value := range h.seed {
		answer.Result[key] = value
	}
	out, err := json.Marshal(answer)
	if err != nil {
		return message
	}
	return append(out, '\n')
}

// failureOf returns the error of a call in the form of a task, or nil if it has a result.
func failureOf(result *mcp.CallToolResult, err error) *mcp.JSONRPCErrorDetails {
	switch {
	case err == nil && result != nil && !result.NeedsInput():
		return nil
	case err == nil:
		err = errors.New("the call has no result")
	}
	var known Error
	if errors.As(err, &known) {
		return &mcp.JSONRPCErrorDetails{Code: cmp.Or(known.Code, mcp.INTERNAL_ERROR), Message: known.Text, Data: known.Data}
	}
	return &mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: err.Error()}
}
