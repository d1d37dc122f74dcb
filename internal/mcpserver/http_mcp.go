package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// readLimit bounds how long a request may take to come in.
const readLimit = time.Minute

// mcp passes a request on to the library, whole and within its bounds. What its header shows
// to be refused is refused before anything of its body is read.
func (h *Handler) mcp(w http.ResponseWriter, r *http.Request) {
	if h.refuseClosing(w, r) {
		return
	}
	id := r.Header.Get(server.HeaderKeySessionID)
	if !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		leave, ok := h.sessions.enter(id, visitorOf(r))
		switch {
		case ok:
			defer leave()
		case id != "" || r.Method != http.MethodPost:
			// For a GET, the library would open a session of that id.
			h.refuse(w, r, http.StatusNotFound, "no such session; begin with initialize")
			return
		}
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet:
		h.listen(w, r, id)
	default:
		h.stream.ServeHTTP(w, r)
	}
}

// listen serves the stream of a session. A new one takes over from the one before, as the
// library has it: a host that has lost its connection comes back before the server knows.
func (h *Handler) listen(w http.ResponseWriter, r *http.Request, session string) {
	done, ok := h.openStream(w, r, session)
	if !ok {
		return
	}
	defer done()
	h.sessions.called(session)
	h.stream.ServeHTTP(&pacedWriter{ResponseWriter: w, limit: h.limits.write, last: true}, r)
}

// openStream counts a stream, or refuses it.
func (h *Handler) openStream(w http.ResponseWriter, r *http.Request, session string) (done func(), ok bool) {
	if done, ok = h.streams.open(visitorOf(r).address, session); !ok {
		w.Header().Set("Retry-After", "30")
		h.refuse(w, r, http.StatusServiceUnavailable, "too many streams are open; close some, or try again later")
	}
	return done, ok
}

// incoming is what is looked at of a message before the library has it.
type incoming struct {
	Method     string
	ID, Result json.RawMessage
}

// post takes a message, and answers it.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	body, done, ok := h.body(w, r)
	defer done()
	if !ok {
		return
	}
	// From here on it is accepted; one that is still on its way holds nobody up.
	h.posts.RLock()
	defer h.posts.RUnlock()
	if h.refuseClosing(w, r) {
		return
	}
	var m incoming
	_ = json.Unmarshal(body, &m) // what is not JSON is the library's to refuse
	if h.settled(w, r, body, m) {
		return
	}
	wire, end := newWire(w)
	defer end()
	if strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
		wire.asks = &h.asks
	}
	ctx := context.WithValue(context.WithValue(r.Context(), wireKey{}, wire), failingKey{}, wire)
	switch id := r.Header.Get(server.HeaderKeySessionID); m.Method {
	case string(mcp.MethodInitialize):
		id, leave := h.sessions.begin(visitorOf(r))
		ctx = context.WithValue(ctx, newSessionKey{}, id)
		defer func() {
			leave()
			if wire.Header().Get(server.HeaderKeySessionID) != id || !h.sessions.has(id, visitorOf(r)) {
				h.forget(id) // it was refused, or has made room before the library knew of it
			}
		}()
	case string(mcp.MethodSubscriptionsListen):
		done, ok := h.openStream(w, r, "")
		if !ok {
			return
		}
		defer done()
		// Nothing but the end of the server, or of the client, ends it.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.server.closing, cancel)()
	default:
		if m.Method != "" && !strings.HasPrefix(m.Method, "notifications/") {
			h.sessions.called(id)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.stream.ServeHTTP(wire, r.WithContext(ctx))
}

// settled answers what the library need not see, or must not.
func (h *Handler) settled(w http.ResponseWriter, r *http.Request, body []byte, m incoming) bool {
	id, modernHeader := r.Header.Get(server.HeaderKeySessionID), mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	most := maxMessage
	if m.Method == "" {
		most = maxAnswer
	}
	switch {
	case len(body) > most && m.Method != string(mcp.MethodToolsCall):
		h.refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message of this kind has at most %d bytes", most))
	case id == "" && !modernHeader && m.Method != string(mcp.MethodInitialize) && !bytes.Contains(body, []byte(mcp.MetaKeyProtocolVersion)):
		// One that says only in one of both places that it is new is the library's to refuse.
		h.refuse(w, r, http.StatusNotFound, "no such session; begin with initialize")
	case m.Method == "" && h.asks.answered(id, m.ID, m.Result):
		w.WriteHeader(http.StatusAccepted)
	case m.Method == string(mcp.MethodNotificationCancelled) && modernHeader:
		// These clients have no sessions, so that the library would cancel the request of that
		// id, whosever it is. They give up by closing the connection.
		w.WriteHeader(http.StatusAccepted)
	default:
		return false
	}
	return true
}

// forget has the library give up a session that has ended here.
func (h *Handler) forget(id string) {
	r, err := http.NewRequestWithContext(context.WithoutCancel(h.server.closing), http.MethodDelete, Endpoint, http.NoBody)
	if err != nil {
		return
	}
	r.Header.Set(server.HeaderKeySessionID, id)
	h.stream.ServeHTTP(nobody{http.Header{}}, r)
}

// nobody takes a response that none reads.
type nobody struct{ header http.Header }

// Header implements http.ResponseWriter.
func (n nobody) Header() http.Header { return n.header }

// Write implements http.ResponseWriter.
func (nobody) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (nobody) WriteHeader(int) {}

// refuseClosing refuses a request that comes once the server has begun to end.
func (h *Handler) refuseClosing(w http.ResponseWriter, r *http.Request) bool {
	if h.server.closing.Err() == nil {
		return false
	}
	w.Header().Set("Retry-After", "5")
	h.refuse(w, r, http.StatusServiceUnavailable, "the server is shutting down")
	return true
}

// body reads the body of a request, or refuses it. done is called when it is not needed any more.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) (body []byte, done func(), ok bool) {
	limit := h.o.MaxBody
	tooLarge := "the request has more than " + strconv.FormatInt(limit, 10) + " bytes; hand long documents in as files of the project, by their paths"
	if r.Header.Get(server.HeaderKeySessionID) == "" && !mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) && limit > maxMessage {
		// All it can be is the beginning of a session.
		limit, tooLarge = maxMessage, fmt.Sprintf("a message of this kind has at most %d bytes", maxMessage)
	}
	if r.ContentLength > limit {
		h.refuse(w, r, http.StatusRequestEntityTooLarge, tooLarge)
		return nil, func() {}, false
	}
	control := http.NewResponseController(w)
	// Not a limit of the whole server: streams stay open for hours. Where a test's writer
	// has no deadlines, there is nothing to wait for either.
	_ = control.SetReadDeadline(time.Now().Add(readLimit)) //nolint:forbidigo // a deadline of the network, by the system's clock
	body, done, err := h.bodies.read(r.Body, r.ContentLength, limit)
	_ = control.SetReadDeadline(time.Time{})
	switch {
	case err == nil:
		return body, done, true
	case errors.Is(err, errBodyTooLarge):
		h.refuse(w, r, http.StatusRequestEntityTooLarge, tooLarge)
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "5")
		w.Header().Set("Connection", "close") // what is still to come of it is not waited for
		h.refuse(w, r, http.StatusServiceUnavailable, err.Error())
	default:
		h.refuse(w, r, http.StatusBadRequest, fmt.Sprintf("the request did not come in whole: %v", err))
	}
	return nil, done, false
}
