// Package sdkhttp serves agents over HTTP: conversations, single commands, and the events of both
// as they happen. Keys are in camelCase, amounts in US dollars, durations in milliseconds.
package sdkhttp

import (
	"cmp"
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
	// AtWork bounds the conversations at work at once: 64 by default.
	AtWork int
	// Idle is the time for which a conversation stays in memory without a request: an hour by default.
	Idle time.Duration
	// Ping is the time between the comments that keep a silent stream open: 15 seconds by default.
	Ping time.Duration
	// Limits replaces the default bounds of streams and bodies, if its Streams are not 0.
	Limits httpguard.Limits
}

var defaultLimits = httpguard.Limits{
	Streams: 512, PeerStreams: 128, SessionStreams: 16, Bodies: 64 << 20, SmallBody: 64 << 10, Write: 30 * time.Second,
}

// Handler serves the agents of one client.
type Handler struct {
	o       Options
	limiter *httpguard.Limiter
	mux     *http.ServeMux
	guarded http.Handler

	base context.Context
	end  context.CancelFunc
	// work counts the requests that are being served.
	work sync.WaitGroup

	mu   sync.Mutex
	open map[string]*entry
}

// New returns a handler. Close ends it.
func New(o Options) *Handler {
	o.AtWork, o.Idle, o.Ping = cmp.Or(o.AtWork, 64), cmp.Or(o.Idle, time.Hour), cmp.Or(o.Ping, 15*time.Second)
	if o.Limits.Streams == 0 {
		o.Limits = defaultLimits
	}
	h := &Handler{o: o, limiter: httpguard.NewLimiter(o.Limits), open: map[string]*entry{}}
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
	if !h.enter() {
		h.fail(w, errClosing)
		return
	}
	defer h.work.Done()
	h.mux.ServeHTTP(w, r)
}

// enter counts a request, and reports false if the handler is closed.
func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.base.Err() != nil {
		return false
	}
	h.work.Add(1)
	return true
}

// Close refuses requests that come from now on, ends all streams and waits for the accepted
// requests, or until ctx is done. Conversations at work go on until their client is closed.
func (h *Handler) Close(ctx context.Context) {
	h.mu.Lock()
	h.end()
	h.mu.Unlock()
	done := make(chan struct{})
	go func() {
		h.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
