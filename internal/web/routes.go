package web

import (
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// Handler serves the pages to those who have passed the door.
func (d *Dashboard) Handler() http.Handler {
	mux := http.NewServeMux()
	d.routes(mux)
	return headers(mux)
}

// Guarded serves the pages through the door. Handler is for servers that have a door of their own.
func (d *Dashboard) Guarded() http.Handler {
	mux := http.NewServeMux()
	d.routes(mux)
	return headers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unsafe := r.Method != http.MethodGet && r.Method != http.MethodHead
		switch why := d.door.stranger(r); {
		case !d.door.checkHost(w, r):
		case !unsafe && foreign(r):
			refuse(w, r, fault.New(fault.NotAllowed, "a page of another origin may not load this").WithHint("open the dashboard in a tab of its own"))
		case unsafe && why != nil:
			refuse(w, r, why)
		case d.door.reads(r), open(r):
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			mux.ServeHTTP(w, r)
		case unsafe:
			refuse(w, r, unauthorized(fault.New(fault.NotAllowed, "this browser may not read here").WithHint("open the address that bmad-mcp dashboard prints")))
		default:
			d.knock(w, r, http.StatusUnauthorized, "")
		}
	}))
}

// routes are the addresses of the pages.
func (d *Dashboard) routes(mux *http.ServeMux) {
	screen := d.screens.screen
	mux.Handle("GET /{$}", screen("inbox", d.inbox))
	mux.Handle("GET /p/{project}/{$}", screen("board", d.board))
	mux.Handle("GET /p/{project}/r/{task}/{$}", screen("run", d.run))
	mux.Handle("GET /p/{project}/r/{task}/log", screen("log", d.logPage))
	mux.Handle("GET /p/{project}/r/{task}/log.json", http.HandlerFunc(d.logJSON))
	mux.Handle("GET /p/{project}/r/{task}/d/{stage}", screen("document", d.document))
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/drafts", d.keepDraft)
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/decide", script(d.decide))
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/sign", script(d.sign))
	mux.HandleFunc("POST /p/{project}/r/{task}/leave", script(d.leave))
	mux.HandleFunc("POST /enter", d.enter)
	mux.Handle("GET /pair", screen("pair", d.pair))
	mux.HandleFunc("POST /pair/claim", script(d.claim))
	mux.HandleFunc("POST /pair/launch", script(d.admitLaunched))
	mux.HandleFunc("POST /passkeys/begin", script(d.passkeyBegins))
	mux.HandleFunc("POST /passkeys/finish", script(d.passkeyEnds))
	mux.HandleFunc("GET /w/{short}", d.short)
	mux.Handle("GET /search", screen("search", d.search))
	mux.Handle("GET /memory", screen("memory", d.memory))
	mux.Handle("GET /runs", screen("runs", d.runs))
	mux.Handle("GET /runs/{project}/{task}", screen("ran", d.ranOne))
	mux.Handle("GET /settings", screen("settings", d.settings))
	mux.Handle("GET /help", screen("help", help))
	mux.Handle("GET /help/{page...}", screen("help", help))
	handleDiagrams(mux)
	mux.Handle("GET /events", d.live)
	mux.HandleFunc("GET /assets/{hash}/{name}", serveAsset)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("GET /", screen("inbox", nowhere))
}

// policy lets a page load its own script and style, and nothing of others.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-src 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// headers sets those that every response has.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
