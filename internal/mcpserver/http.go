package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Endpoint is the path at which MCP is served over HTTP.
const Endpoint = "/mcp"

// HTTPOptions bound a server on HTTP. The zero value serves clients on this machine.
type HTTPOptions struct {
	// Token, if not empty, is what a client has to send as "Authorization: Bearer …".
	Token string
	// Remote is true where the server listens for other machines: a request may then name
	// the server by any host.
	Remote bool
	// Origins are those of web pages that may call besides the ones of this machine, such
	// as "https://inspector.example".
	Origins []string
	// MaxBody bounds the body of a request, in bytes.
	MaxBody int64
	// Idle is how long a client's session may be without a request before it ends.
	Idle time.Duration
	// Metrics serves /metrics.
	Metrics bool
	// Now is the clock.
	Now func() time.Time
}

const (
	// readLimit bounds how long a request may take to come in.
	readLimit = time.Minute
	// heartbeat is how often a stream that tells nothing shows that it is alive: proxies
	// commonly cut connections that are silent for a minute.
	heartbeat = 25 * time.Second
	// maxSessions bounds the sessions of HTTP clients; each takes some 15 kB of memory.
	maxSessions = 2000
	// maxMessage bounds all messages but calls of tools: names, addresses and what a client
	// says of itself are kept for as long as its session lasts.
	maxMessage = 64 << 10
	// maxAnswer bounds what a person's answers to a form can be, in a message of their own.
	maxAnswer = 1 << 20
)

// Handler returns the server's face on HTTP: MCP at Endpoint, /healthz, /readyz, and
// /metrics if it was asked for.
func (s *Server) Handler(o HTTPOptions) *Handler {
	h := &Handler{server: s, o: o, log: s.log, sessions: &sessionIDs{now: o.Now, seen: map[string]time.Time{}}}
	h.stream = server.NewStreamableHTTPServer(s.mcp,
		server.WithSessionIdManager(h.sessions),
		server.WithSessionIdleTTL(o.Idle),
		server.WithHeartbeatInterval(heartbeat),
		server.WithStreamableHTTPLogger(s.log),
		// Ours looks at every request, and says what is wrong.
		server.WithDisableLocalhostProtection(true),
		server.WithHTTPContextFunc(func(ctx context.Context, r *http.Request) context.Context {
			return onWire(context.WithValue(ctx, peerKey{}, peer(r)), s.mcp)
		}),
		server.WithEventStore(forgetful{}),
	)
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plainText(w, http.StatusOK, "ok") })
	h.mux.HandleFunc("GET /readyz", h.ready)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		plainText(w, http.StatusNotFound, "there is nothing here; MCP is at "+Endpoint)
	})
	h.mux.Handle(Endpoint, h.guarded(http.HandlerFunc(h.mcp)))
	if o.Metrics {
		h.mux.Handle("GET /metrics", h.guarded(s.metrics.handler()))
	}
	return h
}

// Handler serves one Server on HTTP.
type Handler struct {
	server   *Server
	stream   *server.StreamableHTTPServer
	sessions *sessionIDs
	o        HTTPOptions
	log      *slog.Logger
	mux      http.ServeMux
	// posts is held for reading by each POST that is at work.
	posts sync.RWMutex
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Close refuses requests that come from now on, ends what waits for people or for changes,
// and once the accepted requests are answered, or ctx is done, the streams.
func (h *Handler) Close(ctx context.Context) {
	h.server.close()
	answered := make(chan struct{})
	go func() {
		h.posts.Lock()
		close(answered)
		h.posts.Unlock()
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	h.stream.CloseSessions(context.WithoutCancel(ctx))
}

// peerKey is the key of a request's peer in its context.
type peerKey struct{}

// peer returns the address a request comes from, without the port.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func (h *Handler) ready(w http.ResponseWriter, _ *http.Request) {
	if h.server.closing.Err() != nil {
		plainText(w, http.StatusServiceUnavailable, "shutting down")
		return
	}
	if err := h.server.ready(); err != nil {
		h.log.Warn("not ready", "error", err) // which may name folders: not for everyone
		plainText(w, http.StatusServiceUnavailable, "not ready; the server's log says why")
		return
	}
	plainText(w, http.StatusOK, "ready")
}

func plainText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a client that has gone needs no answer
}

// guarded lets only those in who may call.
func (h *Handler) guarded(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + h.o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !h.o.Remote && !loopback(r.Host):
			// A page whose own name leads to this machine (DNS rebinding) sends its name.
			h.refuse(w, r, http.StatusForbidden, fmt.Sprintf("the host %q is not this machine; call http://127.0.0.1 or http://localhost", clip(r.Host)))
		case h.preflight(w, r):
		case !h.mayCall(r):
			h.refuse(w, r, http.StatusForbidden, fmt.Sprintf("pages of %q may not call this server (--allow-origin)", clip(r.Header.Get("Origin"))))
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

// preflight tells a browser what a page may send, if it may call; and lets the page read
// what comes back. It reports whether the request was no more than that question.
func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !h.mayCall(r) {
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
	h.log.Warn("refused", "peer", peer(r), "method", r.Method, "status", status, "why", why)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(mcp.JSONRPCError{ // a client that has gone needs no answer
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(nil), Error: mcp.JSONRPCErrorDetails{Code: mcp.INVALID_REQUEST, Message: why},
	})
}

// mayCall reports whether a request comes from no web page, or from one that may call.
func (h *Handler) mayCall(r *http.Request) bool {
	if len(r.Header.Values("Origin")) == 0 {
		return r.Header.Get("Sec-Fetch-Site") != "cross-site"
	}
	origin := r.Header.Get("Origin")
	if slices.Contains(h.o.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	// Behind a proxy that ends TLS the scheme may differ; the host may not.
	return u.Host == r.Host || !h.o.Remote && loopback(u.Host)
}

// loopback reports whether a host, with or without a port, names this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// mcp passes a request on to the library, whole and within its bounds.
func (h *Handler) mcp(w http.ResponseWriter, r *http.Request) {
	if h.refuseClosing(w, r) {
		return
	}
	if r.Method != http.MethodPost {
		if id := r.Header.Get(server.HeaderKeySessionID); !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) && !h.sessions.open(id) {
			// The library would open a session of that id.
			h.refuse(w, r, http.StatusNotFound, "no such session; begin with initialize")
			return
		}
		h.stream.ServeHTTP(w, r)
		return
	}
	body, status, err := h.body(w, r)
	if err != nil {
		h.refuse(w, r, status, err.Error())
		return
	}
	// From here on it is accepted; one that is still on its way holds nobody up.
	h.posts.RLock()
	defer h.posts.RUnlock()
	if h.refuseClosing(w, r) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var message struct{ Method string }
	_ = json.Unmarshal(body, &message) // what is no JSON is the library's to refuse
	if most := map[bool]int{true: maxAnswer, false: maxMessage}[message.Method == ""]; len(body) > most && message.Method != string(mcp.MethodToolsCall) {
		h.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message of this kind has at most %d bytes", most))
		return
	}
	// One that says only in one of both places that it is new is the library's to refuse.
	old := !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) && !bytes.Contains(body, []byte(mcp.MetaKeyProtocolVersion))
	switch {
	case message.Method == string(mcp.MethodInitialize) && h.sessions.full():
		w.Header().Set("Retry-After", "60")
		h.refuse(w, r, http.StatusServiceUnavailable, "too many sessions are open; idle ones end by themselves")
		return
	case old && message.Method != string(mcp.MethodInitialize) && !h.sessions.open(r.Header.Get(server.HeaderKeySessionID)):
		h.refuse(w, r, http.StatusNotFound, "no such session; begin with initialize")
		return
	}
	if message.Method == string(mcp.MethodNotificationCancelled) && mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		// These clients have no sessions, so that the library would cancel the request of that
		// id, whosever it is. They give up by closing the connection.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	wire, end := newWire(w)
	defer end()
	ctx := context.WithValue(context.WithValue(r.Context(), wireKey{}, wire), failingKey{}, wire)
	if message.Method == string(mcp.MethodSubscriptionsListen) {
		// Nothing but the end of the server, or of the client, ends it.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.server.closing, cancel)()
	}
	h.stream.ServeHTTP(wire, r.WithContext(ctx))
}

// refuseClosing refuses a request that comes once the server has begun to end.
func (h *Handler) refuseClosing(w http.ResponseWriter, r *http.Request) bool {
	if h.server.closing.Err() == nil {
		return false
	}
	w.Header().Set("Retry-After", "5")
	h.refuse(w, r, http.StatusServiceUnavailable, "the server is shutting down")
	return true
}

// body reads the body of a request.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	tooLarge := fmt.Errorf("the request has more than %s bytes; hand long documents in as files of the project, by their paths", strconv.FormatInt(h.o.MaxBody, 10))
	if r.ContentLength > h.o.MaxBody {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	control := http.NewResponseController(w)
	// Not a limit of the whole server: streams stay open for hours. Where a test's writer
	// has no deadlines, there is nothing to wait for either.
	_ = control.SetReadDeadline(time.Now().Add(readLimit)) //nolint:forbidigo // a deadline of the network, by the system's clock
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, h.o.MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	var most *http.MaxBytesError
	switch {
	case errors.As(err, &most):
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("the request did not come in whole: %w", err)
	}
	return body, 0, nil
}

// sessionIDs gives out the ids of HTTP sessions and knows the ones that are open. One it
// does not know is answered with 404, on which clients begin anew.
type sessionIDs struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[string]time.Time
}

// Generate returns a new id.
func (m *sessionIDs) Generate() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := rand.Text()
	m.seen[id] = m.now()
	return id
}

// full reports whether no more sessions may be opened.
func (m *sessionIDs) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.seen) >= maxSessions
}

// Validate refuses an id that is not open.
func (m *sessionIDs) Validate(id string) (isTerminated bool, err error) {
	if !m.open(id) {
		return false, errors.New("no such session")
	}
	return false, nil
}

// open reports whether there is a session of an id, and that it is in use.
func (m *sessionIDs) open(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, open := m.seen[id]
	if open {
		m.seen[id] = m.now()
	}
	return open
}

// Terminate ends a session.
func (m *sessionIDs) Terminate(id string) (isNotAllowed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, id)
	return false, nil
}
