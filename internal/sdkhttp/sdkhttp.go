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
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Options configure a Handler. All but Client, Clock and Log may be zero.
type Options struct {
	// Options say who may call: by Token, Remote and Origins.
	httpguard.Options
	// Client is the caller's, who closes it after the Handler.
	Client *sdk.Client
	// Runs serves /api/runs; nil if that is not offered.
	Runs  Runs
	Clock func() time.Time
	Log   *slog.Logger
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

// Handler serves the agents of one client.
type Handler struct {
	o       Options
	limiter *httpguard.Limiter
	mux     *http.ServeMux
	guarded http.Handler

	base context.Context
	end  context.CancelFunc
	// work counts the requests that end with the handler, and its own goroutine.
	work sync.WaitGroup

	mu   sync.Mutex
	open map[string]*entry
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
