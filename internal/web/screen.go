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
)

// page is the content of the layout around a screen.
type page struct {
	Lang lang.Language
	// Title names the page in the browser's tab and in its heading.
	Title string
	// Screen names the kind of page.
	Screen  string
	Version string
	// Path is the page's own address, and Kept the query that it was asked with.
	Path string
	Kept url.Values
	// Trail leads from the inbox to the page.
	Trail []link
	// Follow are the subjects whose changes the page reports. Print is that of their state as the
	// page shows it; without one, changes are reported from the first event on.
	Follow, Print string
	// Query is the text of the search.
	Query string
	Body  templ.Component
}

// In returns the address of the page in a language.
func (p *page) In(l lang.Language) string {
	query := maps.Clone(p.Kept)
	if query == nil {
		query = url.Values{}
	}
	query.Set("lang", string(l))
	return p.Path + "?" + query.Encode()
}

// link is an address with its name.
type link struct{ Href, Text string }

// scriptOf names the scripts of screens besides the one that every page has.
var scriptOf = map[string]string{"door": "door.js", "pair": "door.js", "run": "leave.js", "settings": "passkey.js", "document": "review.js"}

// chinese is the language that browsers, and its readers, name otherwise.
const chinese lang.Language = "zh"

// languageTag is a language as browsers name it.
func languageTag(l lang.Language) string {
	if l == chinese {
		return "zh-CN"
	}
	return string(l)
}

// languageName is the name of a language for those who read it.
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
	// page is filled in by the screen.
	page *page
}

// screens serve the pages.
type screens struct {
	version string
	log     *slog.Logger
}

// screen serves one kind of page. show returns its content.
func (v *screens) screen(name string, show func(*asked) (templ.Component, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), maxWait)
		defer cancel()
		l := languageOf(w, r)
		a := &asked{Context: ctx, r: r, lang: l}
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
		a.page.Body = body
		v.write(w, r, status, a.page)
	})
}

// nowhere answers addresses that lead to no page.
func nowhere(a *asked) (templ.Component, error) {
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

// write renders a page whole before any of it is sent, so that an error shows no half of it. No
// character of it is invisible or changes the direction of writing; in the JSON of a page the
// escapes that replace them mean the same.
func (v *screens) write(w http.ResponseWriter, r *http.Request, status int, p *page) {
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
	_, _ = io.WriteString(z, shown) // an error means that the reader has gone
	_ = z.Close()
}

// languageCookie keeps the language that a person has chosen on a page.
const languageCookie = "lang"

// languageOf returns the language of a request: the one it names, which is kept, else that of an earlier choice,
// else that of the browser.
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

// maxWait bounds the time in which a page is put together.
const maxWait = 30 * time.Second
