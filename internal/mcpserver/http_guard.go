package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// guarded lets only those in who may call.
func (h *Handler) guarded(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + h.o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !h.o.Remote && !loopback(r.Host):
			// A page whose own name leads to this machine (DNS rebinding) sends its name.
			h.refuse(w, r, http.StatusForbidden, fmt.Sprintf("the host %q is not this machine; call http://127.0.0.1 or http://localhost", clip(r.Host)))
		case !h.mayCall(r):
			h.refuse(w, r, http.StatusForbidden, pageRefused(r))
		case h.preflight(w, r):
		case h.o.Token != "":
			// Hashes are compared, so that neither content nor length shows in the time.
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			if strings.EqualFold(scheme, "bearer") {
				scheme = "Bearer"
			}
			got := sha256.Sum256([]byte(scheme + " " + token))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="bmad-mcp"`)
				h.refuse(w, r, http.StatusUnauthorized, "the token is missing or wrong; send it as Authorization: Bearer …")
				return
			}
			next.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// pageRefused says why a page may not call, and what to do where it should.
func pageRefused(r *http.Request) string {
	given := strings.Join(r.Header.Values("Origin"), ", ")
	origin, err := ParseOrigin(given)
	if err != nil {
		return fmt.Sprintf("web pages of other origins may not call this server, and this request comes from one (Origin %q, Sec-Fetch-Site %q)",
			clip(given), clip(r.Header.Get("Sec-Fetch-Site")))
	}
	return fmt.Sprintf("pages of %q may not call this server; if you trust all that runs there, start it with --allow-origin %s", clip(given), clip(origin))
}

// preflight tells a browser what a page that may call may send; and lets the page read what
// comes back. It reports whether the request was no more than that question.
func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", server.HeaderKeySessionID+", WWW-Authenticate, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", strings.Join([]string{
		"Accept", "Authorization", "Content-Type", "Last-Event-ID", server.HeaderKeySessionID, mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName,
	}, ", "))
	w.WriteHeader(http.StatusNoContent)
	return true
}

// refuse answers a request that is not taken as JSON-RPC clients expect.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	h.log.Warn("refused", "peer", visitorOf(r).address, "method", r.Method, "status", status, "why", why)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(mcp.JSONRPCError{ // a client that has gone needs no answer
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(nil), Error: mcp.JSONRPCErrorDetails{Code: mcp.INVALID_REQUEST, Message: why},
	})
}

// mayCall reports whether a request comes from no web page, or from one that may call: of an
// allowed origin, or of the server's own.
func (h *Handler) mayCall(r *http.Request) bool {
	given := r.Header.Values("Origin")
	if len(given) == 0 {
		return asksItself(r)
	}
	// Browsers send one. A second one was put in on the way, and nobody knows which is true.
	origin, err := ParseOrigin(given[0])
	if err != nil || len(given) > 1 {
		return false
	}
	return slices.Contains(h.o.Origins, origin) || origin == ownOrigin(r) && asksItself(r)
}

// ownOrigin is the origin of a page that this server would serve under the name by which a
// request calls it. Neither port nor name may differ: other ports are other programs, and so
// may be another name of this machine at the same port. Nor may the scheme: behind a proxy that
// ends TLS the server cannot know its own, so that pages there need --allow-origin.
func ownOrigin(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	origin, err := ParseOrigin(scheme + "://" + r.Host)
	if err != nil {
		return ""
	}
	return origin
}

// asksItself reports whether the browser, if there is one, says that no other site asks.
func asksItself(r *http.Request) bool {
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// ParseOrigin reads the origin of web pages, such as https://inspector.example:8443, and
// returns it as browsers send it.
func ParseOrigin(given string) (string, error) {
	switch strings.ToLower(given) {
	case "*":
		return "", errors.New("every web page would be let in; name each origin by itself")
	case "null":
		return "", errors.New("browsers send it for sandboxed frames and files of any site; serve the page from an address of its own")
	}
	if strings.ContainsFunc(given, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", errors.New("it has characters that browsers do not send in an origin; write other scripts as punycode (xn--…)")
	}
	u, err := url.Parse(strings.ToLower(given))
	if err != nil || u.Scheme == "" || u.Hostname() == "" || strings.ContainsAny(u.Host, "*,") {
		return "", errors.New("an origin is a scheme, a host and, if it is not the usual one, a port")
	}
	if u.Scheme+"://"+u.Host != strings.ToLower(given) {
		return "", errors.New("an origin ends with its host or port: no path, no slash, no user, no query")
	}
	if strings.HasSuffix(u.Host, ":") || strings.HasSuffix(u.Hostname(), ".") {
		return "", errors.New("its host ends with a colon or a dot")
	}
	port := u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return "", fmt.Errorf("there is no port %s", port)
	}
	if port == defaultPorts[u.Scheme] {
		return u.Scheme + "://" + strings.TrimSuffix(u.Host, ":"+port), nil
	}
	return u.Scheme + "://" + u.Host, nil
}

// loopback reports whether a host, with or without a port, names this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.ToLower(host) == "localhost" && len(host) == len("localhost") {
		return true // not EqualFold, to which other scripts have letters of this name
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
