package sdkhttp

import (
	"cmp"
	"context"
	_ "embed" // the description of the API
	"net/http"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// openAPI describes the routes.
//
//go:embed openapi.json
var openAPI []byte

// route is an entry of the API.
type route struct {
	method, path string
	// status is that of a request that was carried out.
	status int
	// keys are those of the body, with a ! behind the ones that it must have.
	keys  string
	serve func(*call) error
}

// routes lists the API without /health; openapi.json describes each.
func (h *Handler) routes() []route {
	return []route{
		{"POST", "/api/conversations", http.StatusAccepted, "agentId! message! costLimit context", h.start},
		{"GET", "/api/conversations", http.StatusOK, "", h.list},
		{"GET", "/api/conversations/{id}", http.StatusOK, "", h.look(h.show)},
		{"DELETE", "/api/conversations/{id}", http.StatusNoContent, "", h.change(h.remove)},
		{"POST", "/api/conversations/{id}/messages", http.StatusAccepted, "message!", h.change(h.message)},
		{"POST", "/api/conversations/{id}/answers", http.StatusAccepted, "answer! questionId", h.change(h.answer)},
		{"POST", "/api/conversations/{id}/cancel", http.StatusOK, "", h.change(h.cancel)},
		{"POST", "/api/conversations/{id}/resume", http.StatusAccepted, "", h.change(h.resume)},
		{"POST", "/api/conversations/{id}/end", http.StatusOK, "", h.change(h.finish)},
		{"GET", "/api/conversations/{id}/documents/{path...}", http.StatusOK, "", h.look(h.document)},
		{"GET", "/api/conversations/{id}/events", http.StatusOK, "", h.events},
		{"GET", "/api/agents", http.StatusOK, "", h.agents},
		{"GET", "/api/agents/{id}", http.StatusOK, "", h.agent},
		{"POST", "/api/agents/{id}/{command}", http.StatusOK, "message costLimit context", h.command},
		{"POST", "/api/runs", http.StatusAccepted, "objective! taskName workflow engine costLimit", h.startRun},
		{"GET", "/api/runs/{id}", http.StatusOK, "", h.showRun},
		{"GET", "/api/runs/{id}/events", http.StatusOK, "", h.runEvents},
		{"GET", "/api/openapi.json", http.StatusOK, "", func(c *call) error {
			c.write("application/json", openAPI)
			return nil
		}},
	}
}

var defaultLimits = httpguard.Limits{
	Streams: 512, PeerStreams: 128, SessionStreams: 16, Bodies: 64 << 20, SmallBody: 64 << 10, Write: 30 * time.Second,
}

// methods are those of the routes.
var methods = []string{"GET", "POST", "DELETE"}

// New returns a handler. Close ends it.
func New(o Options) *Handler {
	o.AtWork, o.Idle, o.Ping = cmp.Or(o.AtWork, 64), cmp.Or(o.Idle, time.Hour), cmp.Or(o.Ping, 15*time.Second)
	if o.Limits.Streams == 0 {
		o.Limits = defaultLimits
	}
	h := &Handler{o: o, limiter: httpguard.NewLimiter(o.Limits), mux: http.NewServeMux(), open: map[string]*entry{}}
	h.base, h.end = context.WithCancel(context.Background())
	for _, r := range h.routes() {
		h.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) { h.serve(r, &call{w: w, r: req}) })
	}
	o.Methods = methods
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
	h.work.Go(h.sweep)
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
	if _, known := h.mux.Handler(r); known != "" {
		h.mux.ServeHTTP(w, r)
		return
	}
	var allow []string
	for _, method := range methods {
		other := *r
		other.Method = method
		if _, known := h.mux.Handler(&other); known != "" {
			allow = append(allow, method)
		}
	}
	if len(allow) == 0 {
		h.fail(w, refuse(http.StatusNotFound, "not_found", "there is nothing at this path", "GET /api/openapi.json lists the paths"))
		return
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	hint := "use " + strings.Join(allow, " or ")
	h.fail(w, refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this path does not take "+r.Method, hint))
}

// serve carries out a request.
func (h *Handler) serve(to route, c *call) {
	var err error
	if h.o.Runs == nil && strings.HasPrefix(to.path, "/api/runs") {
		err = errNoRuns
	} else if to.method == "POST" {
		err = h.read(c, to.keys)
	}
	if err == nil {
		err = to.serve(c)
	}
	switch {
	case err != nil:
		h.fail(c.w, err)
	case to.status == http.StatusNoContent:
		c.w.WriteHeader(to.status)
	case c.reply != nil:
		reply(c.w, to.status, c.reply)
	}
}
