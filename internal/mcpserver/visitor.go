package mcpserver

import (
	"context"
	"net"
	"net/http"
	"strings"
)

// visitor is who sends a request over HTTP, as far as the request shows it.
type visitor struct {
	// address is where the request comes from, without the port.
	address string
	// page is true where a web page sends it. A page is not a person's host: it runs whatever
	// its site, or a library of its site, wants to run. It is shown no form, what it sends as
	// the answer to one is nobody's answer, and its decisions are relayed ones at most.
	page bool
	// origin is the page's, where the browser tells it.
	origin string
}

// visitorKey is the key of a request's visitor in its context.
type visitorKey struct{}

// visitorOf reads who sends a request.
func visitorOf(r *http.Request) visitor {
	v := visitor{address: r.RemoteAddr}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		v.address = host
	}
	// Browsers put one or the other on everything that could do harm, and no page can take
	// them off. Sec-Fetch-Mode alone is no such sign: the fetch of Node sends it.
	_, hasOrigin := r.Header["Origin"]
	_, hasSite := r.Header["Sec-Fetch-Site"]
	v.page, v.origin = hasOrigin || hasSite, r.Header.Get("Origin")
	return v
}

// visitorIn returns the visitor of a request that came over HTTP; ok is false on stdio.
func visitorIn(ctx context.Context) (v visitor, ok bool) {
	v, ok = ctx.Value(visitorKey{}).(visitor)
	return v, ok
}

// overHTTP reports whether a request came over HTTP.
func overHTTP(ctx context.Context) bool {
	_, http := visitorIn(ctx)
	return http
}

// fromPage reports whether a web page sent a request.
func fromPage(ctx context.Context) bool {
	v, _ := visitorIn(ctx)
	return v.page
}

// key tells visitors apart that are remembered separately.
func (v visitor) key() string {
	if v.page {
		return v.address + " page of " + v.origin
	}
	return v.address
}

// label names a page for the history; "" for a program.
func (v visitor) label() string {
	switch {
	case !v.page:
		return ""
	case v.origin == "":
		return "a web page"
	}
	return "a web page of " + strings.ToValidUTF8(v.origin, "")
}
