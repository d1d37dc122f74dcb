package web

import (
	"net/http"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// Handler serves the pages without a door, for servers with one of their own.
func (d *Dashboard) Handler() http.Handler {
	mux := http.NewServeMux()
	d.addRoutes(mux)
	return withHeaders(mux)
}

// Guarded serves the pages through the door.
func (d *Dashboard) Guarded() http.Handler {
	mux := http.NewServeMux()
	d.addRoutes(mux)
	return withHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unsafe := r.Method != http.MethodGet && r.Method != http.MethodHead
		switch why := d.door.checkOrigin(r); {
		case !d.door.checkHost(w, r):
		case !unsafe && isForeignLoad(r):
			answerError(w, r, fault.New(fault.NotAllowed, "a page of another origin may not load this").WithHint("open the dashboard in a tab of its own"))
		case unsafe && why != nil:
			answerError(w, r, why)
		case d.door.hasCookie(r), needsNoCookie(r):
			if !strings.HasSuffix(r.URL.Path, "/pictures") { // they have a limit of their own
				r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			}
			mux.ServeHTTP(w, r)
		case unsafe:
			answerError(w, r, asUnauthorized(fault.New(fault.NotAllowed, "this browser may not read here").WithHint("open the address that bmad-mcp dashboard prints")))
		default:
			d.writeDoorPage(w, r, http.StatusUnauthorized, "")
		}
	}))
}

// addRoutes adds the addresses of the pages.
func (d *Dashboard) addRoutes(mux *http.ServeMux) {
	screen := d.screens.handleScreen
	mux.Handle("GET /{$}", screen("inbox", d.showInbox))
	mux.Handle("GET /p/{project}/{$}", screen("board", d.showBoard))
	mux.Handle("GET /p/{project}/r/{task}/{$}", screen("run", d.showRun))
	mux.Handle("GET /p/{project}/r/{task}/log", screen("log", d.showLog))
	mux.Handle("GET /p/{project}/r/{task}/trace", screen("trace", d.showTrace))
	mux.Handle("GET /p/{project}/r/{task}/log.json", http.HandlerFunc(d.logJSON))
	mux.Handle("GET /p/{project}/r/{task}/d/{stage}", screen("document", d.showDocument))
	mux.HandleFunc("GET /p/{project}/r/{task}/d/{stage}/source", handleScript(d.sendSource))
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/drafts", d.keeper.keepDraft)
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/pictures", d.keeper.keepPicture)
	mux.HandleFunc("GET /p/{project}/r/{task}/d/{stage}/pictures/{name}", d.keeper.showPicture)
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/decide", handleScript(d.decide))
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/sign", handleScript(d.beginSigning))
	mux.HandleFunc("POST /p/{project}/r/{task}/leave", handleScript(d.reopenOrCancel))
	mux.HandleFunc("GET /p/{project}/r/{task}/live", handleScript(d.starter.readLive))
	mux.HandleFunc("POST /p/{project}/r/{task}/run", handleScript(d.starter.steerRun))
	mux.Handle("GET /new", screen("new", d.showNewRun))
	mux.HandleFunc("POST /new", handleScript(d.starter.startRun))
	mux.HandleFunc("POST /enter", d.exchangeSecret)
	mux.Handle("GET /pair", screen("pair", d.showPairing))
	mux.HandleFunc("POST /pair/claim", handleScript(d.claimKey))
	mux.HandleFunc("POST /pair/launch", handleScript(d.admitLaunched))
	mux.HandleFunc("POST /passkeys/begin", handleScript(d.handleBeginPasskey))
	mux.HandleFunc("POST /passkeys/finish", handleScript(d.handleFinishPasskey))
	mux.HandleFunc("GET /w/{short}", d.redirectShort)
	mux.HandleFunc("GET /next", d.redirectNext)
	mux.Handle("GET /search", screen("search", d.showSearch))
	mux.Handle("GET /memory", screen("memory", d.showMemory))
	mux.Handle("GET /runs", screen("runs", d.showHeadlessRuns))
	mux.HandleFunc("GET /runs/{project}/{task}", d.redirectRun)
	mux.Handle("GET /settings", screen("settings", d.showSettings))
	mux.Handle("GET /help", screen("help", showHelp))
	mux.Handle("GET /help/{page...}", screen("help", showHelp))
	handleDiagrams(mux)
	mux.Handle("GET /events", d.live)
	mux.HandleFunc("GET /assets/{hash}/{name}", serveAsset)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("GET /", screen("inbox", showNotFound))
}

// policy lets a page load script and style from its own origin, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-src 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// withHeaders adds the headers of every response.
func withHeaders(next http.Handler) http.Handler {
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
