package mcpwire

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// stdioFilter sits between the client and the library, which drops requests without an answer
// when its input ends. The filter passes lines through and holds the end back until every request
// has its answer. It also keeps later requests behind initialize, which the library does not.
type stdioFilter struct {
	in  *bufio.Reader
	out io.Writer

	line  []byte // the rest of the current line
	end   error  // the error at the end of the input
	tasks *tasks
	// leave is called when the client has closed its side.
	leave func()

	mu      sync.Mutex
	open    map[string]int  // requests read and not answered, by id
	first   string          // the id of initialize
	edits   map[string]edit // of answers that are to come, by id
	changed chan struct{}   // closed, and replaced, at each answer
}

func newStdioFilter(in io.Reader, out io.Writer, t *tasks, leave func()) *stdioFilter {
	return &stdioFilter{
		in: bufio.NewReader(in), out: out, tasks: t, leave: leave, edits: map[string]edit{}, open: map[string]int{}, changed: make(chan struct{}),
	}
}

// message has the parts of a JSON-RPC line that the filter needs.
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
func (f *stdioFilter) Read(p []byte) (int, error) {
	if len(f.line) == 0 && f.end == nil {
		f.wait(func() bool { return f.open[f.first] == 0 })
		line, err := f.in.ReadBytes('\n')
		if f.end = err; err != nil && len(line) > 0 {
			line = append(line, '\n') // without it, the library drops the last line
		}
		if f.end != nil {
			f.leave()
		}
		f.line = f.note(line)
	}
	if len(f.line) > 0 {
		n := copy(p, f.line)
		f.line = f.line[n:]
		return n, nil
	}
	f.wait(func() bool { return len(f.open) == 0 })
	return 0, f.end
}

// note remembers a request.
func (f *stdioFilter) note(line []byte) []byte {
	var m message
	if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Result != nil {
		return line
	}
	if m.Method == string(mcp.MethodSubscriptionsListen) {
		out, err := listenIn(line, false)
		if err == nil {
			return out
		}
		// The library does not know the method, and its refusal is replaced.
		m.Method, line = methodTasksGet, editJSON(line, func(request map[string]any) { request["method"] = methodTasksGet })
	}
	if m.Method == "" {
		if m.Error == nil {
			return line
		}
		// The library takes a late error answer for a request and would answer
		// it under an id that may be the client's; a result beside it prevents that.
		return encodeLine(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": struct{}{}, "error": m.Error}, line)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[m.id()]++
	if m.Method == "initialize" {
		f.first = m.id()
	}
	if isTaskMethod(m.Method) {
		f.edits[m.id()] = f.tasks.editStdio(line)
	}
	return line
}

// Write passes one line of the library to the client, and notes an answer.
func (f *stdioFilter) Write(p []byte) (int, error) {
	var m message
	answer := json.Unmarshal(p, &m) == nil && m.Method == "" && m.ID != nil
	f.mu.Lock()
	defer f.mu.Unlock()
	line := acknowledgeTasks(p)
	if answer {
		line = f.edits[m.id()].in(p)
		delete(f.edits, m.id())
	}
	_, err := f.out.Write(line)
	if answer {
		if id := m.id(); f.open[id] > 1 {
			f.open[id]--
		} else {
			delete(f.open, id)
		}
		close(f.changed)
		f.changed = make(chan struct{})
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// edit implements answering.
func (f *stdioFilter) edit(id any, e edit, _ int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.edits[message{ID: id}.id()] = e
}

// tell writes a notification at once, so that it comes before the answer that follows.
func (f *stdioFilter) tell(n mcp.JSONRPCNotification) error {
	line, err := json.Marshal(n)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return err
}

func (f *stdioFilter) wait(done func() bool) {
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
