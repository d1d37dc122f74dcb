package httpguard

import (
	"context"
	"net"
	"net/http"
	"strings"
)

// Visitor is the sender of a request over HTTP, as far as the request shows it.
type Visitor struct {
	// Address is the network address of the sender, without the port.
	Address string
	// Page reports whether a web page sends it. A page is not a person's host: the site, or a library of
	// the site, may run any code in it. It is shown no form, its answer to one counts for nothing, and its
	// decisions are relayed ones at most.
	Page bool
	// Origin is the page's origin, if the browser sends it.
	Origin string
}

// visitorKey is the context's key of a request's visitor.
type visitorKey struct{}

// VisitorOf returns the sender of a request.
func VisitorOf(r *http.Request) Visitor {
	v := Visitor{Address: r.RemoteAddr}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		v.Address = host
	}
	// Browsers put one or the other on every request with a possible harm, and no page can remove them.
	// Sec-Fetch-Mode alone proves nothing, because the fetch of Node sends it.
	_, hasOrigin := r.Header["Origin"]
	_, hasSite := r.Header["Sec-Fetch-Site"]
	v.Page, v.Origin = hasOrigin || hasSite, r.Header.Get("Origin")
	return v
}

// WithVisitor returns a context for the work on a visitor's request.
func WithVisitor(ctx context.Context, v Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// VisitorIn returns the visitor whose request is at work. ok is false if the request did not come over
// HTTP.
func VisitorIn(ctx context.Context) (v Visitor, ok bool) {
	v, ok = ctx.Value(visitorKey{}).(Visitor)
	return v, ok
}

// FromPage reports whether a web page sent the request at work.
func FromPage(ctx context.Context) bool {
	v, _ := VisitorIn(ctx)
	return v.Page
}

// Key returns a key for remembering a visitor. Visitors remembered separately have different keys.
func (v Visitor) Key() string {
	if v.Page {
		return v.Address + " page of " + v.Origin
	}
	return v.Address
}

// Label returns the name of a page for the history, or "" if the visitor is a program.
func (v Visitor) Label() string {
	switch {
	case !v.Page:
		return ""
	case v.Origin == "":
		return "a web page"
	}
	return "a web page of " + strings.ToValidUTF8(v.Origin, "")
}
