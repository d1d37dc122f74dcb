package mcpwire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// workers is the number of calls carried out at a time, queueSize the number of waiting calls before the
// reader blocks.
const (
	workers   = 32
	queueSize = 1000
)

// rest is the time without a call after which memory is returned to the system: hosts keep a server for each
// window, and most of the servers wait.
const rest = 5 * time.Second

// ServeStdio serves one client until the input or ctx ends, and answers every request read before.
func (w *Wire) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	stdio := server.NewStdioServer(w.MCP)
	stdio.SetErrorLogger(slog.NewLogLogger(w.log.Handler(), slog.LevelWarn))
	filter := newStdioFilter(in, out, w)
	ctx, end := context.WithCancel(ctx)
	defer end()
	server.WithStdioContextFunc(func(ctx context.Context) context.Context {
		filter.ctx = context.WithValue(ctx, answererKey{}, filter)
		return filter.ctx
	})(stdio)
	filter.resting = time.AfterFunc(rest, debug.FreeOSMemory)
	filter.resting.Stop() // until the first call
	defer filter.resting.Stop()
	var calls sync.WaitGroup
	for range workers {
		calls.Go(func() { filter.serveCalls(ctx) })
	}
	err := stdio.Listen(ctx, filter, filter)
	end()
	calls.Wait()
	gone, cancel := context.WithCancel(context.Background()) // done when nobody waits for the results
	cancel()
	w.tasks.endWork(gone)
	return err
}

// SendProgress sends a progress notification to the client of a request, ahead of the answer.
func SendProgress(ctx context.Context, params map[string]any) error {
	if filter, onStdio := ctx.Value(answererKey{}).(*stdioFilter); onStdio {
		return filter.writeNotification(mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
			Method: string(mcp.MethodNotificationProgress), Params: mcp.NotificationParams{AdditionalFields: params},
		}})
	}
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return errors.New("the request has no client")
	}
	return srv.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), params)
}

// stdioFilter sits between the client and the library, which drops unanswered requests at the end of the
// input. The filter passes lines through, and holds the end back until every request is answered. It also
// holds later requests back until initialize is answered.
type stdioFilter struct {
	in  *messages
	out io.Writer

	line []byte // the rest of the current line
	end  error  // the error at the end of the input
	wire *Wire
	// ctx is the context of the requests, set before the first one is read. queue has the calls of tools
	// waiting for a worker.
	ctx     context.Context
	queue   chan call
	resting *time.Timer // reset by each call; returns memory to the system when it fires
	asks    asks

	mu      sync.Mutex
	open    map[string]int  // requests read and not answered, by id
	first   string          // the id of initialize
	edits   map[string]edit // of answers to come, by id
	calls   map[string]call // not answered, by id
	changed chan struct{}   // closed, and replaced, at each answer
}

func newStdioFilter(in io.Reader, out io.Writer, w *Wire) *stdioFilter {
	return &stdioFilter{
		in: newMessages(in), out: out, wire: w, queue: make(chan call, queueSize),
		edits: map[string]edit{}, open: map[string]int{}, calls: map[string]call{}, changed: make(chan struct{}),
	}
}

// message has the parts of a JSON-RPC message read by this package.
type message struct {
	Method string          `json:"method"`
	ID     json.RawMessage `json:"id"`
	Params references      `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// hasID reports whether the message has an id other than null.
func (m message) hasID() bool { return len(m.ID) > 0 && string(m.ID) != "null" }

// idKey returns the id in a form that is equal for a request and the answer, whatever their formatting.
func (m message) idKey() string {
	var id any
	_ = json.Unmarshal(m.ID, &id) // it was read
	return keyOfID(id)
}

// nameless refuses a request with an id by which nobody could tell the answer.
var nameless = lang.T("the id of a request is null, so that no answer can be told from another; send a text or a number")

// isNameless reports whether the message is a request whose id is null. Some clients write it in notifications.
func (m message) isNameless() bool {
	return m.Method != "" && string(m.ID) == "null" && !strings.HasPrefix(m.Method, "notifications/")
}

func keyOfID(id any) string {
	b, err := json.Marshal(id)
	if err != nil {
		return ""
	}
	return string(b)
}

// Read passes the client's lines to the library.
func (f *stdioFilter) Read(p []byte) (int, error) {
	for len(f.line) == 0 && f.end == nil {
		f.waitUntil(func() bool { return f.open[f.first] == 0 })
		var line []byte
		if line, f.end = f.in.next(); f.end != nil {
			f.wire.leave()
		}
		f.line = f.noteRequest(line)
	}
	if len(f.line) > 0 {
		n := copy(p, f.line)
		f.line = f.line[n:]
		return n, nil
	}
	f.waitUntil(func() bool { return len(f.open) == 0 })
	return 0, f.end
}

// noteRequest records the request in a line. It returns the line for the library, or nil for a request served
// here.
func (f *stdioFilter) noteRequest(line []byte) []byte {
	var m message
	if json.Unmarshal(line, &m) != nil {
		return line
	}
	if m.Method == "" && bytes.HasPrefix(m.ID, []byte(`"`)) { // the library's own requests have numbers
		f.asks.deliverAnswer("", m.ID, m.Result)
		return nil
	}
	line = keepValues(line, &m)
	if m.Method == string(mcp.MethodNotificationCancelled) {
		f.cancelCall(message{ID: keep(m.Params.RequestID)}.idKey())
	}
	if m.Result != nil || !m.hasID() && !m.isNameless() {
		return line
	}
	early := edit{}
	switch {
	case m.isNameless():
		early = refuseWith(m.ID, Error{Code: mcp.INVALID_REQUEST, Text: nameless.In(f.wire.spoken)})
	case m.Method == string(mcp.MethodSubscriptionsListen):
		listening, err := listenIn(line, false)
		if line = listening; err != nil {
			early = refuseWith(m.ID, err)
		}
	case isTaskMethod(m.Method):
		early = f.wire.tasks.answerRequest(line, func(taskRequest) (string, error) { return "", nil })
	case m.Method == "" && m.Error == nil:
		return line
	case m.Method == "":
		// The library mistakes a late error answer for a request, and would answer under an id that may be
		// the client's. A result beside the error prevents this.
		return editJSON(line, func(answer map[string]any) { answer["result"] = struct{}{} })
	}
	if !f.trackRequest(m, early) {
		return nil
	}
	if m.Method == string(mcp.MethodToolsCall) {
		f.queue <- f.newCall(m, line) // not while f.mu is held: answers make room
		return nil
	}
	return line
}

// newCall returns a call that a cancellation reaches from now on: the library knows it only once a worker has it.
func (f *stdioFilter) newCall(m message, line []byte) call {
	c := call{id: m.ID, key: m.idKey(), line: line}
	c.ctx, c.cancel = context.WithCancel(f.ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[c.key] = c
	return c
}

// cancelCall cancels the call with an id, if there is one.
func (f *stdioFilter) cancelCall(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.calls[key]; ok {
		c.cancel()
	}
}

// trackRequest records an open request and returns true. If early has an answer, it writes the answer and
// returns false.
func (f *stdioFilter) trackRequest(m message, early edit) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if early.answer != nil {
		_, _ = f.out.Write(putBack(early.answer)) // the client may have gone
		return false
	}
	f.open[m.idKey()]++
	if m.Method == string(mcp.MethodInitialize) {
		f.first = m.idKey()
	}
	return true
}

// call is the line of a call of a tool. It may contain a whole document.
type call struct {
	id     any
	key    string
	line   []byte
	ctx    context.Context //nolint:containedctx // of the call, which waits for a worker
	cancel context.CancelFunc
}

// serveCalls serves calls of tools from the queue until ctx is done. It bypasses the library's reader, which
// would first try to read each line as the answer to three kinds of requests.
func (f *stdioFilter) serveCalls(ctx context.Context) {
	for {
		var c call
		select {
		case c = <-f.queue:
		case <-ctx.Done():
			return
		}
		data, err := json.Marshal(f.answerCall(c))
		f.mu.Lock()
		delete(f.calls, c.key)
		f.mu.Unlock()
		c.cancel()
		if err == nil {
			_, err = f.Write(append(data, '\n'))
		}
		if err != nil {
			f.wire.log.Warn("a call could not be answered", "error", err)
		}
		f.resting.Reset(rest)
	}
}

// answerCall returns the answer to a call, also if the library panics.
func (f *stdioFilter) answerCall(c call) (answer mcp.JSONRPCMessage) {
	defer func() {
		if failure := recover(); failure != nil {
			f.wire.log.Error("a call failed", "panic", failure)
			answer = mcp.NewJSONRPCError(mcp.NewRequestId(c.id), mcp.INTERNAL_ERROR, "this is a bug; the log of the server has it", nil)
		}
	}()
	return f.wire.MCP.HandleMessage(c.ctx, c.line)
}

// Write passes one line of the library to the client, and records an answer.
func (f *stdioFilter) Write(p []byte) (int, error) {
	var m message
	answer := json.Unmarshal(p, &m) == nil && m.Method == "" && m.hasID()
	f.mu.Lock()
	defer f.mu.Unlock()
	line := acknowledgeTasks(p)
	if answer {
		line = f.edits[m.idKey()].applyTo(p)
		delete(f.edits, m.idKey())
	}
	n, err := len(p), error(nil)
	if _, err = f.out.Write(putBack(line)); err != nil {
		n = 0
	}
	if answer {
		if id := m.idKey(); f.open[id] > 1 {
			f.open[id]--
		} else {
			delete(f.open, id)
		}
		close(f.changed)
		f.changed = make(chan struct{})
	}
	return n, err
}

// edit implements answerer.
func (f *stdioFilter) edit(id any, e edit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.edits[keyOfID(id)] = e
}

// writeRequest writes a request to the client, who may have gone.
func (f *stdioFilter) writeRequest(message []byte) { _, _ = f.Write(append(message, '\n')) }

// writeNotification writes a notification at once, ahead of the answer.
func (f *stdioFilter) writeNotification(n mcp.JSONRPCNotification) error {
	line, err := json.Marshal(n)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return err
}

func (f *stdioFilter) waitUntil(done func() bool) {
	var timeout <-chan time.Time // from the last answer on
	for {
		f.mu.Lock()
		ok, changed := done(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		if timeout == nil {
			timeout = time.After(grace)
		}
		select {
		case <-changed:
			timeout = nil
		case <-timeout:
			return
		}
	}
}
