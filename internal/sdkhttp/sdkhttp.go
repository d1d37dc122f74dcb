// Package sdkhttp serves agents over HTTP: conversations, single commands, and the events of both
// as they happen. Keys are in camelCase, amounts in US dollars, durations in milliseconds.
package sdkhttp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Options configure a Handler. All but Client and Log may be zero.
type Options struct {
	// Options say who may call: by Token, Remote and Origins.
	httpguard.Options
	// Client is the caller's, who closes it after the Handler.
	Client *sdk.Client
	// Runs serves /api/runs; nil if that is not offered.
	Runs Runs
	Log  *slog.Logger
	// CostLimit is the most that a request may set for its conversation; 0 leaves it to the caller.
	CostLimit price.Money
}

// Handler serves the agents of one client.
type Handler struct {
	o       Options
	limiter *httpguard.Limiter
	mux     *http.ServeMux
	guarded http.Handler
	// atWork bounds the conversations at work at once, idle is the time for which one stays in memory
	// without a request, ping that between the comments that keep a silent stream open.
	atWork     int
	idle, ping time.Duration

	base context.Context
	end  context.CancelFunc

	mu   sync.Mutex
	open map[string]*entry
}

var limits = httpguard.Limits{
	Streams: 512, PeerStreams: 128, SessionStreams: 16, Bodies: 64 << 20, SmallBody: 64 << 10, Write: 30 * time.Second,
}

// New returns a handler. Close ends it.
func New(o Options) *Handler {
	h := &Handler{
		o: o, limiter: httpguard.NewLimiter(limits), atWork: 64, idle: time.Hour, ping: 15 * time.Second, open: map[string]*entry{},
	}
	h.base, h.end = context.WithCancel(context.Background())
	h.mux = h.newMux()
	o.Methods = []string{"GET", "POST", "DELETE"}
	o.Headers = []string{"Authorization", "Content-Type", "Accept", "Last-Event-ID"}
	o.Exposed = []string{"Allow", "Retry-After"}
	o.Refuse = func(w http.ResponseWriter, _ *http.Request, status int, why lang.Text) {
		code := "forbidden"
		if status == http.StatusUnauthorized {
			code = "unauthorized"
		}
		h.fail(w, refuse(status, code, why.In(lang.English), ""))
	}
	h.guarded = httpguard.New(o.Options).Protect(http.HandlerFunc(h.dispatch))
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = h.limiter.Pace(w, false)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.URL.Path != "/health":
		h.guarded.ServeHTTP(w, r)
	case h.base.Err() != nil:
		reply(w, http.StatusServiceUnavailable, object{"status": "closing"})
	default:
		reply(w, http.StatusOK, object{"status": "ok"})
	}
}

// dispatch serves a request of somebody who may call.
func (h *Handler) dispatch(w http.ResponseWriter, r *http.Request) {
	if h.base.Err() != nil {
		h.fail(w, errClosing)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// Close refuses requests that come from now on, and ends all streams. The server waits for the
// accepted requests. Conversations at work go on until their client is closed.
func (h *Handler) Close(context.Context) { h.end() }
