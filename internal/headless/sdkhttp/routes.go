package sdkhttp

import (
	"context"
	"net/http"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// route is an entry of the API.
type route struct {
	method, path string
	// status is the status after success.
	status int
	// keys are the keys of the body, with a ! behind required ones; rawBody has it read by serve.
	keys string
	// serve returns the reply, nil if it has written one.
	serve func(*call) (any, error)
}

const rawBody = "*"

// routes lists the API; docs/agents-http.md explains it.
func (h *Handler) routes() []route {
	return []route{
		{"POST", "/api/conversations", http.StatusAccepted, "agentId! message! costLimit context", h.startConversation},
		{"GET", "/api/conversations/{id}", http.StatusOK, "", h.onEntry(h.showConversation)},
		{"POST", "/api/conversations/{id}/messages", http.StatusAccepted, "message!", h.changeEntry(h.sendMessage)},
		{"POST", "/api/conversations/{id}/answers", http.StatusAccepted, "answer! questionId", h.changeEntry(h.answerQuestion)},
		{"POST", "/api/conversations/{id}/end", http.StatusOK, "", h.changeEntry(h.endConversation)},
		{"GET", "/api/conversations/{id}/events", http.StatusOK, "", h.onEntry(h.streamEvents)},
		{"POST", "/api/agents/{id}/{command}", http.StatusOK, "message costLimit context", h.runCommand},
		{"GET", "/.well-known/agent-card.json", http.StatusOK, "", h.showCard},
		{"GET", "/a2a/{id}/.well-known/agent-card.json", http.StatusOK, "", h.showCard},
		{"POST", "/a2a/{id}", http.StatusOK, rawBody, h.callAgent},
	}
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
	o.Methods = []string{"GET", "POST"}
	o.Headers = []string{"Authorization", "Content-Type", "Accept", "Last-Event-ID", "A2A-Version"}
	o.Exposed = []string{"Allow", "Retry-After"}
	o.Refuse = func(w http.ResponseWriter, _ *http.Request, status int, why lang.Text) {
		code := "forbidden"
		if status == http.StatusUnauthorized {
			code = "unauthorized"
		}
		h.writeFailure(w, newRefusal(status, code, why.In(lang.English), ""))
	}
	h.guarded = httpguard.New(o.Options).Protect(http.HandlerFunc(h.dispatch))
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = h.limiter.Pace(w, false)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	h.guarded.ServeHTTP(w, r)
}

// dispatch serves a request of somebody who may call.
func (h *Handler) dispatch(w http.ResponseWriter, r *http.Request) {
	if h.base.Err() != nil {
		h.writeFailure(w, errClosing)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// newMux registers the routes, and refusals for all other methods and paths.
func (h *Handler) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, to := range h.routes() {
		mux.HandleFunc(to.method+" "+to.path, func(w http.ResponseWriter, r *http.Request) { h.serve(to, &call{w: w, r: r}) })
		mux.HandleFunc(to.path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", to.method)
			h.writeFailure(w, newRefusal(http.StatusMethodNotAllowed, "method_not_allowed", "this path does not take "+r.Method, "use "+to.method))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		h.writeFailure(w, newRefusal(http.StatusNotFound, "not_found", "there is nothing at this path", "docs/agents-http.md of bmad-mcp lists the paths"))
	})
	return mux
}

// serve carries out a request.
func (h *Handler) serve(to route, c *call) {
	var err error
	if to.method == "POST" && to.keys != rawBody {
		err = h.readBody(c, to.keys)
	}
	var out any
	if err == nil {
		out, err = to.serve(c)
	}
	switch {
	case err != nil:
		h.writeFailure(c.w, err)
	case out != nil:
		writeJSON(c.w, to.status, out)
	}
}
