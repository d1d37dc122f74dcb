package mcpserver

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

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
	// heartbeat is how often a stream that tells nothing shows that it is alive: proxies
	// commonly cut connections that are silent for a minute.
	heartbeat = 25 * time.Second
	// maxMessage bounds all messages but calls of tools: names, addresses and what a client
	// says of itself are kept for as long as its session lasts.
	maxMessage = 64 << 10
	// maxAnswer bounds what a person's answers to a form can be, in a message of their own.
	maxAnswer = 1 << 20
)

// Handler returns the server's face on HTTP: MCP at Endpoint, /healthz, /readyz, and
// /metrics if it was asked for.
func (s *Server) Handler(o HTTPOptions) *Handler { return s.handler(o, defaultLimits) }

func (s *Server) handler(o HTTPOptions, l limits) *Handler {
	l.bodies = max(l.bodies, 2*o.MaxBody) // the largest has to fit into what is left to large ones
	h := &Handler{
		server: s, o: o, log: s.log, limits: l, sessions: newSessionIDs(o.Now, l), asks: asks{open: map[string]asked{}},
		bodies: bodies{most: l.bodies}, streams: streams{limits: l, peers: map[string]int{}, sessions: map[string]int{}},
	}
	h.sessions.ended = h.forget
	h.stream = server.NewStreamableHTTPServer(s.mcp,
		server.WithSessionIdManagerResolver(h.sessions),
		server.WithSessionIdleTTL(o.Idle),
		server.WithHeartbeatInterval(heartbeat),
		server.WithStreamableHTTPLogger(s.log),
		// Ours looks at every request, and names the problem.
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
	limits   limits
	bodies   bodies
	streams  streams
	// posts is held for reading by each POST that is at work.
	posts sync.RWMutex
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	paced := &pacedWriter{ResponseWriter: w, limit: h.limits.write}
	paced.arm()
	h.mux.ServeHTTP(paced, r)
}

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
