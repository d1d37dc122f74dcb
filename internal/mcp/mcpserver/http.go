package mcpserver

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// Endpoint is the path at which MCP is served over HTTP.
const Endpoint = "/mcp"

// HTTPOptions bound a server on HTTP.
type HTTPOptions struct {
	// Options say who may call, by Token, Remote and Origins. The other fields are set here.
	httpguard.Options
	// MaxBody bounds the body of a request, in bytes.
	MaxBody int64
	// Idle is the time without a request after which a client's session ends.
	Idle time.Duration
	// Metrics serves /metrics.
	Metrics bool
	// Queue, if not nil, reads the figures of the queue of a team, for /metrics.
	Queue QueueFunc
	// Now is the clock.
	Now func() time.Time
}

// Handler serves one Server on HTTP.
type Handler struct {
	server *Server
	mcp    *mcpwire.HTTP
	mux    http.ServeMux
}

// Handler returns the server's face on HTTP: MCP at Endpoint, /healthz, /readyz, and /metrics with
// HTTPOptions.Metrics.
func (s *Server) Handler(o HTTPOptions) *Handler {
	h := &Handler{server: s, mcp: s.wire.HTTP(o.MaxBody, o.Idle, o.Now)}
	guard := h.mcp.Guard(o.Options)
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plainText(w, http.StatusOK, "ok") })
	h.mux.HandleFunc("GET /readyz", h.serveReady)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		plainText(w, http.StatusNotFound, s.engine.Projects().Language("").Say("there is nothing here; MCP is at %s", Endpoint))
	})
	h.mux.Handle(Endpoint, guard.Protect(h.mcp))
	if o.Metrics {
		h.mux.Handle("GET /metrics", guard.Protect(s.metrics.handler(o.Queue)))
	}
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mux.ServeHTTP(h.mcp.Pace(w), r)
}

// Close refuses new requests, and ends all waiting for people or for changes. It ends the streams once the
// accepted requests are answered, or ctx is done.
func (h *Handler) Close(ctx context.Context) {
	h.server.endWaiting()
	h.mcp.Close(ctx)
}

func (h *Handler) serveReady(w http.ResponseWriter, _ *http.Request) {
	if h.server.wire.Closing() {
		plainText(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	if err := h.server.checkProjects(); err != nil {
		h.server.log.Warn("not ready", "error", err) // the error may name folders, and is not for everyone
		plainText(w, http.StatusServiceUnavailable, "not ready; the server's log says why")
		return
	}
	plainText(w, http.StatusOK, "ready")
}

func plainText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the client may have gone
}
