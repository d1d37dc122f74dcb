package mcpserver

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// grace bounds how long the end of the input is held back for answers that are
// still due. Clients begin to kill a server about two seconds after closing its input.
const grace = 1800 * time.Millisecond

// gate stands between the client and the MCP library, which drops what it has
// read but not answered when its input ends. The gate passes lines through and
// holds the end back until every request has its answer. It also keeps later
// requests behind initialize, which the library does not.
type gate struct {
	in  *bufio.Reader
	out io.Writer

	line []byte // what of the current line is not read yet
	end  error  // the end of the input, once met

	mu      sync.Mutex
	open    map[string]int     // requests read and not answered, by id
	first   string             // the id of initialize
	failed  map[string]*failed // what an answer that is due is to say, by id
	changed chan struct{}      // closed, and made anew, at each answer
}

func newGate(in io.Reader, out io.Writer) *gate {
	return &gate{in: bufio.NewReader(in), out: out, open: map[string]int{}, failed: map[string]*failed{}, changed: make(chan struct{})}
}

// message is what the gate has to know of a JSON-RPC line.
type message struct {
	Method string          `json:"method"`
	ID     any             `json:"id"`
	Result any             `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// id returns the id in a form that compares equal for a request and its answer,
// which the library writes in its own formatting.
func (m message) id() string {
	b, err := json.Marshal(m.ID)
	if err != nil {
		return ""
	}
	return string(b)
}

// Read passes the client's lines to the library.
func (g *gate) Read(p []byte) (int, error) {
	if len(g.line) == 0 && g.end == nil {
		g.wait(func() bool { return g.open[g.first] == 0 })
		line, err := g.in.ReadBytes('\n')
		if g.end = err; err != nil && len(line) > 0 {
			line = append(line, '\n') // the library drops a last line without it
		}
		g.line = g.note(line)
	}
	if len(g.line) > 0 {
		n := copy(p, g.line)
		g.line = g.line[n:]
		return n, nil
	}
	g.wait(func() bool { return len(g.open) == 0 })
	return 0, g.end
}

// note remembers a request.
func (g *gate) note(line []byte) []byte {
	var m message
	if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Result != nil || m.Method == "subscriptions/listen" {
		return line
	}
	if m.Method == "" {
		if m.Error == nil {
			return line
		}
		// The library takes a late error answer for a request and would answer
		// it under an id that may be the client's; a result beside it prevents that.
		quiet, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": struct{}{}, "error": m.Error})
		if err != nil {
			return line
		}
		return append(quiet, '\n')
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open[m.id()]++
	if m.Method == "initialize" {
		g.first = m.id()
	}
	return line
}

// Write passes one line of the library to the client, and notes an answer.
func (g *gate) Write(p []byte) (int, error) {
	var m message
	answer := json.Unmarshal(p, &m) == nil && m.Method == "" && m.ID != nil
	g.mu.Lock()
	defer g.mu.Unlock()
	line := p
	if answer {
		line = g.failed[m.id()].in(p)
		delete(g.failed, m.id())
	}
	n, err := len(p), error(nil)
	if _, err = g.out.Write(line); err != nil {
		n = 0
	}
	if answer {
		if id := m.id(); g.open[id] > 1 {
			g.open[id]--
		} else {
			delete(g.open, id)
		}
		close(g.changed)
		g.changed = make(chan struct{})
	}
	return n, err
}

// fail implements failing.
func (g *gate) fail(id any, f failed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed[message{ID: id}.id()] = &f
}

// tell writes a notification at once, so that it comes before the answer that follows.
func (g *gate) tell(n mcp.JSONRPCNotification) error {
	line, err := json.Marshal(n)
	if err == nil {
		_, err = g.Write(append(line, '\n'))
	}
	return err
}

func (g *gate) wait(done func() bool) {
	var timeout <-chan time.Time // from the last answer on
	for {
		g.mu.Lock()
		ok, changed := done(), g.changed
		g.mu.Unlock()
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
