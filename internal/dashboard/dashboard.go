// Package dashboard shows runs in a web browser, and takes the person's decisions there.
//
// A page is HTML that the server has rendered: everything can be read without script. A screen is
// a kind of page: its file holds the facts that it gathers and its template their layout. The
// door decides who may read, and who may decide. A project is addressed by an id that is made
// from its folder, and only folders that the server knows can be addressed.
package dashboard

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/passkey"
)

// Options are what a Dashboard needs from outside.
type Options struct {
	Version string
	// Engine reads the sessions, and carries out decisions.
	Engine *engine.Engine
	// Library serves the BMAD method, and Memory the notes of the projects; without one, its page
	// says that there are none.
	Library *library.Library
	Memory  *memory.Memory
	// Health gathers what the settings page shows of the program's own state; nil shows nothing.
	Health HealthFunc
	// Recheck, if not nil, drops the cached state of the disk before the live pages look again.
	Recheck func()
	// State is the person's folder outside of projects; "" keeps no words that were not sent.
	State string
	// Origin is that of the pages, such as http://localhost:8123, for a server with a door.
	Origin string
	// Pairing is the state folder in which browsers are paired; "" pairs none.
	Pairing string
	// ReadOnly keeps everybody from deciding.
	ReadOnly bool
	// Passkeys, if not nil, check the signatures of decisions.
	Passkeys *passkey.Keys
	Log      *slog.Logger
}

// Dashboard serves the pages. It is safe for concurrent use.
type Dashboard struct {
	o       Options
	log     *slog.Logger
	screens screens
	feed    *feed.Feed
	drafts  drafts
	door    *door
	nonces  nonces
	// streams counts the pages that follow something.
	streams atomic.Int64
	// beat is how often a stream without news is kept open.
	beat time.Duration
	// ended is closed when the pages' streams have to end.
	ended context.Context
	end   context.CancelFunc
}

// New returns a dashboard.
func New(o Options) (*Dashboard, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	door, err := newDoor(o)
	if err != nil {
		return nil, err
	}
	d := &Dashboard{o: o, log: o.Log, door: door, beat: heartbeat}
	if o.State != "" {
		d.drafts = drafts(filepath.Join(o.State, "drafts"))
	}
	d.ended, d.end = context.WithCancel(context.Background())
	d.feed = feed.New(feed.Options{Recheck: o.Recheck, Now: o.Engine.Clock, Log: o.Log})
	return d, nil
}

// Close ends the streams of the live pages. Requests that were accepted are answered.
func (d *Dashboard) Close(context.Context) {
	d.end()
	d.feed.Close()
}

// maxWait bounds the time in which a page is put together.
const maxWait = 30 * time.Second

// Handler serves the pages to those who have passed the door.
func (d *Dashboard) Handler() http.Handler {
	mux := http.NewServeMux()
	d.routes(mux)
	return headers(mux)
}

// routes are the addresses of the pages.
func (d *Dashboard) routes(mux *http.ServeMux) {
	mux.Handle("GET /{$}", d.screen("inbox", d.inbox))
	mux.Handle("GET /p/{project}/{$}", d.screen("board", d.board))
	mux.Handle("GET /p/{project}/r/{task}/{$}", d.screen("run", d.run))
	mux.Handle("GET /p/{project}/r/{task}/log", d.screen("log", d.logPage))
	mux.Handle("GET /p/{project}/r/{task}/log.json", http.HandlerFunc(d.logJSON))
	mux.Handle("GET /p/{project}/r/{task}/d/{stage}", d.screen("document", d.document))
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/drafts", d.keepDraft)
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/decide", d.decide)
	mux.HandleFunc("POST /p/{project}/r/{task}/d/{stage}/sign", d.sign)
	mux.HandleFunc("POST /p/{project}/r/{task}/leave", d.leave)
	mux.HandleFunc("POST /enter", d.enter)
	mux.Handle("GET /pair", d.screen("pair", d.pair))
	mux.HandleFunc("POST /pair/claim", d.claim)
	mux.HandleFunc("POST /pair/launch", d.launched)
	mux.HandleFunc("POST /passkeys/begin", d.passkeyBegins)
	mux.HandleFunc("POST /passkeys/finish", d.passkeyEnds)
	mux.HandleFunc("GET /w/{short}", d.short)
	mux.Handle("GET /search", d.screen("search", d.search))
	mux.Handle("GET /method", d.screen("method", d.method))
	mux.Handle("GET /method/{kind}/{name...}", d.screen("item", d.methodOne))
	mux.Handle("GET /memory", d.screen("memory", d.memories))
	mux.Handle("GET /memory/{project}", d.screen("notes", d.memory))
	mux.Handle("GET /runs", d.screen("runs", d.runs))
	mux.Handle("GET /runs/{project}/{task}", d.screen("ran", d.ranOne))
	mux.Handle("GET /settings", d.screen("settings", d.settings))
	d.diagrams(mux)
	mux.HandleFunc("GET /events", d.events)
	mux.HandleFunc("GET /assets/{hash}/{name}", serveAsset)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("GET /", d.screen("inbox", nowhere))
}

// policy is what a page may load and do: its own script and style, and nothing of others.
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
