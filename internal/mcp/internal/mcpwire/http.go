package mcpwire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

const (
	// heartbeat is the interval of heartbeats on a silent stream: proxies commonly cut connections after a
	// silent minute.
	heartbeat = 25 * time.Second
	// maxMessage bounds all messages but calls of tools, in bytes, because names, addresses and a client's
	// self-description are kept as long as the session.
	maxMessage = 64 << 10
	// maxAnswer bounds a message with a person's answers to a form, in bytes.
	maxAnswer = 1 << 20
)

// HTTP serves the server of a wire over streamable HTTP.
type HTTP struct {
	wire     *Wire
	stream   *server.StreamableHTTPServer
	sessions *sessionIDs
	maxBody  int64
	log      *slog.Logger
	asks     asks
	limiter  *httpguard.Limiter
	// posts is read-locked by each POST at work.
	posts sync.RWMutex
}

// HTTP returns the way to clients over HTTP. maxBody bounds the body of a request, in bytes. A client's
// session ends after the time idle without a request.
func (w *Wire) HTTP(maxBody int64, idle time.Duration, now func() time.Time) *HTTP {
	return w.newHTTP(maxBody, idle, now, defaultLimits)
}

func (w *Wire) newHTTP(maxBody int64, idle time.Duration, now func() time.Time, l limits) *HTTP {
	l.Bodies = max(l.Bodies, 2*maxBody) // the largest body has to fit into the share of large ones
	l.SmallBody = maxMessage
	h := &HTTP{wire: w, maxBody: maxBody, log: w.log, sessions: newSessionIDs(now, l), limiter: httpguard.NewLimiter(l.Limits)}
	h.sessions.ended = h.forgetSession
	h.stream = server.NewStreamableHTTPServer(w.MCP,
		server.WithSessionIdManagerResolver(h.sessions),
		server.WithSessionIdleTTL(idle),
		server.WithHeartbeatInterval(heartbeat),
		server.WithStreamableHTTPLogger(w.log),
		// The guard in front checks every request already.
		server.WithDisableLocalhostProtection(true),
		server.WithHTTPContextFunc(func(ctx context.Context, r *http.Request) context.Context {
			return withResponse(httpguard.WithVisitor(ctx, httpguard.VisitorOf(r)), w.MCP)
		}),
		server.WithEventStore(forgetful{}),
	)
	return h
}

// Guard returns a guard for the callers of o, with the headers of the protocol, and refusals in JSON-RPC.
func (h *HTTP) Guard(o httpguard.Options) *httpguard.Guard {
	o.Methods = []string{http.MethodGet, http.MethodPost, http.MethodDelete}
	o.Headers = []string{
		"Accept", "Authorization", "Content-Type", "Last-Event-ID", server.HeaderKeySessionID, mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName,
	}
	o.Exposed = []string{server.HeaderKeySessionID, "WWW-Authenticate", "Retry-After"}
	o.Refuse = h.refuseRequest
	return httpguard.New(o)
}

// Pace gives a client limited time to read each piece of a response.
func (h *HTTP) Pace(w http.ResponseWriter) http.ResponseWriter { return h.limiter.Pace(w, false) }

// Close waits until all accepted requests are answered, or ctx is done, and then ends the streams. The wire
// has to be closed before.
func (h *HTTP) Close(ctx context.Context) {
	answered := make(chan struct{})
	go func() { // ends with the last POST at work
		h.posts.Lock()
		close(answered)
		h.posts.Unlock()
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	h.wire.tasks.endWork(ctx)
	h.stream.CloseSessions(context.WithoutCancel(ctx))
}

// ServeHTTP passes a request on to the library, with a whole body within the bounds. If the header is reason
// to refuse the request, the body is not read.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.refuseClosing(w, r) {
		return
	}
	id := r.Header.Get(server.HeaderKeySessionID)
	if !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		leave, ok := h.sessions.beginRequest(id, httpguard.VisitorOf(r))
		switch {
		case ok:
			defer leave()
		case id != "" || r.Method != http.MethodPost:
			// For a GET, the library would open a session with the id.
			h.refuseRequest(w, r, http.StatusNotFound, lang.T("no such session; begin with initialize"))
			return
		}
	}
	switch r.Method {
	case http.MethodPost:
		h.servePost(w, r)
	case http.MethodGet:
		h.serveStream(w, r, id)
	default:
		h.stream.ServeHTTP(w, r)
		h.asks.endSession(id)
	}
}

// serveStream serves the stream of a session. As in the library, a new stream replaces an old one, because a
// host may reconnect before the server has noticed the loss of the connection.
func (h *HTTP) serveStream(w http.ResponseWriter, r *http.Request, session string) {
	done, ok := h.openStream(w, r, session)
	if !ok {
		return
	}
	defer done()
	h.sessions.noteCall(session)
	h.stream.ServeHTTP(h.limiter.Pace(w, true), r)
}

// openStream counts a stream, or refuses one too many.
func (h *HTTP) openStream(w http.ResponseWriter, r *http.Request, session string) (done func(), ok bool) {
	if done, ok = h.limiter.Stream(httpguard.VisitorOf(r).Address, session); !ok {
		w.Header().Set("Retry-After", "30")
		h.refuseRequest(w, r, http.StatusServiceUnavailable, lang.T("too many streams are open; close some, or try again later"))
	}
	return done, ok
}

// servePost reads a message and answers it.
func (h *HTTP) servePost(w http.ResponseWriter, r *http.Request) {
	body, done, ok := h.readBody(w, r)
	defer done()
	if !ok {
		return
	}
	// From here on the message is accepted, and Close waits for the answer.
	h.posts.RLock()
	defer h.posts.RUnlock()
	if h.refuseClosing(w, r) {
		return
	}
	var m message
	body = bytes.Trim(body, between)
	_ = json.Unmarshal(body, &m) // the library refuses a message that is not JSON
	body = keepValues(body, &m)
	if h.answerEarly(w, r, body, m) {
		return
	}
	response, end := newResponse(w)
	defer end()
	if strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
		response.asks = &h.asks
	}
	if isTaskMethod(m.Method) {
		response.instead = func() edit { return h.wire.tasks.answerHTTP(r, body) }
	}
	ctx := context.WithValue(r.Context(), answererKey{}, response)
	switch id := r.Header.Get(server.HeaderKeySessionID); m.Method {
	case string(mcp.MethodInitialize):
		id, leave := h.sessions.openSession(httpguard.VisitorOf(r))
		ctx = context.WithValue(ctx, newSessionKey{}, id)
		defer func() {
			leave()
			if response.Header().Get(server.HeaderKeySessionID) != id || !h.sessions.hasSession(id, httpguard.VisitorOf(r)) {
				h.forgetSession(id) // initialize was refused, or the session made room before the library had it
			}
		}()
	case string(mcp.MethodSubscriptionsListen):
		rewritten, err := listenIn(body, httpguard.VisitorOf(r).Page)
		if err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(putBack(refuseWith(m.ID, err).applyTo(nil))) //nolint:gosec // JSON, and no browser renders it; the client may have gone
			return
		}
		body = rewritten
		done, ok := h.openStream(w, r, "")
		if !ok {
			return
		}
		defer done()
		// Only the end of the server or of the client ends the stream.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.wire.closing, cancel)()
	default:
		if m.Method != "" && !strings.HasPrefix(m.Method, "notifications/") {
			h.sessions.noteCall(id)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.stream.ServeHTTP(response, r.WithContext(ctx))
}

// answerEarly answers a message not meant for the library, and returns false for all others.
func (h *HTTP) answerEarly(w http.ResponseWriter, r *http.Request, body []byte, m message) bool {
	id, modernHeader := r.Header.Get(server.HeaderKeySessionID), mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	most := maxMessage
	if m.Method == "" || m.Method == methodTasksUpdate {
		most = maxAnswer
	}
	switch {
	case bytes.HasPrefix(body, []byte("[")):
		h.refuseRequest(w, r, http.StatusBadRequest, lang.T("a batch of messages is not taken over HTTP; post each message by itself"))
	case len(body) > most && m.Method != string(mcp.MethodToolsCall):
		h.refuseRequest(w, r, http.StatusRequestEntityTooLarge, lang.T("a message of this kind has at most %d bytes", most))
	case id == "" && !modernHeader && m.Method != string(mcp.MethodInitialize) && !bytes.Contains(body, []byte(mcp.MetaKeyProtocolVersion)):
		// Either a header or a body can make a message modern; the library refuses one with only one of them.
		h.refuseRequest(w, r, http.StatusNotFound, lang.T("no such session; begin with initialize"))
	case m.isNameless():
		h.refuseRequest(w, r, http.StatusBadRequest, nameless)
	case m.Method == "" && h.asks.deliverAnswer(id, m.ID, m.Result):
		w.WriteHeader(http.StatusAccepted)
	case m.Method == string(mcp.MethodNotificationCancelled) && modernHeader:
		// Modern clients have no sessions, so the library would cancel a request with this id of any client.
		// They cancel by closing the connection.
		w.WriteHeader(http.StatusAccepted)
	default:
		return false
	}
	return true
}

// forgetSession has the library end a session that has ended here.
func (h *HTTP) forgetSession(id string) {
	h.asks.endSession(id)
	r, err := http.NewRequestWithContext(context.WithoutCancel(h.wire.closing), http.MethodDelete, "/", http.NoBody)
	if err != nil {
		return
	}
	r.Header.Set(server.HeaderKeySessionID, id)
	h.stream.ServeHTTP(nobody{http.Header{}}, r)
}

// nobody is a response writer for unread responses.
type nobody struct{ header http.Header }

// Header implements http.ResponseWriter.
func (n nobody) Header() http.Header { return n.header }

// Write implements http.ResponseWriter.
func (nobody) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (nobody) WriteHeader(int) {}

// refuseRequest refuses a request with an error in JSON-RPC.
func (h *HTTP) refuseRequest(w http.ResponseWriter, r *http.Request, status int, why lang.Text) {
	h.log.Warn("refused", "peer", httpguard.VisitorOf(r).Address, "method", r.Method, "status", status, "why", why.String())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(mcp.JSONRPCError{ // the client may have gone
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(nil), Error: mcp.JSONRPCErrorDetails{Code: mcp.INVALID_REQUEST, Message: why.In(h.wire.spoken)},
	})
}

// refuseClosing refuses a request, and returns true, if the server has begun to close.
func (h *HTTP) refuseClosing(w http.ResponseWriter, r *http.Request) bool {
	if !h.wire.Closing() {
		return false
	}
	w.Header().Set("Retry-After", "5")
	h.refuseRequest(w, r, http.StatusServiceUnavailable, lang.T("the server is shutting down"))
	return true
}

// readBody reads the body of a request, or refuses the request. The caller has to call done when it needs the
// body no longer.
func (h *HTTP) readBody(w http.ResponseWriter, r *http.Request) (body []byte, done func(), ok bool) {
	limit := h.maxBody
	tooLarge := lang.T("the request has more than %d bytes; hand long documents in as files of the project, by their paths", limit)
	if r.Header.Get(server.HeaderKeySessionID) == "" && !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) && limit > maxMessage {
		// The message can only be initialize.
		limit, tooLarge = maxMessage, lang.T("a message of this kind has at most %d bytes", maxMessage)
	}
	if r.ContentLength > limit {
		h.refuseRequest(w, r, http.StatusRequestEntityTooLarge, tooLarge)
		return nil, func() {}, false
	}
	body, done, err := h.limiter.Read(r.Body, r.ContentLength, limit)
	switch {
	case err == nil:
		return body, done, true
	case errors.Is(err, httpguard.ErrTooLarge):
		h.refuseRequest(w, r, http.StatusRequestEntityTooLarge, tooLarge)
	case errors.Is(err, httpguard.ErrBusy):
		w.Header().Set("Retry-After", "5")
		w.Header().Set("Connection", "close") // the rest of the body is not read
		h.refuseRequest(w, r, http.StatusServiceUnavailable, lang.Of(err))
	default:
		h.refuseRequest(w, r, http.StatusBadRequest, lang.T("the request did not come in whole: %v", err))
	}
	return nil, done, false
}
