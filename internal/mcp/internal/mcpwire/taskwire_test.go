package mcpwire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// ask sends a request of a modern client over HTTP, and returns the status and the answer. name is
// the header Mcp-Name.
func ask(t *testing.T, url, client, name, method string, params map[string]any) (int, map[string]any) {
	t.Helper()
	sent := map[string]any{"_meta": map[string]any{
		mcp.MetaKeyProtocolVersion: "2026-07-28", mcp.MetaKeyClientInfo: map[string]any{"name": client, "version": "1"},
		mcp.MetaKeyClientCapabilities: map[string]any{"extensions": takes, "elicitation": map[string]any{}},
	}}
	for key, value := range params {
		sent[key] = value
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "i", "method": method, "params": sent})
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	for key, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", mcp.HeaderProtocolVersion: "2026-07-28", mcp.HeaderMethod: method, mcp.HeaderName: name} {
		req.Header.Set(key, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	var answer map[string]any
	if err != nil || json.Unmarshal(data, &answer) != nil || answer["id"] != "i" {
		t.Errorf("%s: %v: %s", method, err, data)
	}
	return res.StatusCode, answer
}

// code returns the code of an answer's error as text, or "<nil>" if it has a result.
func code(answer map[string]any) string {
	failure, _ := answer["error"].(map[string]any)
	return fmt.Sprint(failure["code"])
}

// TestTasksOverHTTP has the extension's requests answered with the right status, for their client
// alone, and never by the header of another request.
func TestTasksOverHTTP(t *testing.T) {
	t.Parallel()
	w := testWire()
	release := make(chan struct{})
	w.MCP.AddTool(mcp.NewTool("long"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		Detach(ctx, "at work")
		select {
		case <-release:
			return mcp.NewToolResultText("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	_, ts := overHTTP(t, w, defaultLimits)
	status, made := ask(t, ts.URL, "a", "long", "tools/call", map[string]any{"name": "long"})
	result, _ := made["result"].(map[string]any)
	id, _ := result["taskId"].(string)
	if status != http.StatusOK || id == "" || result["resultType"] != "task" || result["content"] != nil || result["structuredContent"] != nil || result["_meta"] == nil {
		t.Fatalf("%d: %v", status, made)
	}
	of := func(id string) map[string]any {
		return map[string]any{"taskId": id, "inputResponses": map[string]any{}}
	}
	for _, tt := range []struct {
		client, name, method, id string
		status                   int
		code                     string
	}{
		{"a", id, methodTasksGet, id, 200, "<nil>"},
		{"a", id, methodTasksUpdate, id, 200, "<nil>"},
		{"a", "nobody", methodTasksGet, id, 400, "-32020"},
		{"a", "", methodTasksUpdate, id, 400, "-32020"},
		{"a", "=?base64?!?=", methodTasksCancel, id, 400, "-32020"},
		{"a", "nobody", methodTasksGet, "nobody", 400, "-32602"},
		{"b", id, methodTasksGet, id, 400, "-32602"},
		{"b", id, methodTasksUpdate, id, 400, "-32602"},
		{"b", id, methodTasksCancel, id, 400, "-32602"},
		{"a", id, "tasks/list", id, 404, "-32601"},
		{"a", id, "tasks/result", id, 404, "-32601"},
		{"a", id, "tasks/other", id, 404, "-32601"},
	} {
		if status, answer := ask(t, ts.URL, tt.client, tt.name, tt.method, of(tt.id)); status != tt.status || code(answer) != tt.code {
			t.Errorf("%s by %s as %s: %d, %v; want %d, %s", tt.method, tt.client, tt.name, status, answer, tt.status, tt.code)
		}
	}
	close(release)
	eventually(t, "it has its result", func() bool {
		_, answer := ask(t, ts.URL, "a", id, methodTasksGet, of(id))
		got, _ := answer["result"].(map[string]any)
		return got["resultType"] == "complete" && got["status"] == taskCompleted && strings.Contains(fmt.Sprint(got["result"]), "done")
	})
}

// TestTasksAtOnce has many clients make tasks, ask for them, answer them and cancel them at once.
func TestTasksAtOnce(t *testing.T) {
	t.Parallel()
	w := testWire()
	w.MCP.AddTool(mcp.NewTool("asks"), func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for range 3 { // as a handler tells of its work from another goroutine
			go Detach(ctx, "at work")
		}
		Detach(ctx, "at work")
		if call.Params.RequestState == "" {
			return &mcp.CallToolResult{Result: mcp.Result{ResultType: mcp.ResultTypeInputRequired}, MultiRoundTripResult: mcp.MultiRoundTripResult{
				RequestState: "once", InputRequests: mcp.InputRequests{"q": mcp.NewElicitationInputRequest(mcp.ElicitationParams{Message: "?"})},
			}}, nil
		}
		return mcp.NewToolResultText("thanks"), nil
	})
	_, ts := overHTTP(t, w, defaultLimits)
	var work sync.WaitGroup
	for n := range 24 {
		work.Go(func() {
			client := fmt.Sprint("client ", n%8)
			_, made := ask(t, ts.URL, client, "asks", "tools/call", map[string]any{"name": "asks"})
			result, _ := made["result"].(map[string]any)
			id, _ := result["taskId"].(string)
			of := map[string]any{"taskId": id, "inputResponses": map[string]any{"1-q": map[string]any{"action": "accept"}}}
			want := taskCompleted
			if n%3 == 0 {
				want = taskCancelled
			}
			eventually(t, "it ends", func() bool {
				_, answer := ask(t, ts.URL, client, id, methodTasksGet, of)
				got, _ := answer["result"].(map[string]any)
				if got["status"] == taskAsking {
					method := methodTasksUpdate
					if want == taskCancelled {
						method = methodTasksCancel
					}
					if _, ack := ask(t, ts.URL, client, id, method, of); code(ack) != "<nil>" {
						t.Errorf("%s: %v", method, ack)
					}
				}
				return got["status"] == want
			})
		})
	}
	work.Wait()
	w.tasks.mu.Lock()
	defer w.tasks.mu.Unlock()
	if len(w.tasks.open) != 24 {
		t.Errorf("there are %d tasks of 24 calls", len(w.tasks.open))
	}
}
