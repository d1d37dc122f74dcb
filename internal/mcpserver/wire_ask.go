package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// askedPrefix begins the ids of requests that wires send, so that their answers are told from
// those to the library's requests, which have numbers.
const askedPrefix = "bmad-"

// asks are the requests that wires have sent to clients of before 2026-07-28. The library
// sends the question for roots on a session's GET stream only, which many clients do not open;
// this goes out with the answer to the call that needs them.
type asks struct {
	mu   sync.Mutex
	open map[string]asked // by id
}

type asked struct {
	session string
	answer  chan json.RawMessage // takes one without waiting
}

// answered passes the answer to one of these requests on, and reports whether it was one. It
// has to come over the session that was asked.
func (a *asks) answered(session string, id, result json.RawMessage) bool {
	var name string
	if json.Unmarshal(id, &name) != nil || !strings.HasPrefix(name, askedPrefix) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	q, ok := a.open[name]
	if !ok || q.session != session {
		return false
	}
	delete(a.open, name)
	q.answer <- result
	return true
}

// ask sends a request to the client and waits for its result. The answer to the call that it
// belongs to becomes a stream.
func (w *wire) ask(ctx context.Context, session, method string) (json.RawMessage, error) {
	if w.asks == nil {
		return nil, errors.New("the client takes no streams")
	}
	id, answer := askedPrefix+rand.Text(), make(chan json.RawMessage, 1)
	w.asks.mu.Lock()
	w.asks.open[id] = asked{session, answer}
	w.asks.mu.Unlock()
	defer func() {
		w.asks.mu.Lock()
		defer w.asks.mu.Unlock()
		delete(w.asks.open, id)
	}()
	message, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": method})
	if err != nil {
		return nil, err
	}
	w.stream(message)
	select {
	case result := <-answer:
		return result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// askRoots asks the client of a request, of before 2026-07-28 and over HTTP, for its roots.
// nil are those of a client that does not answer in time, or with an error.
func askRoots(ctx context.Context) *mcp.ListRootsResult {
	w, ok := ctx.Value(wireKey{}).(*wire)
	session := server.ClientSessionFromContext(ctx)
	if !ok || session == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsLimit)
	defer cancel()
	result, err := w.ask(ctx, session.SessionID(), string(mcp.MethodListRoots))
	if err != nil {
		return nil
	}
	var list mcp.ListRootsResult
	if json.Unmarshal(result, &list) != nil {
		return nil
	}
	return &list
}
