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

// TestWhoMayCall tells the pages that may call from those that may not, before anything that
// they send is looked at.
func TestWhoMayCall(t *testing.T) {
	const allowed, host, port = "http://localhost:6274", "127.0.0.1:7777", ":7777"
	origin, err := ParseOrigin("https://Inspector.Example:443")
	if err != nil {
		t.Fatal(err)
	}
	guard := New(Options{Origins: []string{allowed, origin}, Refuse: func(w http.ResponseWriter, _ *http.Request, status int, _ lang.Text) { w.WriteHeader(status) }})
	face := guard.Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		name   string
		header []string
		may    bool
	}{
		{"a program", nil, true},
		{"a program by another name of this machine", []string{"Host", "localhost" + port}, true},
		{"node's fetch", []string{"Sec-Fetch-Mode", "cors"}, true},

		{"own", []string{"Origin", "http://" + host}, true},
		{"own, by the name it is called", []string{"Host", "localhost" + port, "Origin", "http://localhost" + port}, true},
		{"own, ipv6", []string{"Host", "[::1]" + port, "Origin", "http://[::1]" + port}, true},
		{"own, letters", []string{"Host", "localhost" + port, "Origin", "HTTP://LOCALHOST" + port}, true},
		{"own, default port", []string{"Host", "localhost", "Origin", "http://localhost:80"}, true},
		{"allowed", []string{"Origin", allowed}, true},
		{"allowed by its plain form", []string{"Origin", "https://inspector.example"}, true},
		{"own, no origin", []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"typed by a person", []string{"Sec-Fetch-Site", "none"}, true},

		{"own, but asked for by another", []string{"Origin", "http://" + host, "Sec-Fetch-Site", "cross-site"}, false},
		{"own host, other scheme", []string{"Origin", "https://" + host}, false},
		{"another port", []string{"Origin", "http://127.0.0.1:3000"}, false},
		{"another port, by name", []string{"Origin", "http://localhost:3000"}, false},
		{"our port under another name of this machine", []string{"Origin", "http://localhost" + port}, false},
		{"our port, ipv6", []string{"Origin", "http://[::1]" + port}, false},
		{"our port, another loopback address", []string{"Origin", "http://127.0.0.2" + port}, false},
		{"no port", []string{"Origin", "http://127.0.0.1"}, false},
		{"trailing dot", []string{"Origin", "http://localhost." + port, "Host", "localhost" + port}, false},
		{"trailing dot in both", []string{"Origin", "http://localhost." + port, "Host", "localhost." + port}, false},
		{"a name that ends so", []string{"Origin", "http://evil-" + host}, false},
		{"a name that begins so", []string{"Origin", "http://" + host + ".evil.example"}, false},
		{"user part", []string{"Origin", "http://" + host + "@evil.example"}, false},
		{"a path", []string{"Origin", "http://" + host + "/"}, false},
		{"sandboxed", []string{"Origin", "null"}, false},
		{"null in capitals", []string{"Origin", "NULL"}, false},
		{"a file", []string{"Origin", "file://"}, false},
		{"an extension", []string{"Origin", "chrome-extension://abcdefghijklmnop"}, false},
		{"an empty origin", []string{"Origin", ""}, false},
		{"two in one", []string{"Origin", "http://" + host + ", http://evil.example"}, false},
		{"two, ours first", []string{"Origin", "http://" + host, "Origin", "http://evil.example"}, false},
		{"two, ours last", []string{"Origin", "http://evil.example", "Origin", "http://" + host}, false},
		{"ours twice", []string{"Origin", "http://" + host, "Origin", "http://" + host}, false},
		{"allowed, other scheme", []string{"Origin", "https://localhost:6274"}, false},
		{"allowed, other port", []string{"Origin", "http://localhost:6275"}, false},
		{"allowed, as an address", []string{"Origin", "http://127.0.0.1:6274"}, false},
		{"allowed, below", []string{"Origin", "https://a.inspector.example"}, false},
		{"a look-alike", []string{"Host", "localhost" + port, "Origin", "http://localho\u017ft" + port}, false},

		{"no origin, another site", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"no origin, another port", []string{"Sec-Fetch-Site", "same-site"}, false},
		{"no origin, an unknown word", []string{"Sec-Fetch-Site", "elsewhere"}, false},
		{"no origin, no word", []string{"Sec-Fetch-Site", ""}, false},
		{"no origin, two words", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site"}, false},
		{"rebound name", []string{"Host", "evil.example" + port, "Origin", "http://evil.example" + port, "Sec-Fetch-Site", "same-origin"}, false},
	} {
		for _, method := range []string{http.MethodPost, http.MethodOptions, http.MethodGet, http.MethodDelete} {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://"+host+"/", http.NoBody)
			if method == http.MethodOptions {
				r.Header.Set("Access-Control-Request-Method", "POST")
			}
			for i := 0; i < len(c.header); i += 2 {
				if c.header[i] == "Host" {
					r.Host = c.header[i+1]
					continue
				}
				r.Header.Add(c.header[i], c.header[i+1])
			}
			res := httptest.NewRecorder()
			face.ServeHTTP(res, r)
			if may := res.Code != http.StatusForbidden; may != c.may {
				t.Errorf("%s, %s: status %d, may call: want %v", c.name, method, res.Code, c.may)
			}
			if grant := res.Header().Get("Access-Control-Allow-Origin"); grant != "" && (!c.may || grant == "*") {
				t.Errorf("%s, %s: it may read the answer (%q)", c.name, method, grant)
			}
		}
	}
}
