// Package sdktest has a server in the place of a model's, for tests without a network.
//
// The [Server] speaks the Messages API (/v1/messages) and chat completions (/v1/chat/completions), streamed and
// whole, and follows a script: each request takes the next [Step]. It enforces the rules of real servers often
// forgotten by mocks: a conversation in which a use of a tool has no result is refused with status 400.
package sdktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Server plays a model's server. Set the exported fields before [Server.Start], or before the first request of
// a client in this process: requests of another one do not wait for them.
type Server struct {
	// URL is the base of the Messages API; ChatURL the base of chat completions. Start sets them.
	URL, ChatURL string
	// Key, if set, is the only credential accepted, else any is.
	Key string
	// Models are the known ones; [DefaultModels] if not set.
	Models []string
	// Dialect is how chat completions are spoken; [OpenAI] if not set.
	Dialect Dialect
	// Side, if set, sees each request first; if it returns a step, the request takes this step and none of the
	// script. Programs send such requests for titles and summaries.
	Side func(Request) *Step

	http     *httptest.Server
	closing  chan struct{}
	close    func()
	mu       sync.Mutex
	steps    []Step
	requests []Request
}

// DefaultModels are the models known to a server by default.
var DefaultModels = []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "gpt-test", "llama-test"}

// Request is a request received by the server. The header lacks credentials.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
	Model  string
	Stream bool
	// Request is the same in neutral form; Refused is why it was answered with an error, if it was.
	provider.Request
	Refused string
}

// New returns a running server, which ends with the test.
func New(t testing.TB, steps ...Step) *Server {
	s := NewServer(steps...)
	t.Cleanup(s.Close)
	return s
}

// NewServer returns a running server.
func NewServer(steps ...Step) *Server {
	s := &Server{}
	s.Start(steps...)
	return s
}

// Start runs the server. It is called once.
func (s *Server) Start(steps ...Step) {
	if s.Models == nil {
		s.Models = DefaultModels
	}
	s.steps, s.closing = steps, make(chan struct{})
	s.http = httptest.NewServer(s)
	s.URL, s.ChatURL = s.http.URL, s.http.URL+"/v1"
	s.close = sync.OnceFunc(func() {
		close(s.closing) // ends silent streams, for which the other server would wait
		s.http.Close()
	})
}

// Close ends the server. It may be called again.
func (s *Server) Close() { s.close() }

// Add appends steps to the script.
func (s *Server) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Requests returns every request for an answer so far, also the refused ones.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left returns how many steps of the script are not taken.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}

// maxBody bounds a request.
const maxBody = 64 << 20

// face is how one of the APIs is read and written.
type face interface {
	// readRequest fills in a request from the body, or returns the reason of a refusal.
	readRequest(r *Request) error
	// fail returns the body of an error.
	errorBody(kind, message, id string) any
	// wholeAnswer returns the body of an answer; streamEvents the events of it.
	wholeAnswer(r Request, s Step) any
	streamEvents(r Request, s Step) []event
}

// event is one of a stream. data is written as JSON, if it is not a string.
type event struct {
	name string
	data any
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := durable.ReadStream(r.Body, "the request", maxBody)
	if err != nil {
		return // the client has gone, or the request has no end
	}
	var f face = messages{}
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages/count_tokens"):
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": len(body) / 4})
		return
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages"):
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		f = chat{s.Dialect}
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, s.modelList())
		return
	case r.URL.Path == "/":
		w.WriteHeader(http.StatusOK)
		return
	default:
		writeJSON(w, http.StatusNotFound, f.errorBody("not_found_error", r.URL.Path+" does not exist here", ""))
		return
	}
	s.answer(w, r, f, &Request{Path: r.URL.Path, Header: r.Header, Body: body})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, f face, got *Request) {
	refused := s.authorize(r)
	kind, status := "authentication_error", http.StatusUnauthorized
	got.Header = r.Header.Clone()
	got.Header.Del("X-Api-Key")
	got.Header.Del("Authorization")
	if refused == nil {
		kind, status = "invalid_request_error", http.StatusBadRequest
		refused = f.readRequest(got)
	}
	if refused == nil && !slices.Contains(s.Models, got.Model) {
		kind, status = "not_found_error", http.StatusNotFound
		refused = fmt.Errorf("model: %s", got.Model)
	}
	if refused != nil {
		got.Refused = refused.Error()
	}
	step, number := s.nextStep(got, Step{Status: status, Type: kind, Message: got.Refused})
	id := fmt.Sprintf("req_%d", number)
	w.Header().Set("Request-Id", id)
	w.Header().Set("X-Request-Id", id)
	for name, value := range step.Header {
		w.Header().Set(name, value)
	}
	switch {
	case step.Status != 0:
		writeJSON(w, step.Status, f.errorBody(step.Type, step.Message, id))
	case got.Stream:
		s.writeEvents(w, r, f, step, f.streamEvents(*got, step))
	default:
		writeJSON(w, http.StatusOK, f.wholeAnswer(*got, step))
	}
}

// nextStep records a request and returns the step for it, which is refusal if the request broke a rule.
func (s *Server) nextStep(got *Request, refusal Step) (Step, int) {
	var side *Step
	if s.Side != nil && got.Refused == "" {
		side = s.Side(*got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, *got)
	n := len(s.requests)
	if got.Refused != "" {
		return refusal, n
	}
	step := Step{Status: http.StatusBadRequest, Type: "script_error", Message: fmt.Sprintf("the script is at its end, and this is request %d", n)}
	switch {
	case side != nil:
		step = *side
	case len(s.steps) > 0:
		step, s.steps = s.steps[0], s.steps[1:]
	}
	step.Blocks = slices.Clone(step.Blocks)
	for i, b := range step.Blocks {
		if b.Type == provider.ToolUse && b.ID == "" {
			// The length of the conversation keeps ids apart.
			step.Blocks[i].ID = fmt.Sprintf("toolu_%d_%d", len(got.Messages), i)
		}
	}
	if step.Usage == (provider.Usage{}) {
		step.Usage = provider.Usage{Input: 100, Output: 10}
	}
	return step, n
}

func (s *Server) authorize(r *http.Request) error {
	key := r.Header.Get("X-Api-Key")
	if key == "" {
		key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	local := strings.HasSuffix(r.URL.Path, "/chat/completions") && s.Key == ""
	isWrong := s.Key != "" && key != s.Key
	isMissing := key == "" && !local
	if isWrong || isMissing {
		return fmt.Errorf("invalid x-api-key")
	}
	return nil
}

func (s *Server) modelList() any {
	list := []object{}
	for _, m := range s.Models {
		list = append(list, object{"id": m, "type": "model", "object": "model"})
	}
	return object{"object": "list", "data": list, "has_more": false}
}

// writeEvents streams events, with the quirks of the step.
func (s *Server) writeEvents(w http.ResponseWriter, r *http.Request, f face, step Step, events []event) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	send := func(text string) {
		size := len(text)
		if step.Quirks&Split != 0 {
			size = 7
		}
		for part := range slices.Chunk([]byte(text), max(size, 1)) {
			_, _ = w.Write(part) // the client may have gone: nothing is to be done then
			_ = out.Flush()
		}
	}
	for i, e := range events {
		if step.Quirks&Ping != 0 {
			send(": keep-alive\n\n" + event{"ping", object{"type": "ping"}}.formatEvent())
		}
		if step.Quirks&Unknown != 0 {
			send(event{"weather_forecast", object{"type": "weather_forecast", "sunny": true}}.formatEvent())
		}
		if i == len(events)/2 {
			switch {
			case step.Type != "":
				send(event{"error", f.errorBody(step.Type, step.Message, "")}.formatEvent())
				return
			case step.Quirks&Cut != 0:
				return
			case step.Quirks&Drop != 0:
				panic(http.ErrAbortHandler)
			case step.Quirks&Silent != 0:
				select {
				case <-r.Context().Done():
				case <-s.closing:
				}
				return
			}
		}
		send(e.formatEvent())
	}
}

func (e event) formatEvent() string {
	text, ok := e.data.(string)
	if !ok {
		text = encode(e.data)
	}
	text = "data: " + text + "\n\n"
	if e.name != "" {
		text = "event: " + e.name + "\n" + text
	}
	return text
}

func encode(v any) string {
	var data strings.Builder
	out := json.NewEncoder(&data)
	out.SetEscapeHTML(false) // no server does it
	if err := out.Encode(v); err != nil {
		panic(fmt.Sprintf("sdktest: a step cannot be written as JSON: %v", err)) // a mistake in the test's own script
	}
	return strings.TrimSpace(data.String())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone: nothing is to be done then
}

// cutIntoPieces cuts a text as models stream it.
func cutIntoPieces(text string) []string {
	var all []string
	for part := range slices.Chunk([]rune(text), 6) {
		all = append(all, string(part))
	}
	return all
}
