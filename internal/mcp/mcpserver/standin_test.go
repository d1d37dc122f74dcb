package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// standIn is a model that says what a test has written down, over the messages API or the Responses
// API.
type standIn struct {
	*httptest.Server
	// play returns the next move of the model. It is called by one request at a time.
	play func(standInTurn) standInMove

	mu      sync.Mutex
	said    int      // messages
	done    int      // calls
	offered []string // the tools it was offered last
	results []string // the results of its calls
}

// standInTurn is the input of a model when it is to speak.
type standInTurn struct {
	// results are those of the calls that it made last; person is what was typed, where
	// there are none.
	results []string
	person  string
	// offers reports whether the host offers a tool.
	offers func(tool string) bool
}

// standInMove is a text of a model, and the call that it makes then; without one its turn ends.
type standInMove struct {
	say  string
	call *standInCall
	id   string // of the call
}

type standInCall struct {
	tool string
	args object
}

// newStandIn serves a model that makes these calls and then ends its turn.
func newStandIn(t *testing.T, calls ...standInCall) *standIn {
	t.Helper()
	return serveStandIn(t, func(turn standInTurn) standInMove {
		if len(calls) == 0 || !turn.offers(calls[0].tool) {
			return standInMove{say: "Done."}
		}
		next := calls[0]
		calls = calls[1:]
		return standInMove{call: &next}
	})
}

// serveStandIn serves a model that plays as the function says.
func serveStandIn(t *testing.T, play func(standInTurn) standInMove) *standIn {
	t.Helper()
	m := &standIn{play: play}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// standInRequest is a request for a message, as far as it counts here.
type standInRequest struct {
	Stream   bool
	Tools    []struct{ Name string }
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
}

// last reads the items since the model spoke last. Hosts put reminders of their own beside
// what the person types, and messages of their own behind it.
func (r standInRequest) last() (turn standInTurn) {
	for _, message := range r.Messages {
		switch message.Role {
		case "assistant":
			turn = standInTurn{}
		case "user":
			turn.read(message.Content)
		}
	}
	return turn
}

// read takes in one message: a text, or a list of blocks.
func (turn *standInTurn) read(content json.RawMessage) {
	if json.Unmarshal(content, &turn.person) == nil {
		return
	}
	var blocks []struct {
		Type, Text string
		Content    json.RawMessage
	}
	_ = json.Unmarshal(content, &blocks) // other content says nothing
	for _, block := range blocks {
		switch {
		case block.Type == "tool_result":
			turn.results = append(turn.results, string(block.Content))
		case block.Type == "text" && !strings.HasPrefix(block.Text, "<system-reminder>"):
			turn.person = block.Text
		}
	}
}

// ServeHTTP answers a request for a message, as a stream if it asks for one.
func (m *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req standInRequest
	body, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.URL.Path, "/responses") {
		m.respond(w, body)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/messages") || json.Unmarshal(body, &req) != nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens":1}`)
		return
	}
	m.answer(w, req.Stream, m.move(req))
}

// move lets the model play, if it is asked as the assistant. Hosts make requests of their
// own besides, for titles and such: those offer no tools.
func (m *standIn) move(req standInRequest) standInMove {
	m.mu.Lock()
	defer m.mu.Unlock()
	turn := req.last()
	m.results = append(m.results, turn.results...)
	if len(req.Tools) == 0 {
		return standInMove{say: "Done."}
	}
	m.offered = nil
	for _, tool := range req.Tools {
		m.offered = append(m.offered, tool.Name)
	}
	turn.offers = func(tool string) bool { return slices.Contains(m.offered, tool) }
	move := m.play(turn)
	if move.call != nil {
		m.done++
		move.id = fmt.Sprintf("toolu_%d", m.done)
	}
	return move
}

// answer writes a message of the model.
func (m *standIn) answer(w http.ResponseWriter, stream bool, move standInMove) {
	var blocks []object
	reason := "end_turn"
	if move.say != "" {
		blocks = append(blocks, object{"type": "text", "text": move.say})
	}
	if c := move.call; c != nil {
		blocks = append(blocks, object{"type": "tool_use", "id": move.id, "name": c.tool, "input": c.args})
		reason = "tool_use"
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	m.mu.Lock()
	m.said++
	id := fmt.Sprintf("msg_%d", m.said) // hosts take two messages of one id for one
	m.mu.Unlock()
	message := object{"id": id, "type": "message", "role": "assistant", "model": "stand-in", "content": []any{}, "stop_reason": nil, "usage": usage}
	if !stream {
		message["content"], message["stop_reason"] = blocks, reason
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, data object) {
		data["type"] = kind
		text, _ := json.Marshal(data)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
	}
	event("message_start", object{"message": message})
	for i, block := range blocks {
		begin, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			input, _ := json.Marshal(block["input"])
			begin = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(input)}
		}
		event("content_block_start", object{"index": i, "content_block": begin})
		event("content_block_delta", object{"index": i, "delta": delta})
		event("content_block_stop", object{"index": i})
	}
	event("message_delta", object{"delta": object{"stop_reason": reason}, "usage": usage})
	event("message_stop", object{})
}

// claudeBinary returns the real Claude Code that TEST_BMAD_CLAUDE names, or skips the test: what is not
// shown then. One that happens to be on PATH is of any version, and the person's.
func claudeBinary(t *testing.T, what string) string {
	t.Helper()
	name := os.Getenv("TEST_BMAD_CLAUDE")
	if name == "" {
		t.Skipf("SKIPPED: TEST_BMAD_CLAUDE names no Claude Code, so %s; .ci/proof does it", what)
	}
	return name
}

// standInEnv returns an environment in which Claude Code has a home of its own and speaks with
// the model. It reaches nothing else: every other address is behind a proxy that is not there.
func standInEnv(model *standIn, home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home + "/claude",
		"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=stand-in", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	}
}
