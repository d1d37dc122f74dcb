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
	// Options say who may call: by Token, Remote and Origins. The protocol sets the others.
	httpguard.Options
	// MaxBody bounds the body of a request, in bytes.
	MaxBody int64
	// Idle is the time without a request after which a client's session ends.
	Idle time.Duration
	// Metrics serves /metrics.
	Metrics bool
	// Now is the clock.
	Now func() time.Time
}

// Handler serves one Server on HTTP.
type Handler struct {
	server *Server
	mcp    *mcpwire.HTTP
	mux    http.ServeMux
}

// Handler returns the server's face on HTTP: MCP at Endpoint, /healthz, /readyz, and
// /metrics if it was asked for.
func (s *Server) Handler(o HTTPOptions) *Handler {
	h := &Handler{server: s, mcp: s.wire.HTTP(o.MaxBody, o.Idle, o.Now)}
	guard := h.mcp.Guard(o.Options)
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plainText(w, http.StatusOK, "ok") })
	h.mux.HandleFunc("GET /readyz", h.ready)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		plainText(w, http.StatusNotFound, s.engine.Projects().Language("").Say("there is nothing here; MCP is at %s", Endpoint))
	})
	h.mux.Handle(Endpoint, guard.Protect(h.mcp))
	if o.Metrics {
		h.mux.Handle("GET /metrics", guard.Protect(s.metrics.handler()))
	}
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mux.ServeHTTP(h.mcp.Pace(w), r)
}

// Close refuses requests that come from now on, ends all waiting for people or for changes,
// and once the accepted requests are answered, or ctx is done, the streams.
func (h *Handler) Close(ctx context.Context) {
	h.server.close()
	h.mcp.Close(ctx)
}

func (h *Handler) ready(w http.ResponseWriter, _ *http.Request) {
	if h.server.wire.Closing() {
		plainText(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	if err := h.server.ready(); err != nil {
		h.server.log.Warn("not ready", "error", err) // which may name folders: not for everyone
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
