package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// page is the content of the layout around a screen.
type page struct {
	Lang lang.Language
	// Title names the page in the browser's tab and in the heading.
	Title string
	// Screen is the kind of page, for example inbox.
	Screen  string
	Version string
	// Path is the page's own address, and Kept the query of the request.
	Path string
	Kept url.Values
	// Trail leads from the inbox to the page.
	Trail []link
	// Follow is the subject whose changes the page reports. Print is the print of the state on the page;
	// without one, the first event counts as a change.
	Follow, Print string
	// Query is the text of the search.
	Query string
	// Waits is the number of runs that wait for the person.
	Waits int
	// Beside stands beside the heading; nil for nothing.
	Beside templ.Component
	Body   templ.Component
}

// In returns the address of the page in another language.
func (p *page) In(l lang.Language) string {
	query := maps.Clone(p.Kept)
	if query == nil {
		query = url.Values{}
	}
	query.Set("lang", string(l))
	return p.Path + "?" + query.Encode()
}

// link is a named address.
type link struct{ Href, Text string }

// parts are the files of a screen, in addition to the ones of every page. A bare screen has a heading and margins of
// its own. An early script runs before the page is shown: nothing moves below the reader when it adds notes.
type parts struct {
	Style, Script string
	Bare, Early   bool
}

// partsOf has the parts of the screens that need more than every page has.
var partsOf = map[string]parts{
	"document": {Style: "review.css", Script: "review.js", Bare: true, Early: true},
	"door":     {Script: "door.js"},
	"help":     {Style: "review.css"},
	"log":      {Style: "run.css", Script: "run.js"},
	"pair":     {Script: "door.js"},
	"new":      {Style: "run.css", Script: "run.js"},
	"run":      {Style: "run.css", Script: "run.js"},
	"runs":     {Style: "run.css"},
	"settings": {Script: "passkey.js"},
	"trace":    {Style: "trace.css"},
}

// chinese is named differently by browsers and readers.
const chinese lang.Language = "zh"

// languageTag returns a browser's tag for a language.
func languageTag(l lang.Language) string {
	if l == chinese {
		return "zh-CN"
	}
	return string(l)
}

// languageName returns a language's own name.
func languageName(l lang.Language) string {
	if l == chinese {
		return "中文"
	}
	return l.Name()
}

// asked is a request for a page.
type asked struct {
	context.Context
	r    *http.Request
	lang lang.Language
	now  time.Time
	// known has the sessions of the projects that were read for the request, by the id of the project.
	known map[string][]workflow.Summary
	// crew is the queue, once the request has read it.
	crew *crew
	// unread is true if the sessions of a project could not be read.
	unread bool
	// page is filled in by the screen.
	page *page
}

// screens serves the pages.
type screens struct {
	version    string
	log        *slog.Logger
	clock      func() time.Time
	countWaits func(*asked) int
}

// handleScreen serves one kind of page, with the content returned by show.
func (v *screens) handleScreen(name string, show func(*asked) (templ.Component, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), maxWait)
		defer cancel()
		l := languageOf(w, r)
		a := &asked{Context: ctx, r: r, lang: l, now: v.clock(), known: map[string][]workflow.Summary{}}
		a.page = &page{Lang: l, Screen: name, Version: v.version, Path: r.URL.EscapedPath(), Kept: r.URL.Query()}
		status := http.StatusOK
		body, err := show(a)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return
			}
			f := fault.From(err)
			status = statusOf(f)
			f = f.Translated(l)
			a.page.Screen, a.page.Title, body = "trouble", l.Say("This page cannot be shown"), trouble(l, f.Error(), f.Hint)
		}
		a.page.Body, a.page.Waits = body, v.countWaits(a)
		v.writePage(w, r, status, a.page)
	})
}

// showNotFound answers addresses without a page.
func showNotFound(a *asked) (templ.Component, error) {
	return nil, fault.New(fault.NotFound, "no page has the address %q", a.r.URL.Path).WithHint("the inbox leads to all pages")
}

// statusOf maps an error to a status of HTTP.
func statusOf(f *fault.Error) int {
	switch f.Code {
	case fault.NotFound:
		return http.StatusNotFound
	case fault.InvalidArgument:
		return http.StatusBadRequest
	case fault.Conflict, fault.WrongStage:
		return http.StatusConflict
	case fault.GatePending, fault.NotAllowed:
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

// writePage renders a whole page before it sends a byte, so that an error leaves no half page. It escapes
// invisible characters and changes of the writing direction; in a page's JSON the escapes have the same
// meaning.
func (v *screens) writePage(w http.ResponseWriter, r *http.Request, status int, p *page) {
	var text bytes.Buffer
	if err := layout(p.Lang, p).Render(r.Context(), &text); err != nil {
		v.log.Error("a page cannot be rendered", "path", r.URL.Path, "error", err)
		http.Error(w, p.Lang.Say("This page cannot be shown because of a bug; the log of the dashboard names it."), http.StatusInternalServerError)
		return
	}
	shown := visible.Text(text.String())
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(p.Lang))
	h.Add("Vary", "Accept-Encoding, Accept-Language, Cookie")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, shown)
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := gzip.NewWriter(w)
	_, _ = io.WriteString(z, shown) // the reader may have gone
	_ = z.Close()
}

// languageCookie keeps the language chosen by a person on a page.
const languageCookie = "lang"

// languageOf returns the language of a request: the lang parameter, which is kept in a cookie, else the one
// in the cookie, else the first known one of the browser.
func languageOf(w http.ResponseWriter, r *http.Request) lang.Language {
	if l, ok := lang.Known(r.URL.Query().Get("lang")); ok && r.URL.Query().Has("lang") {
		//nolint:gosec // it keeps no secret, and the pages come over plain HTTP
		http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: string(l), Path: "/", MaxAge: 365 * 24 * 60 * 60, SameSite: http.SameSiteStrictMode, HttpOnly: true})
		return l
	}
	if c, err := r.Cookie(languageCookie); err == nil {
		if l, ok := lang.Known(c.Value); ok {
			return l
		}
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(part)), ";")
		tag, _, _ = strings.Cut(tag, "-")
		if l, ok := lang.Known(tag); ok {
			return l
		}
	}
	return lang.English
}

// maxWait bounds the time to put a page together.
const maxWait = 30 * time.Second
