package httpguard

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// TestProtect asks as programs, pages and browsers do. Callers without permission are refused by the
// face's own function, and reach nothing.
func TestProtect(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      Options
		method string
		host   string
		header string // name: value, separated by |
		want   string
	}{
		{"a program", Options{}, "GET", "localhost:7", "", "200 reached"},
		{"another name of this machine", Options{}, "GET", "[::1]:7", "", "200 reached"},
		{"a name that leads here", Options{}, "GET", "evil.example", "", `403 the host "evil.example" is not this machine`},
		{"a name that leads here, of a server for others", Options{Remote: true}, "GET", "evil.example", "", "200 reached"},
		{"without the token", Options{Token: "secret"}, "GET", "localhost", "", "401 the token is missing or wrong"},
		{"with another token", Options{Token: "secret"}, "GET", "localhost", "Authorization: Bearer secre", "401 the token is missing or wrong"},
		{"with the token", Options{Token: "secret"}, "GET", "localhost", "Authorization: bearer secret", "200 reached"},
		{"a page of the server", Options{}, "POST", "localhost:7", "Origin: http://localhost:7|Sec-Fetch-Site: same-origin", "200 reached"},
		{"a page at another port", Options{}, "POST", "localhost:7", "Origin: http://localhost:8", `403 pages of "http://localhost:8" may not call`},
		{"a page that may call", Options{Origins: []string{"http://localhost:8"}}, "POST", "localhost:7", "Origin: http://localhost:8|Sec-Fetch-Site: same-site", "200 reached"},
		{"a sandboxed page", Options{Origins: []string{"http://localhost:8"}}, "POST", "localhost:7", "Origin: null", "403 web pages of other origins"},
		{"two origins", Options{Origins: []string{"http://localhost:8"}}, "POST", "localhost:7", "Origin: http://localhost:8|Origin: http://localhost:8", "403"},
		{"a link", Options{}, "GET", "localhost:7", "Sec-Fetch-Site: cross-site", "403 web pages of other origins"},
		{"an address that was typed", Options{}, "GET", "localhost:7", "Sec-Fetch-Site: none", "200 reached"},
		{"a preflight", Options{Token: "secret", Methods: []string{"PUT"}, Headers: []string{"X-A", "X-B"}}, "OPTIONS", "localhost:7", "Origin: http://localhost:7|Access-Control-Request-Method: PUT", "204 PUT; X-A, X-B"},
		{"a preflight of another page", Options{}, "OPTIONS", "localhost:7", "Origin: http://a.example|Access-Control-Request-Method: PUT", "403"},
	} {
		c.o.Refuse = func(w http.ResponseWriter, _ *http.Request, status int, why lang.Text) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, why.String())
		}
		r := httptest.NewRequestWithContext(context.Background(), c.method, "http://"+c.host+"/", http.NoBody)
		for line := range strings.SplitSeq(c.header, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Add(name, value)
			}
		}
		w := httptest.NewRecorder()
		New(c.o).Protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") })).ServeHTTP(w, r)
		got := fmt.Sprint(w.Code, " ", w.Body)
		if w.Code == http.StatusNoContent {
			got = "204 " + w.Header().Get("Access-Control-Allow-Methods") + "; " + w.Header().Get("Access-Control-Allow-Headers")
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestVisitor tells pages from programs, and pages from each other.
func TestVisitor(t *testing.T) {
	for _, c := range []struct{ header, key, label string }{
		{"", "192.0.2.1", ""},
		{"Sec-Fetch-Mode: cors", "192.0.2.1", ""}, // the fetch of Node sends it
		{"Origin: http://a.example", "192.0.2.1 page of http://a.example", "a web page of http://a.example"},
		{"Origin: ", "192.0.2.1 page of ", "a web page"},
		{"Sec-Fetch-Site: same-origin", "192.0.2.1 page of ", "a web page"},
	} {
		r := httptest.NewRequestWithContext(context.Background(), "GET", "/", http.NoBody)
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			r.Header.Set(name, value)
		}
		ctx := WithVisitor(t.Context(), VisitorOf(r))
		v, ok := VisitorIn(ctx)
		if !ok || v.Key() != c.key || v.Label() != c.label || FromPage(ctx) != (c.label != "") {
			t.Errorf("%q: key %q and label %q, page %v; want %q and %q", c.header, v.Key(), v.Label(), FromPage(ctx), c.key, c.label)
		}
	}
	if _, ok := VisitorIn(t.Context()); ok || FromPage(t.Context()) {
		t.Error("a request that did not come over HTTP has a visitor")
	}
}
