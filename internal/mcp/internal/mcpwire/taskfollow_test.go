package mcpwire

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// stepping returns a wire with a tool that works, as a task, until it is released.
func stepping() (w *Wire, release chan struct{}) {
	w, release = testWire(), make(chan struct{})
	w.MCP.AddTool(mcp.NewTool("long"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		Detach(ctx, "at work")
		select {
		case <-release:
			return mcp.NewToolResultText("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return w, release
}

const (
	declared   = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	undeclared = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	listenTo   = `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{%s,"notifications":{%s"taskIds":["%s","nobody"]}}}`
)

// follows checks the messages to a client that follows a task, and "nobody", until the task ends.
func follows(t *testing.T, id string, others string, next func() map[string]any, release func()) {
	t.Helper()
	ack, _ := next()["params"].(map[string]any)
	filter, err := json.Marshal(ack["notifications"])
	if want := fmt.Sprintf(`{%s"taskIds":["%s"]}`, others, id); err != nil || string(filter) != want {
		t.Errorf("acknowledged: %s, want %s", filter, want)
	}
	release()
	got := next()
	params, _ := got["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	if got["method"] != notificationTasks || params["taskId"] != id || params["status"] != taskCompleted || !strings.Contains(fmt.Sprint(params["result"]), "done") || fmt.Sprint(meta[mcp.MetaKeySubscriptionID]) != "7" {
		t.Errorf("at its end: %v", got)
	}
}

// TestTasksAreFollowed follows a task over a stream on stdio, which ends as any other. It is not
// parallel, because the library has one session for all servers on stdio.
func TestTasksAreFollowed(t *testing.T) {
	for name, others := range map[string]string{"alone": "", "with others": `"resourceSubscriptions":["bmad-task://workflow"],`} {
		t.Run(name, func(t *testing.T) {
			w, release := stepping()
			in, out := onStdio(t, w)
			send(t, in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,"name":"long"}}`, declared)
			made, _ := next(t, out)["result"].(map[string]any)
			id, _ := made["taskId"].(string)
			send(t, in, listenTo, undeclared, others, id)
			refused := next(t, out)
			if failure, _ := refused["error"].(map[string]any); refused["id"] != 7.0 || failure["code"] != -32021.0 || failure["data"] == nil {
				t.Errorf("not declared: %v", refused)
			}
			send(t, in, listenTo, declared, others, id)
			follows(t, id, others, func() map[string]any { return next(t, out) }, func() { close(release) })
			send(t, in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
			if end := next(t, out); end["id"] != 7.0 {
				t.Errorf("the stream ends with %v", end)
			}
			eventually(t, "nothing follows", func() bool {
				w.tasks.mu.Lock()
				defer w.tasks.mu.Unlock()
				return len(w.tasks.followers) == 0
			})
		})
	}
}

// TestTasksAreFollowedOverHTTP checks that their client can follow tasks, and no other.
func TestTasksAreFollowedOverHTTP(t *testing.T) {
	t.Parallel()
	w, release := stepping()
	_, ts := overHTTP(t, w, defaultLimits)
	_, made := ask(t, ts.URL, "a", "long", "tools/call", map[string]any{"name": "long"})
	result, _ := made["result"].(map[string]any)
	id, _ := result["taskId"].(string)
	open := func(body string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", mcp.HeaderProtocolVersion: "2026-07-28", mcp.HeaderMethod: "subscriptions/listen"} {
			req.Header.Set(key, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	reader := func(res *http.Response) func() map[string]any {
		lines := bufio.NewScanner(res.Body)
		return func() map[string]any {
			for lines.Scan() {
				var m map[string]any
				if data, isData := strings.CutPrefix(lines.Text(), "data: "); isData && json.Unmarshal([]byte(data), &m) == nil {
					return m
				}
			}
			return nil
		}
	}
	if res := open(fmt.Sprintf(listenTo, undeclared, "", id)); res.StatusCode != http.StatusBadRequest {
		t.Errorf("not declared: %d", res.StatusCode)
	}
	stranger := reader(open(fmt.Sprintf(listenTo, strings.Replace(declared, `"name":"a"`, `"name":"b"`, 1), "", id)))
	if ack := stranger(); strings.Contains(fmt.Sprint(ack), id) {
		t.Errorf("another client: %v", ack)
	}
	if end := stranger(); end["result"] == nil { // there is nothing to tell
		t.Errorf("another client: %v", end)
	}
	follows(t, id, "", reader(open(fmt.Sprintf(listenTo, declared, "", id))), func() { close(release) })
}
