package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// TestHTTPUnderLoad has clients of every kind at one server at once: both eras, with streams
// and listeners, some that go away in the middle of a call or end their session under it, web
// pages, and callers that nobody let in. Those who stay get the answers that are theirs, and
// nothing is lost. The race detector looks at it in .ci/run, at the server too.
func TestHTTPUnderLoad(t *testing.T) {
	scratch.NeedsTime(t, "a hundred clients call at once")
	const crews, rounds = 6, 4
	dir := t.TempDir()
	s := serve(t, dir, nil, "--allow-origin", inspectorOrigin, "--metrics")
	base := strings.TrimSuffix(s.url, "/mcp")
	var wg sync.WaitGroup
	many := func(work func(crew, round int)) {
		for crew := range crews {
			wg.Go(func() {
				for round := range rounds {
					work(crew, round)
				}
			})
		}
	}

	// Those who stay, of both eras, with a stream or listening.
	for _, protocol := range []string{"2025-06-18", ""} {
		many(func(crew, round int) {
			var options []transport.StreamableHTTPCOption
			if protocol != "" {
				options = append(options, transport.WithContinuousListening()) //nolint:staticcheck // as older clients do
			}
			c := s.connect(protocol, nil, options...)
			c.OnNotification(func(mcp.JSONRPCNotification) {})
			name := fmt.Sprintf("Build clock %d %d %s", crew, round, protocol)
			reply, refused, err := act(c, object{"action": "start", "objective": name})
			if err != nil || refused {
				t.Errorf("%s: %v, %v", name, reply, err)
				return
			}
			id := reply["session_id"]
			if protocol == "" {
				listening, end := context.WithCancel(context.Background())
				defer end()
				go func() {
					_ = c.Listen(listening, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"bmad-task://sessions"}, ToolsListChanged: true}) // until it ends
				}()
			} else {
				var req mcp.SubscribeRequest
				req.Params.URI = "bmad-task://sessions"
				if err := c.Subscribe(context.Background(), req); err != nil { //nolint:staticcheck // as older clients do
					t.Error(err)
				}
			}
			for _, args := range []object{
				{"action": "submit", "stage": "po", "claude_result": "# P of " + name + "\nQuality Score: 95/100"},
				{"action": "confirm", "confirmed": true, "revision": 2},
				{"action": "status"},
			} {
				args["session_id"] = id
				if reply, refused, err := act(c, args); err != nil || refused || reply["session_id"] != id {
					t.Errorf("%s, %v: %v, %v", name, args["action"], reply, err)
				}
			}
			var read mcp.ReadResourceRequest
			read.Params.URI = fmt.Sprintf("bmad-task://tasks/%s/artifacts/po", reply["task_name"])
			if res, err := c.ReadResource(context.Background(), read); err != nil || !strings.Contains(fmt.Sprint(res.Contents), "# P of "+name+"\n") {
				t.Errorf("%s reads %v, %v", name, res, err)
			}
			if _, err := c.ListPrompts(context.Background(), mcp.ListPromptsRequest{}); err != nil {
				t.Error(err)
			}
			if _, err := c.ListResources(context.Background(), mcp.ListResourcesRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	// Those who go: from the call, from the stream, from the form, and from the run itself.
	send := func(ctx context.Context, method, session, body string, header ...string) {
		req, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", session)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
	call := func(id int, args object) string {
		text, _ := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": object{"name": "bmad-task", "arguments": args}})
		return string(text)
	}
	many(func(crew, _ int) {
		p := &speaker{s: s, capabilities: object{"elicitation": object{}, "roots": object{}}}
		p.greet()
		brief, end := context.WithTimeout(context.Background(), time.Duration(20+30*crew)*time.Millisecond)
		defer end()
		var own sync.WaitGroup
		for range 3 {
			own.Go(func() { send(brief, http.MethodGet, p.session, "") })
			own.Go(func() { send(brief, http.MethodPost, p.session, call(1, object{"action": "status"})) })
		}
		own.Go(func() {
			send(brief, http.MethodPost, p.session, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		})
		own.Go(func() {
			send(brief, http.MethodPost, p.session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		})
		own.Go(func() {
			send(brief, http.MethodPost, p.session, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
		})
		own.Go(func() { send(brief, http.MethodDelete, p.session, "") })
		own.Wait()
	})
	many(func(_, _ int) {
		page := &speaker{s: s, header: []string{"Origin", inspectorOrigin}}
		page.greet()
		send(context.Background(), http.MethodPost, page.session, call(2, object{"action": "status"}), "Origin", inspectorOrigin)
		send(context.Background(), http.MethodPost, "nobodys", call(2, object{"action": "status"}))
		send(context.Background(), http.MethodPost, "", hello, "Origin", "http://localhost:1")
		if res, err := http.Get(base + "/metrics"); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	})
	wg.Wait()
	files, err := filepath.Glob(filepath.Join(dir, ".bmad-task", "session-*.json"))
	if err != nil || len(files) != 2*crews*rounds {
		t.Errorf("%d sessions on disk, want %d, %v", len(files), 2*crews*rounds, err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), `"current_stage": "architect"`) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
