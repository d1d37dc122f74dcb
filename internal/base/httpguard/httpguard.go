// Package httpguard decides who may call a server over HTTP, and bounds the memory and the connections that
// callers can take. It belongs to no face: each face passes the headers allowed for its pages, and the
// function to refuse a request in its protocol.
//
// A visitor is the sender of a request, as far as the request shows it; a page is a visitor in a web
// browser. A peer is an address shared by visitors.
package httpguard

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Options say who may call. The zero value lets in programs on this machine.
type Options struct {
	// Token, if not empty, is the token a client has to send as "Authorization: Bearer …".
	Token string
	// Remote is true if the server listens for other machines: a request may then name
	// the server by any host.
	Remote bool
	// Origins are the origins of web pages that may call, as ParseOrigin returns them. Pages of the
	// server's own origin may always call.
	Origins []string
	// Methods and Headers list the allowed methods and headers of a page, Exposed the response headers it
	// may read.
	Methods, Headers, Exposed []string
	// Refuse answers a refused request; it is required.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, why lang.Text)
}

// Guard lets only permitted callers pass.
type Guard struct {
	o    Options
	want [sha256.Size]byte
}

// New returns a guard.
func New(o Options) *Guard { return &Guard{o: o, want: sha256.Sum256([]byte("Bearer " + o.Token))} }

// Protect passes only the requests of permitted callers to next.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.o.Remote && !Loopback(r.Host):
			// A page with a name for this machine (DNS rebinding) sends the name.
			g.o.Refuse(w, r, http.StatusForbidden, lang.T("the host %q is not this machine; call http://127.0.0.1 or http://localhost", visible.Fit(r.Host, maxShown)))
		case !g.mayCall(r):
			g.o.Refuse(w, r, http.StatusForbidden, pageRefused(r))
		case g.answerPreflight(w, r):
		case g.o.Token != "" && !g.hasToken(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="bmad-mcp"`)
			g.o.Refuse(w, r, http.StatusUnauthorized, lang.T("the token is missing or wrong; send it as Authorization: Bearer …"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// maxShown bounds the parts of a request repeated in a refusal, in bytes.
const maxShown = 2000

// hasToken reports whether a request carries the token. It compares hashes, so neither the content nor the
// length of the token shows in the time.
func (g *Guard) hasToken(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") {
		scheme = "Bearer"
	}
	got := sha256.Sum256([]byte(scheme + " " + token))
	return subtle.ConstantTimeCompare(got[:], g.want[:]) == 1
}

// pageRefused returns the reason why a page may not call, and the remedy.
func pageRefused(r *http.Request) lang.Text {
	given := strings.Join(r.Header.Values("Origin"), ", ")
	origin, err := ParseOrigin(given)
	if err != nil {
		return lang.T("web pages of other origins may not call this server, and this request comes from one (Origin %q, Sec-Fetch-Site %q)",
			visible.Fit(given, maxShown), visible.Fit(r.Header.Get("Sec-Fetch-Site"), maxShown))
	}
	return lang.T("pages of %q may not call this server; if you trust all that runs there, start it with --allow-origin %s",
		visible.Fit(given, maxShown), visible.Fit(origin, maxShown))
}

// answerPreflight answers a browser's question for the methods and headers of a page, and lets the page read the
// response. It reports whether the request was no more than the question.
func (g *Guard) answerPreflight(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", strings.Join(g.o.Exposed, ", "))
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", strings.Join(g.o.Methods, ", "))
	header.Set("Access-Control-Allow-Headers", strings.Join(g.o.Headers, ", "))
	w.WriteHeader(http.StatusNoContent)
	return true
}

// mayCall reports whether a request comes from no web page, or from a permitted one: of an allowed origin,
// or of the server's own.
func (g *Guard) mayCall(r *http.Request) bool {
	given := r.Header.Values("Origin")
	if len(given) == 0 {
		return asksItself(r)
	}
	// Browsers send one. If there is a second one, it was added on the way, and either may be forged.
	origin, err := ParseOrigin(given[0])
	if err != nil || len(given) > 1 {
		return false
	}
	return slices.Contains(g.o.Origins, origin) || origin == ownOrigin(r) && asksItself(r)
}

// ownOrigin returns the origin of a page served by this server under the name in a request. Neither port
// nor name may differ: other ports are other programs, and so may be another name of this machine at the
// same port. Nor may the scheme: if a proxy ends TLS, the server cannot know its own, so pages there need
// --allow-origin.
func ownOrigin(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	origin, _ := ParseOrigin(scheme + "://" + r.Host) // "" if it is none
	return origin
}

// asksItself reports whether the browser, if there is one, states that no other site asks.
func asksItself(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// Loopback reports whether a host, with or without a port, names this machine.
func Loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.ToLower(host) == "localhost" && len(host) == len("localhost") {
		return true // not by EqualFold, which takes letters of other scripts for these
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// defaultPorts are the ports left out of an origin by browsers.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// ParseOrigin reads the origin of web pages, for example https://inspector.example:8443, and returns
// it as browsers send it.
func ParseOrigin(given string) (string, error) {
	switch strings.ToLower(given) {
	case "*":
		return "", lang.Errorf("every web page would be let in; name each origin by itself")
	case "null":
		return "", lang.Errorf("browsers send it for sandboxed frames and files of any site; serve the page from an address of its own")
	}
	if strings.ContainsFunc(given, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", lang.Errorf("it has characters that browsers do not send in an origin; write other scripts as punycode (xn--…)")
	}
	u, err := url.Parse(strings.ToLower(given))
	if err != nil || u.Scheme == "" || u.Hostname() == "" || strings.ContainsAny(u.Host, "*,") {
		return "", lang.Errorf("an origin is a scheme, a host and, if it is not the usual one, a port")
	}
	if u.Scheme+"://"+u.Host != strings.ToLower(given) {
		return "", lang.Errorf("an origin ends with its host or port: no path, no slash, no user, no query")
	}
	if strings.HasSuffix(u.Host, ":") || strings.HasSuffix(u.Hostname(), ".") {
		return "", lang.Errorf("its host ends with a colon or a dot")
	}
	port := u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return "", lang.Errorf("there is no port %s", port)
	}
	if port == defaultPorts[u.Scheme] {
		return u.Scheme + "://" + strings.TrimSuffix(u.Host, ":"+port), nil
	}
	return u.Scheme + "://" + u.Host, nil
}
