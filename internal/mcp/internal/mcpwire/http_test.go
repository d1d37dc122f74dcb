package mcpwire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
)

// limited serves a wire with the limits of a test.
func limited(t *testing.T, l limits) (*HTTP, *httptest.Server) {
	t.Helper()
	w := testWire()
	w.MCP.AddTool(mcp.NewTool("much"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", 32<<20)), nil
	})
	return overHTTP(t, w, l)
}

// overHTTP serves a wire until the test ends.
func overHTTP(t *testing.T, w *Wire, l limits) (*HTTP, *httptest.Server) {
	t.Helper()
	h := w.newHTTP(1<<20, time.Minute, time.Now, l)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(h.Pace(w), r) }))
	t.Cleanup(func() {
		w.Close()
		h.Close(context.Background())
		ts.Close()
	})
	return h, ts
}

// eventually waits for the effect of another goroutine.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

var greeting = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "x", "version": "1"}}

// partly sends the header of a request that announces a body, and a part of the body.
func partly(t *testing.T, ts *httptest.Server, session string, announced, sent int) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", strings.TrimPrefix(ts.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nMcp-Session-Id: %s\r\n\r\n%s", announced, session, strings.Repeat(" ", sent))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// answer reads the response to a request sent by hand.
func answer(t *testing.T, conn net.Conn) (int, http.Header) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode, res.Header
}

// TestBodiesInFlight holds large requests half way, until there is room for no more. Small ones still
// get through, and all requests once the large ones have gone.
func TestBodiesInFlight(t *testing.T) {
	t.Parallel()
	h, ts := limited(t, limits{httpguard.Limits{Streams: 10, PeerStreams: 10, SessionStreams: 2, Write: time.Minute}, 10, 10})
	session, _ := post(t, ts.URL, "", false, 1, "initialize", greeting)
	held := func() int64 {
		bytes, _ := h.limiter.Held()
		return bytes
	}
	const large = 1 << 20
	// A mere announcement holds next to nothing.
	var announced []net.Conn
	for range 20 {
		announced = append(announced, partly(t, ts, session, large, 0))
	}
	first := partly(t, ts, session, large, large-100)
	eventually(t, "the first is read", func() bool { return held() > large-100 })
	second := partly(t, ts, session, large, large-100)
	status, header := answer(t, second)
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("beyond the limit: %d, %v", status, header)
	}
	if held() > 2*large {
		t.Errorf("%d bytes are held, at most %d may be", held(), 2*large)
	}
	if _, got := post(t, ts.URL, session, false, 2, "tools/list", map[string]any{}); len(got) != 1 || got[0]["result"] == nil {
		t.Errorf("a small request beside them: %v", got)
	}
	if _, err := io.WriteString(first, strings.Repeat(" ", 100)); err != nil {
		t.Fatal(err)
	}
	if status, _ := answer(t, first); status == http.StatusServiceUnavailable {
		t.Error("the first was not taken")
	}
	for _, conn := range append(announced, first, second) {
		_ = conn.Close()
	}
	eventually(t, "all is given back", func() bool { return held() == 0 })
	if _, got := post(t, ts.URL, session, false, 3, "tools/call", map[string]any{"name": "none", "arguments": map[string]any{"x": strings.Repeat("x", large-1000)}}); len(got) != 1 {
		t.Errorf("afterwards: %v", got)
	}
}

// TestUnknownSessionIsNotRead checks that a request that announces a large body for no session is
// answered before any of the body is there.
func TestUnknownSessionIsNotRead(t *testing.T) {
	t.Parallel()
	_, ts := limited(t, defaultLimits)
	for session, want := range map[string]int{"nobodys": 404, strings.Repeat("x", 26): 404, "": 413} {
		if status, _ := answer(t, partly(t, ts, session, 1<<20, 0)); status != want {
			t.Errorf("session %q: %d, want %d", session, status, want)
		}
	}
}

// TestSessionsMakeRoom checks that, if there are too many sessions, those end that are missed least.
func TestSessionsMakeRoom(t *testing.T) {
	clock := time.Unix(0, 0)
	var ended []string
	m := newSessionIDs(func() time.Time { clock = clock.Add(time.Second); return clock }, limits{sessions: 6, peerSessions: 4})
	m.ended = func(id string) { ended = append(ended, id) }
	a, b := httpguard.Visitor{Address: "a"}, httpguard.Visitor{Address: "b"}
	open := map[string]string{}
	begin := func(name string, who httpguard.Visitor) {
		id, leave := m.openSession(who)
		leave()
		open[name] = id
	}
	use := func(name string, who httpguard.Visitor) {
		leave, ok := m.beginRequest(open[name], who)
		if !ok {
			t.Fatalf("%s has gone", name)
		}
		m.noteCall(open[name])
		leave()
	}
	gone := func(names ...string) {
		t.Helper()
		if len(ended) != len(names) {
			t.Fatalf("%d ended, want %v", len(ended), names)
		}
		for i, name := range names {
			if ended[i] != open[name] {
				t.Errorf("not %s, which was to go", name)
			}
			if _, ok := m.beginRequest(open[name], a); ok {
				t.Errorf("%s is open still", name)
			}
		}
		ended = nil
	}
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		begin(name, a)
	}
	use("a1", a)
	use("a2", a)
	use("a1", a)
	gone()
	begin("a5", a) // a3 and a4 were never used
	gone("a3")
	begin("a6", a)
	gone("a4")
	use("a5", a)
	use("a6", a)
	begin("a7", a) // all were used: a2 for the longest time not
	gone("a2")
	busy, _ := m.beginRequest(open["a1"], a)
	begin("b1", b)
	use("b1", b)
	begin("b2", b)
	gone()
	begin("b3", b) // in all there are too many: a7 was never used, and before b2
	gone("a7")
	begin("b4", b)
	gone("b2")
	for _, name := range []string{"b3", "b4"} {
		use(name, b)
	}
	begin("b5", b) // of its own, as it has its four
	begin("b6", b)
	if len(ended) != 2 || len(m.open) > 6 {
		t.Errorf("%d ended, %d open", len(ended), len(m.open))
	}
	if _, ok := m.beginRequest(open["a1"], a); !ok {
		t.Error("one that is at work ended before idle ones")
	}
	busy()
	// If all are at work, one of them still makes room.
	all := newSessionIDs(m.now, limits{sessions: 2, peerSessions: 2})
	all.ended = func(string) {}
	for range 5 {
		if id, _ := all.openSession(a); !all.hasSession(id, a) || len(all.open) > 2 {
			t.Errorf("%d open", len(all.open))
		}
	}
}

// TestSessionFlood opens sessions from many connections at once: there are never too many, one
// that is used stays, and the library keeps nothing of those that have gone.
func TestSessionFlood(t *testing.T) {
	t.Parallel()
	h, ts := limited(t, limits{httpguard.Limits{Streams: 10, PeerStreams: 10, SessionStreams: 2, Write: time.Minute}, 12, 10})
	mine, _ := post(t, ts.URL, "", false, 1, "initialize", greeting)
	list := func() int {
		_, got := post(t, ts.URL, mine, false, 2, "tools/list", map[string]any{})
		return len(got)
	}
	list()
	var mu sync.Mutex
	var all []string
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				id, _ := post(t, ts.URL, "", false, 1, "initialize", greeting)
				mu.Lock()
				all = append(all, id)
				mu.Unlock()
				h.sessions.mu.Lock()
				if n := len(h.sessions.open); n > 10 {
					t.Errorf("%d sessions are open", n)
				}
				h.sessions.mu.Unlock()
			}
		})
	}
	wg.Wait()
	known := 0
	for _, id := range all {
		if id == "" {
			t.Fatal("one was kept out")
		}
		if err := h.wire.MCP.SendNotificationToSpecificClient(id, "x", nil); !errors.Is(err, server.ErrSessionNotFound) {
			known++
		}
	}
	if known > 9 || len(h.sessions.open) != 10 {
		t.Errorf("the library knows %d of them, and %d are open", known, len(h.sessions.open))
	}
	if list() != 1 {
		t.Error("the run that is used has ended")
	}
	// A beginning that is refused leaves nothing behind.
	before := len(h.sessions.open)
	h.forgetSession(all[len(all)-1])
	res, err := http.Post(ts.URL, "text/plain", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	eventually(t, "it is forgotten", func() bool {
		h.sessions.mu.Lock()
		defer h.sessions.mu.Unlock()
		return len(h.sessions.open) < before
	})
}

// stream opens the GET stream of a session.
func stream(t *testing.T, ts *httptest.Server, session string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, ts.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Session-Id", session)
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TestStreamsAreCounted checks that a session has one stream, which the next takes over, and that the
// streams of a peer and of the server are bounded until one is closed.
func TestStreamsAreCounted(t *testing.T) {
	t.Parallel()
	h, ts := limited(t, limits{httpguard.Limits{Streams: 3, PeerStreams: 3, SessionStreams: 2, Write: time.Minute}, 20, 20})
	begin := func() string {
		id, _ := post(t, ts.URL, "", false, 1, "initialize", greeting)
		return id
	}
	count := func() int {
		_, streams := h.limiter.Held()
		return streams
	}
	session := begin()
	var last *http.Response
	for range 50 {
		next := stream(t, ts, session)
		for next.StatusCode == http.StatusServiceUnavailable { // the ones before are still ending
			_ = next.Body.Close()
			next = stream(t, ts, session)
		}
		if last != nil {
			if _, err := io.ReadAll(last.Body); err != nil || !last.Close {
				t.Fatalf("the stream before: %v, its connection closes: %v", err, last.Close)
			}
		}
		last = next
	}
	eventually(t, "one is left", func() bool { return count() == 1 })
	if err := h.wire.MCP.SendNotificationToSpecificClient(session, "x", nil); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(last.Body).ReadString('\n'); err != nil || !strings.Contains(line, "event: message") {
		t.Errorf("the last one says %q, %v", line, err)
	}
	second := stream(t, ts, begin())
	listening, end := context.WithCancel(context.Background())
	go listen(listening, t, ts)
	eventually(t, "there are three", func() bool { return count() == 3 })
	if res := stream(t, ts, begin()); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("a fourth: %d, %v", res.StatusCode, res.Header)
	}
	if status := listen(context.Background(), t, ts); status != http.StatusServiceUnavailable {
		t.Errorf("a listener beside them: %d", status)
	}
	end()
	_ = second.Body.Close()
	eventually(t, "the others have gone", func() bool { return count() == 1 })
	if res := stream(t, ts, begin()); res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", res.StatusCode)
	}
}

// listen listens as clients do since protocol 2026-07-28, until ctx ends or it is refused.
func listen(ctx context.Context, t *testing.T, ts *httptest.Server) int {
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["bmad-task://workflow"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, ts.URL, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

// TestSlowReaders checks that slow clients do not hold for ever the data that is written to them, be it
// of a stream or of the answer to a call.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	l := defaultLimits
	l.Write = 100 * time.Millisecond
	h, ts := limited(t, l)
	session, _ := post(t, ts.URL, "", false, 1, "initialize", greeting)
	dial := func(request string) {
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", strings.TrimPrefix(ts.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
	}
	count := func() int {
		_, streams := h.limiter.Held()
		return streams
	}
	dial("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + session + "\r\n\r\n")
	eventually(t, "the stream is open", func() bool { return count() == 1 })
	filler := map[string]any{"x": strings.Repeat("x", 1<<20)}
	eventually(t, "the stream that is not read ends", func() bool {
		_ = h.wire.MCP.SendNotificationToSpecificClient(session, "x", filler) // the queue may be full
		return count() == 0
	})
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"much","arguments":{}}}`
	dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nMcp-Session-Id: %s\r\n\r\n%s", len(call), session, call))
	eventually(t, "the call is at work", func() bool {
		h.sessions.mu.Lock()
		defer h.sessions.mu.Unlock()
		return h.sessions.open[session].busy > 0
	})
	eventually(t, "the call whose answer is not read ends", func() bool {
		h.sessions.mu.Lock()
		defer h.sessions.mu.Unlock()
		return h.sessions.open[session].busy == 0
	})
}
