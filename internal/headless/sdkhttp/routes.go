package sdkhttp

import (
	"context"
	_ "embed" // the description of the API
	"net/http"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
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
	keys string
	// serve returns the reply, nil if it has written one.
	serve func(*call) (any, error)
}

// routes lists the API without /health; openapi.json describes each.
func (h *Handler) routes() []route {
	return []route{
		{"GET", "/api/conversations", http.StatusOK, "", h.list},
		{"POST", "/api/conversations", http.StatusAccepted, "agentId! message! costLimit context", h.start},
		{"GET", "/api/conversations/{id}", http.StatusOK, "", h.look(h.show)},
		{"DELETE", "/api/conversations/{id}", http.StatusNoContent, "", h.change(h.remove)},
		{"POST", "/api/conversations/{id}/messages", http.StatusAccepted, "message!", h.change(h.message)},
		{"POST", "/api/conversations/{id}/answers", http.StatusAccepted, "answer! questionId", h.change(h.answer)},
		{"POST", "/api/conversations/{id}/cancel", http.StatusOK, "", h.change(h.cancel)},
		{"POST", "/api/conversations/{id}/resume", http.StatusAccepted, "", h.change(h.resume)},
		{"POST", "/api/conversations/{id}/end", http.StatusOK, "", h.change(h.finish)},
		{"GET", "/api/conversations/{id}/documents/{path...}", http.StatusOK, "", h.look(h.document)},
		{"GET", "/api/conversations/{id}/events", http.StatusOK, "", h.look(h.events)},
		{"GET", "/api/agents", http.StatusOK, "", h.agents},
		{"GET", "/api/agents/{id}", http.StatusOK, "", h.agent},
		{"POST", "/api/agents/{id}/{command}", http.StatusOK, "message costLimit context", h.command},
		{"POST", "/api/runs", http.StatusAccepted, "objective! taskName workflow engine costLimit", h.startRun},
		{"GET", "/api/runs/{id}", http.StatusOK, "", h.showRun},
		{"GET", "/api/runs/{id}/events", http.StatusOK, "", h.runEvents},
		{"GET", "/api/openapi.json", http.StatusOK, "", func(c *call) (any, error) { return c.write("application/json", openAPI) }},
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

// newMux registers the routes, and refusals for all other methods and paths.
func (h *Handler) newMux() *http.ServeMux {
	mux, allowed := http.NewServeMux(), map[string][]string{}
	for _, to := range h.routes() {
		mux.HandleFunc(to.method+" "+to.path, func(w http.ResponseWriter, r *http.Request) { h.serve(to, &call{w: w, r: r}) })
		allowed[to.path] = append(allowed[to.path], to.method)
	}
	for path, methods := range allowed {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			hint := "use " + strings.Join(methods, " or ")
			h.fail(w, refuse(http.StatusMethodNotAllowed, "method_not_allowed", "this path does not take "+r.Method, hint))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		h.fail(w, refuse(http.StatusNotFound, "not_found", "there is nothing at this path", "GET /api/openapi.json lists the paths"))
	})
	return mux
}

// serve carries out a request.
func (h *Handler) serve(to route, c *call) {
	var err error
	if h.o.Runs == nil && strings.HasPrefix(to.path, "/api/runs") {
		err = errNoRuns
	} else if to.method == "POST" {
		err = h.read(c, to.keys)
	}
	var out any
	if err == nil {
		out, err = to.serve(c)
	}
	switch {
	case err != nil:
		h.fail(c.w, err)
	case to.status == http.StatusNoContent:
		c.w.WriteHeader(to.status)
	case out != nil:
		reply(c.w, to.status, out)
	}
}
