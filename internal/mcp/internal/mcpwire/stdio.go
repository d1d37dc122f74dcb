package mcpwire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
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
	in  *bufio.Reader
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
	changed chan struct{}   // closed, and replaced, at each answer
}

func newStdioFilter(in io.Reader, out io.Writer, w *Wire) *stdioFilter {
	return &stdioFilter{
		in: bufio.NewReader(in), out: out, wire: w, queue: make(chan call, queueSize),
		edits: map[string]edit{}, open: map[string]int{}, changed: make(chan struct{}),
	}
}

// message has the parts of a JSON-RPC message read by this package.
type message struct {
	Method string          `json:"method"`
	ID     any             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// idKey returns the id in a form that is equal for a request and the answer, whatever their formatting.
func (m message) idKey() string {
	b, err := json.Marshal(m.ID)
	if err != nil {
		return ""
	}
	return string(b)
}

// Read passes the client's lines to the library.
func (f *stdioFilter) Read(p []byte) (int, error) {
	for len(f.line) == 0 && f.end == nil {
		f.waitUntil(func() bool { return f.open[f.first] == 0 })
		line, err := f.in.ReadBytes('\n')
		if f.end = err; err != nil && len(line) > 0 {
			line = append(line, '\n') // without the line end, the library drops the last line
		}
		if f.end != nil {
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
	if json.Unmarshal(line, &m) != nil || m.ID == nil {
		return line
	}
	if _, own := m.ID.(string); own && m.Method == "" { // the library's own requests have numbers
		f.asks.deliverAnswer("", m.ID, m.Result)
		return nil
	}
	if m.Result != nil {
		return line
	}
	early := edit{}
	switch {
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
		f.queue <- call{m.ID, line} // not while f.mu is held: answers make room
		return nil
	}
	return line
}

// trackRequest records an open request and returns true. If early has an answer, it writes the answer and
// returns false.
func (f *stdioFilter) trackRequest(m message, early edit) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if early.answer != nil {
		_, _ = f.out.Write(early.answer) // the client may have gone
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
	id   any
	line []byte
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
		data, err := json.Marshal(f.answerCall(c.id, c.line))
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
func (f *stdioFilter) answerCall(id any, line []byte) (answer mcp.JSONRPCMessage) {
	defer func() {
		if failure := recover(); failure != nil {
			f.wire.log.Error("a call failed", "panic", failure)
			answer = mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INTERNAL_ERROR, "this is a bug; the log of the server has it", nil)
		}
	}()
	return f.wire.MCP.HandleMessage(f.ctx, line)
}

// Write passes one line of the library to the client, and records an answer.
func (f *stdioFilter) Write(p []byte) (int, error) {
	var m message
	answer := json.Unmarshal(p, &m) == nil && m.Method == "" && m.ID != nil
	f.mu.Lock()
	defer f.mu.Unlock()
	line := acknowledgeTasks(p)
	if answer {
		line = f.edits[m.idKey()].applyTo(p)
		delete(f.edits, m.idKey())
	}
	n, err := len(p), error(nil)
	if _, err = f.out.Write(line); err != nil {
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
	f.edits[message{ID: id}.idKey()] = e
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
