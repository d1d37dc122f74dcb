package mcpwire

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// waitMinute waits a minute for an answer.
func waitMinute(ctx context.Context, _ string) (waiting context.Context, done func()) {
	return context.WithTimeout(ctx, time.Minute)
}

// testWire returns a wire without tools.
func testWire() *Wire {
	return New(mcp.Implementation{Name: "test", Version: "1"}, Options{
		Question: waitMinute,
		Refuse: func(_ context.Context, _ mcp.CallToolRequest, err error) *mcp.CallToolResult {
			return mcp.NewToolResultError(err.Error())
		},
		Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	}, &server.Hooks{}, server.WithLogging(), server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))
}

// wireServer serves tools that provoke the faults of the library.
func wireServer(t *testing.T) (url string, waiting chan struct{}) {
	t.Helper()
	w := testWire()
	waiting = make(chan struct{}, 10)
	w.MCP.AddTool(mcp.NewTool("notices"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			if err := SendProgress(ctx, map[string]any{"progressToken": "t", "progress": i}); err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	w.MCP.AddTool(mcp.NewTool("waits"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		waiting <- struct{}{}
		select {
		case <-ctx.Done():
			return mcp.NewToolResultText("cancelled"), nil
		case <-time.After(700 * time.Millisecond):
			return mcp.NewToolResultText("done"), nil
		}
	})
	_, ts := overHTTP(t, w, defaultLimits)
	return ts.URL, waiting
}

// TestCallsCollectAsUsual: the first call of a tool ends the collector's patience, unless the person has set its pace.
func TestCallsCollectAsUsual(t *testing.T) {
	pace := debug.SetGCPercent(200)
	t.Cleanup(func() { debug.SetGCPercent(pace) })
	for _, tt := range []struct {
		environ string
		want    int
	}{{"", 100}, {"300", 200}} {
		t.Setenv("GOGC", tt.environ)
		debug.SetGCPercent(200)
		w := testWire()
		w.MCP.AddTool(mcp.NewTool("one"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("done"), nil
		})
		w.MCP.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		listed := debug.SetGCPercent(200)
		w.MCP.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one"}}`))
		if got := debug.SetGCPercent(200); listed != 200 || got != tt.want {
			t.Errorf("GOGC=%q: %d after a list, %d after a call; want 200, %d", tt.environ, listed, got, tt.want)
		}
	}
}

// TestListTakesThePlace: a list of tools takes the place of an empty one, and of nothing that looks like it in a text.
func TestListTakesThePlace(t *testing.T) {
	e := edit{tools: json.RawMessage(`[{"name":"one"}]`)}
	for answer, want := range map[string]string{
		`{"id":1,"result":{"nextCursor":"x","tools":[]}}`:    `{"id":1,"result":{"nextCursor":"x","tools":[{"name":"one"}]}}`,
		`{"id":"\"tools\":[]","result":{"tools":[]}}` + "\n": `{"id":"\"tools\":[]","result":{"tools":[{"name":"one"}]}}` + "\n",
		`{"id":1,"error":{"message":"\"tools\":[]"}}`:        `{"id":1,"error":{"message":"\"tools\":[]"}}`,
	} {
		if got := string(e.applyTo([]byte(answer))); got != want {
			t.Errorf("%s: got %s, want %s", answer, got, want)
		}
	}
}

// post sends a message of an era and returns the run, and the messages that come back.
func post(t *testing.T, url, session string, modern bool, id any, method string, params map[string]any) (string, []map[string]any) {
	t.Helper()
	if modern {
		params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	}
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id != nil {
		message["id"] = id
	}
	body, err := json.Marshal(message)
	if err != nil {
		t.Error(err)
		return "", nil
	}
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		t.Error(err)
		return "", nil
	}
	req.Header.Set("Content-Type", "application/json")
	if modern {
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", method)
		req.Header.Set("Mcp-Name", fmt.Sprint(params["name"]))
	} else if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return "", nil
	}
	defer func() { _ = res.Body.Close() }()
	var out []map[string]any
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		var m map[string]any
		if json.Unmarshal([]byte(strings.TrimPrefix(lines.Text(), "data: ")), &m) == nil {
			out = append(out, m)
		}
	}
	return res.Header.Get("Mcp-Session-Id"), out
}

// TestNoNoticeIsLost checks that all notices of a call arrive, in their order and before its answer.
func TestNoNoticeIsLost(t *testing.T) {
	t.Parallel()
	url, _ := wireServer(t)
	for _, modern := range []bool{false, true} {
		session := ""
		if !modern {
			session, _ = post(t, url, "", false, 1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "x", "version": "1"}})
			post(t, url, session, false, nil, "notifications/initialized", map[string]any{})
		}
		for n := range 50 {
			_, got := post(t, url, session, modern, n+2, "tools/call", map[string]any{"name": "notices", "arguments": map[string]any{}})
			if len(got) != 4 || got[3]["result"] == nil {
				t.Fatalf("modern %v, call %d: %v", modern, n, got)
			}
			for i, m := range got[:3] {
				if params, _ := m["params"].(map[string]any); params["progress"] != float64(i) {
					t.Fatalf("modern %v, call %d: notice %d is %v", modern, n, i, m)
				}
			}
		}
	}
}

// TestNobodyCancelsAnothersCall has a client without a session give up a request whose id
// another client uses too.
func TestNobodyCancelsAnothersCall(t *testing.T) {
	t.Parallel()
	url, waiting := wireServer(t)
	answer := make(chan []map[string]any, 1)
	go func() {
		_, got := post(t, url, "", true, 5, "tools/call", map[string]any{"name": "waits", "arguments": map[string]any{}})
		answer <- got
	}()
	<-waiting
	post(t, url, "", true, nil, "notifications/cancelled", map[string]any{"requestId": 5})
	if got := <-answer; len(got) != 1 || !strings.Contains(fmt.Sprint(got[0]), "done") {
		t.Errorf("%v", got)
	}
}
