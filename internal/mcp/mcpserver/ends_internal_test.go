package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
)

// atWork returns the goroutines of the face that are at work now, but for this test's own.
func atWork() []string {
	buf := make([]byte, 1<<20)
	var out []string
	for i, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		for _, pkg := range []string{"store/feed", "store/internal/watch", "mcp/internal/mcpwire", "mcp/mcpserver"} {
			if i > 0 && strings.Contains(stack, "bmad-mcp/internal/"+pkg+".") && !strings.Contains(stack, "testing.") {
				out = append(out, stack)
				break
			}
		}
	}
	return out
}

// anotherFace follows a project by the server's feed.
type anotherFace string

func (dir anotherFace) Look(context.Context, string) feed.Sight {
	return feed.Sight{Project: string(dir)}
}

func (anotherFace) Changed(string) {}

// TestNothingRunsAfterTheEnd follows a resource and a list over each transport; when the server has
// ended, none of its goroutines is left.
func TestNothingRunsAfterTheEnd(t *testing.T) {
	if left := atWork(); len(left) > 0 {
		t.Fatalf("another test has left:\n%s", strings.Join(left, "\n\n"))
	}
	messages := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"` + workflowURI + `"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}`,
	}

	s := New(engine.New(engine.Options{}), Options{Version: "test"})
	in, out := io.Pipe()
	lines, write := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(context.Background(), in, write); _ = write.Close() }()
	scanner := bufio.NewScanner(lines)
	for _, m := range messages {
		if _, err := io.WriteString(out, m+"\n"); err != nil || !scanner.Scan() || !strings.Contains(scanner.Text(), `"result"`) {
			t.Fatalf("%s: %s, %v", m, scanner.Text(), err)
		}
	}
	dashboard := anotherFace(t.TempDir())
	s.feed.Follow(dashboard, "sessions", dashboard.Look(t.Context(), "sessions"))
	s.feed.Poke()
	if len(atWork()) == 0 {
		t.Error("nothing runs while the server serves: the test looks for the wrong names")
	}
	_ = out.Close()
	_, _ = io.Copy(io.Discard, lines)
	if err := <-ended; err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("serving stdio ended with %v", err)
	}
	waitUntilGone(t, "stdio")

	s = New(engine.New(engine.Options{}), Options{Version: "test", Places: Places{Remote: true}})
	h := s.Handler(HTTPOptions{MaxBody: 1 << 20, Idle: time.Minute, Now: time.Now})
	ts := httptest.NewServer(h)
	session := ""
	for _, m := range messages {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL+Endpoint, strings.NewReader(m))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Mcp-Session-Id", session)
		res, err := ts.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), `"result"`) {
			t.Fatalf("%s: %d %s, %v", m, res.StatusCode, text, err)
		}
		_ = res.Body.Close()
		if session == "" {
			session = res.Header.Get("Mcp-Session-Id")
		}
	}
	s.feed.Follow(dashboard, "sessions", dashboard.Look(t.Context(), "sessions"))
	s.feed.Poke()
	h.Close(context.Background())
	ts.Close()
	waitUntilGone(t, "HTTP")
}

// waitUntilGone waits for goroutines that have been told to end, and have no more to do.
func waitUntilGone(t *testing.T, transport string) {
	t.Helper()
	var left []string
	for range 1000 {
		if left = atWork(); len(left) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("after serving %s, still at work:\n%s", transport, strings.Join(left, "\n\n"))
}
