package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// begins opens a session and returns its id.
func (s *served) begins() string {
	s.t.Helper()
	res, err := http.Post(s.url, "application/json", strings.NewReader(hello))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("a client is kept out: %d", res.StatusCode)
	}
	return res.Header.Get("Mcp-Session-Id")
}

// TestFloodsKeepNobodyOut attacks the real server as one client can: with sessions, with
// streams, and with large requests for sessions that there are not.
func TestFloodsKeepNobodyOut(t *testing.T) {
	scratch.NeedsTime(t, "a client opens thousands of sessions and hundreds of streams")
	s := serve(t, t.TempDir(), nil)
	mine := s.begins()
	works := func(id string) bool {
		status, _ := s.send("POST", s.url, listTools, "Mcp-Session-Id", id)
		return status == http.StatusOK
	}
	if !works(mine) {
		t.Fatal("the run does not work")
	}

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 540 { // 2,160 in all
				s.begins()
			}
		})
	}
	wg.Wait()
	if !works(mine) {
		t.Error("the run that was in use has ended")
	}
	if next := s.begins(); !works(next) {
		t.Error("a session begun after the flood does not work")
	}

	// Large bodies for no session are answered before they are sent.
	host := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	for range 16 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nMcp-Session-Id: nobodys\r\n\r\n", host, 32<<20)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // less than a body may take
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusNotFound {
			t.Fatalf("%v, %v", res, err)
		}
		_ = conn.Close()
	}

	// Each new stream of a session ends the one before, with its connection.
	var before *http.Response
	for range 300 {
		req, err := http.NewRequest(http.MethodGet, s.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Mcp-Session-Id", mine)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == http.StatusServiceUnavailable { // some are still ending
			_ = res.Body.Close()
			continue
		}
		if before != nil {
			if _, err := io.Copy(io.Discard, before.Body); err != nil || !before.Close {
				t.Fatalf("the stream before: %v; its connection closes: %v", err, before.Close)
			}
		}
		before = res
	}
	_ = before.Body.Close()
	if !works(mine) {
		t.Error("the run does not work after its streams")
	}
}
