package httpguard

import (
	"bufio"
	"container/list"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serving is a server with the connections that it has accepted.
type serving struct {
	t       *testing.T
	address string
	closed  chan struct{} // one for each connection that ended
}

func serve(t *testing.T, h http.Handler, most int, slack time.Duration) *serving {
	t.Helper()
	s := &serving{t, "", make(chan struct{}, 1000)}
	server := newServer(h, most, slack)
	follow := server.ConnState
	server.ConnState = func(c net.Conn, state http.ConnState) {
		follow(c, state)
		if state == http.StateClosed {
			s.closed <- struct{}{}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	s.address = listener.Addr().String()
	return s
}

// dial opens a connection and sends the beginning of a request.
func (s *serving) dial(text string) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err == nil {
		_, err = io.WriteString(c, text)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// status returns the status of the response on a connection, or 0 if it ended without one.
func status(c net.Conn) int {
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

// TestSlowConnectionsMakeRoom checks that only some connections stay that send nothing or a part of a
// request, or that are kept after a request. A connection stays for as long as it takes if its request
// is whole, and another client is served at once.
func TestSlowConnectionsMakeRoom(t *testing.T) {
	const most = 8
	entered, leave := make(chan struct{}), make(chan struct{})
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		if r.URL.Path == "/long" {
			entered <- struct{}{}
			<-leave
		}
	}), most, time.Hour)
	var long []net.Conn
	for _, text := range []string{"GET /long HTTP/1.1\r\nHost: x\r\n\r\n", "POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"} {
		long = append(long, s.dial(text))
		<-entered
	}
	for i := range 100 {
		switch i % 4 {
		case 0:
			s.dial("")
		case 1:
			s.dial("GET / HTTP/1.1\r\nHo")
		case 2:
			s.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx")
		case 3:
			if got := status(s.dial("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); got != http.StatusOK {
				t.Fatalf("client %d gets %d", i, got)
			}
		}
	}
	for range 100 - most {
		<-s.closed
	}
	close(leave)
	for _, c := range long {
		if got := status(c); got != http.StatusOK {
			t.Errorf("a request that was whole gets %d", got)
		}
	}
}

// TestSlowBodies checks that the connection of a body that stops is closed, whether it is read or not,
// and that the time ends with a whole body.
func TestSlowBodies(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusRequestTimeout)
			return
		}
		select { // longer than a body may take
		case <-r.Context().Done():
			w.WriteHeader(http.StatusGone)
		case <-time.After(200 * time.Millisecond):
		}
	}), 8, 100*time.Millisecond)
	if got := status(s.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx")); got != http.StatusRequestTimeout && got != 0 {
		t.Errorf("a body that stops gets %d", got)
	}
	status(s.dial("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"))
	<-s.closed
	<-s.closed
	const size = 1 << 20
	if got := status(s.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size)))); got != http.StatusOK {
		t.Errorf("a body that comes in whole gets %d", got)
	}
}

// TestPaceOfBodies checks that the time grows with the bytes that have come in, and ends with the body.
func TestPaceOfBodies(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var limits []time.Duration
	ended := false
	b := &body{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 2*minRate))), slack: slack, start: start, whole: func() { ended = true }}
	b.limit = func(at time.Time) error {
		if at.IsZero() {
			at = start.Add(-1)
		}
		limits = append(limits, at.Sub(start))
		return nil
	}
	b.extendDeadline()
	for range 3 {
		_, _ = b.Read(make([]byte, minRate))
	}
	if got, want := fmt.Sprint(limits), fmt.Sprint([]time.Duration{slack, slack + time.Second, slack + 2*time.Second, -1}); got != want || !ended {
		t.Errorf("%s, not %s; it has ended: %v", got, want, ended)
	}
}

// TestRefusedBeforeTheBody: a handler that does not read a large body is heard before it has come.
func TestRefusedBeforeTheBody(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }), 2, time.Hour)
	c := s.dial("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 33554432\r\n\r\n")
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil { // less than the hour that the body may take
		t.Fatal(err)
	}
	if got := status(c); got != http.StatusNotFound {
		t.Errorf("without its body: %d", got)
	}
}

// TestConnectionsCountOnce: a connection whose last body was left unread begins to wait anew, and is
// not the one that goes.
func TestConnectionsCountOnce(t *testing.T) {
	w := &waiting{most: 2, at: map[net.Conn]*list.Element{}}
	var conns []net.Conn
	for range 3 {
		c, other := net.Pipe()
		t.Cleanup(func() { _, _ = c.Close(), other.Close() })
		conns = append(conns, c)
	}
	for i, want := range []net.Conn{nil, nil, nil, conns[1]} {
		if got := w.add(conns[[]int{0, 1, 0, 2}[i]]); got != want {
			t.Errorf("step %d closes %v, want %v", i, got, want)
		}
	}
	if len(w.at) != 2 || w.order.Len() != 2 {
		t.Errorf("%d connections, and %d in order", len(w.at), w.order.Len())
	}
}
