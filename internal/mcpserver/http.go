package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Endpoint is the path at which MCP is served over HTTP.
const Endpoint = "/mcp"

// HTTPOptions bound a server on HTTP. The zero value serves clients on this machine.
type HTTPOptions struct {
	// Token, if not empty, is what a client has to send as "Authorization: Bearer …".
	Token string
	// Remote is true where the server listens for other machines: a request may then name
	// the server by any host.
	Remote bool
	// Origins are those of web pages that may call, as ParseOrigin returns them. Pages of the
	// server's own origin may call besides.
	Origins []string
	// MaxBody bounds the body of a request, in bytes.
	MaxBody int64
	// Idle is how long a client's session may be without a request before it ends.
	Idle time.Duration
	// Metrics serves /metrics.
	Metrics bool
	// Now is the clock.
	Now func() time.Time
}

const (
	// readLimit bounds how long a request may take to come in.
	readLimit = time.Minute
	// heartbeat is how often a stream that tells nothing shows that it is alive: proxies
	// commonly cut connections that are silent for a minute.
	heartbeat = 25 * time.Second
	// maxSessions bounds the sessions of HTTP clients; each takes some 15 kB of memory.
	maxSessions = 2000
	// maxMessage bounds all messages but calls of tools: names, addresses and what a client
	// says of itself are kept for as long as its session lasts.
	maxMessage = 64 << 10
	// maxAnswer bounds what a person's answers to a form can be, in a message of their own.
	maxAnswer = 1 << 20
)

// Handler returns the server's face on HTTP: MCP at Endpoint, /healthz, /readyz, and
// /metrics if it was asked for.
func (s *Server) Handler(o HTTPOptions) *Handler {
	h := &Handler{server: s, o: o, log: s.log, sessions: &sessionIDs{now: o.Now, seen: map[string]*httpSession{}}, asks: asks{open: map[string]asked{}}}
	h.stream = server.NewStreamableHTTPServer(s.mcp,
		server.WithSessionIdManagerResolver(h.sessions),
		server.WithSessionIdleTTL(o.Idle),
		server.WithHeartbeatInterval(heartbeat),
		server.WithStreamableHTTPLogger(s.log),
		// Ours looks at every request, and says what is wrong.
		server.WithDisableLocalhostProtection(true),
		server.WithHTTPContextFunc(func(ctx context.Context, r *http.Request) context.Context {
			return onWire(context.WithValue(ctx, visitorKey{}, visitorOf(r)), s.mcp)
		}),
		server.WithEventStore(forgetful{}),
	)
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plainText(w, http.StatusOK, "ok") })
	h.mux.HandleFunc("GET /readyz", h.ready)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		plainText(w, http.StatusNotFound, "there is nothing here; MCP is at "+Endpoint)
	})
	h.mux.Handle(Endpoint, h.guarded(http.HandlerFunc(h.mcp)))
	if o.Metrics {
		h.mux.Handle("GET /metrics", h.guarded(s.metrics.handler()))
	}
	return h
}

// Handler serves one Server on HTTP.
type Handler struct {
	server   *Server
	stream   *server.StreamableHTTPServer
	sessions *sessionIDs
	o        HTTPOptions
	log      *slog.Logger
	mux      http.ServeMux
	asks     asks
	// posts is held for reading by each POST that is at work.
	posts sync.RWMutex
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Close refuses requests that come from now on, ends what waits for people or for changes,
// and once the accepted requests are answered, or ctx is done, the streams.
func (h *Handler) Close(ctx context.Context) {
	h.server.close()
	answered := make(chan struct{})
	go func() {
		h.posts.Lock()
		close(answered)
		h.posts.Unlock()
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	h.stream.CloseSessions(context.WithoutCancel(ctx))
}

func (h *Handler) ready(w http.ResponseWriter, _ *http.Request) {
	if h.server.closing.Err() != nil {
		plainText(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	if err := h.server.ready(); err != nil {
		h.log.Warn("not ready", "error", err) // which may name folders: not for everyone
		plainText(w, http.StatusServiceUnavailable, "not ready; the server's log says why")
		return
	}
	plainText(w, http.StatusOK, "ready")
}

func plainText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a client that has gone needs no answer
}

// mcp passes a request on to the library, whole and within its bounds.
func (h *Handler) mcp(w http.ResponseWriter, r *http.Request) {
	if h.refuseClosing(w, r) {
		return
	}
	if r.Method != http.MethodPost {
		if id := r.Header.Get(server.HeaderKeySessionID); !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) && !h.sessions.open(id, visitorOf(r)) {
			// The library would open a session of that id.
			h.refuse(w, r, http.StatusNotFound, "no such session; begin with initialize")
			return
		}
		h.stream.ServeHTTP(w, r)
		return
	}
	body, status, err := h.body(w, r)
	if err != nil {
		h.refuse(w, r, status, err.Error())
		return
	}
	// From here on it is accepted; one that is still on its way holds nobody up.
	h.posts.RLock()
	defer h.posts.RUnlock()
	if h.refuseClosing(w, r) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var message struct {
		Method     string
		ID, Result json.RawMessage
	}
	_ = json.Unmarshal(body, &message) // what is no JSON is the library's to refuse
	if most := map[bool]int{true: maxAnswer, false: maxMessage}[message.Method == ""]; len(body) > most && message.Method != string(mcp.MethodToolsCall) {
		h.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message of this kind has at most %d bytes", most))
		return
	}
	// One that says only in one of both places that it is new is the library's to refuse.
	old := !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) && !bytes.Contains(body, []byte(mcp.MetaKeyProtocolVersion))
	switch {
	case message.Method == string(mcp.MethodInitialize) && h.sessions.full():
		w.Header().Set("Retry-After", "60")
		h.refuse(w, r, http.StatusServiceUnavailable, "too many sessions are open; idle ones end by themselves")
		return
	case old && message.Method != string(mcp.MethodInitialize) && !h.sessions.open(r.Header.Get(server.HeaderKeySessionID), visitorOf(r)):
		h.refuse(w, r, http.StatusNotFound, "no such session; begin with initialize")
		return
	}
	if message.Method == "" && h.asks.answered(r.Header.Get(server.HeaderKeySessionID), message.ID, message.Result) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if message.Method == string(mcp.MethodNotificationCancelled) && mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		// These clients have no sessions, so that the library would cancel the request of that
		// id, whosever it is. They give up by closing the connection.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	wire, end := newWire(w)
	defer end()
	if strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
		wire.asks = &h.asks
	}
	ctx := context.WithValue(context.WithValue(r.Context(), wireKey{}, wire), failingKey{}, wire)
	if message.Method == string(mcp.MethodSubscriptionsListen) {
		// Nothing but the end of the server, or of the client, ends it.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.server.closing, cancel)()
	}
	h.stream.ServeHTTP(wire, r.WithContext(ctx))
}

// refuseClosing refuses a request that comes once the server has begun to end.
func (h *Handler) refuseClosing(w http.ResponseWriter, r *http.Request) bool {
	if h.server.closing.Err() == nil {
		return false
	}
	w.Header().Set("Retry-After", "5")
	h.refuse(w, r, http.StatusServiceUnavailable, "the server is shutting down")
	return true
}

// body reads the body of a request.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	tooLarge := fmt.Errorf("the request has more than %s bytes; hand long documents in as files of the project, by their paths", strconv.FormatInt(h.o.MaxBody, 10))
	if r.ContentLength > h.o.MaxBody {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	control := http.NewResponseController(w)
	// Not a limit of the whole server: streams stay open for hours. Where a test's writer
	// has no deadlines, there is nothing to wait for either.
	_ = control.SetReadDeadline(time.Now().Add(readLimit)) //nolint:forbidigo // a deadline of the network, by the system's clock
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, h.o.MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	var most *http.MaxBytesError
	switch {
	case errors.As(err, &most):
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("the request did not come in whole: %w", err)
	}
	return body, 0, nil
}
