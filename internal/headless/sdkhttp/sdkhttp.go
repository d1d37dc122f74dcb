// Package sdkhttp serves agents over HTTP: conversations with their events as they happen, single commands, and
// each agent by the protocol Agent2Agent (A2A). Keys are in camelCase, amounts in US dollars, durations in milliseconds.
package sdkhttp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Options configure a Handler. All but Client and Log may be zero.
type Options struct {
	// Options say who may call: by Token, Remote and Origins.
	httpguard.Options
	// Client is the caller's, who closes it after the Handler.
	Client *sdk.Client
	Log    *slog.Logger
	// CostLimit is the highest limit for a conversation in a request; 0 leaves it to the caller.
	CostLimit price.Money
	// Tools are the caller's own, which every conversation has.
	Tools []sdk.AnyTool
	// Agents are the ids of the agents served by Agent2Agent, the one with the card of the server first; none are all.
	Agents []string
	// Address is the address of the server for others, such as https://agents.acme; "" is the host of the request, by
	// HTTP. Version is the program's.
	Address, Version string
}

// Handler serves the agents of one client.
type Handler struct {
	o       Options
	limiter *httpguard.Limiter
	mux     *http.ServeMux
	guarded http.Handler
	// atWork bounds the conversations at work at once, idle is a conversation's time in memory without a
	// request, ping the time between the comments in a silent stream.
	atWork     int
	idle, ping time.Duration

	base context.Context
	end  context.CancelFunc

	mu   sync.Mutex
	open map[string]*entry
}

// Close refuses all later requests, and ends all streams. The server waits for the accepted requests.
// Conversations at work go on until their client is closed.
func (h *Handler) Close(context.Context) { h.end() }
