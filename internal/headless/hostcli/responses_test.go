package hostcli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// responses plays a model over the Responses API, as far as Codex uses it: each request takes the
// next step, and after the last one the model says that it is done.
type responses struct {
	*httptest.Server
	mu     sync.Mutex
	steps  []step
	number int
	bodies []string
}

func newResponses(t *testing.T, steps ...step) *responses {
	r := &responses{steps: steps}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *responses) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/responses") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"models":[],"data":[]}`)
		return
	}
	r.mu.Lock()
	r.number++
	n, next := r.number, step{say: "Done."}
	r.bodies = append(r.bodies, string(body))
	if len(r.steps) > 0 {
		next, r.steps = r.steps[0], r.steps[1:]
	}
	r.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, data map[string]any) {
		data["type"] = kind
		text, _ := json.Marshal(data)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
	}
	id := fmt.Sprintf("resp_%d", n)
	event("response.created", map[string]any{"response": map[string]any{"id": id}})
	event("response.output_item.done", map[string]any{"item": next.item(fmt.Sprint(n))})
	event("response.completed", map[string]any{"response": map[string]any{"id": id, "usage": map[string]any{
		"input_tokens": 100, "input_tokens_details": map[string]any{"cached_tokens": 40}, "output_tokens": 10, "output_tokens_details": map[string]any{"reasoning_tokens": 5}, "total_tokens": 110,
	}}})
}

// item returns the output of a model for a step.
func (s step) item(id string) map[string]any {
	switch {
	case s.run != "":
		args, _ := json.Marshal(map[string]any{"cmd": s.run, "yield_time_ms": 120000}) // how long to wait for its end
		return map[string]any{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": "exec_command", "arguments": string(args)}
	case s.write != "":
		patch := "*** Begin Patch\n*** Add File: " + s.write + "\n+written\n*** End Patch"
		return map[string]any{"type": "custom_tool_call", "id": "ct_" + id, "call_id": "call_" + id, "name": "apply_patch", "input": patch}
	}
	return map[string]any{"type": "message", "role": "assistant", "id": "msg_" + id, "content": []any{map[string]string{"type": "output_text", "text": s.say}}}
}
