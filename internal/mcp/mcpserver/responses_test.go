package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// codexTool is a tool that Codex offers to a model that works, and not to one that makes a title.
const codexTool = "exec_command"

// responsesRequest is a request of the Responses API, as far as it counts here.
type responsesRequest struct {
	Tools []struct{ Name string }
	Input []struct {
		Type, Role string
		Content    []struct{ Text string }
		Output     []struct{ Text string }
	}
}

// last reads the items since the model spoke last.
func (r responsesRequest) last() (turn standInTurn) {
	for _, item := range r.Input {
		switch {
		case item.Type == "function_call", item.Role == "assistant":
			turn = standInTurn{}
		case item.Role == "user" && len(item.Content) > 0:
			turn.person = item.Content[len(item.Content)-1].Text
		case item.Type == "function_call_output" && len(item.Output) > 0:
			turn.results = append(turn.results, item.Output[len(item.Output)-1].Text)
		}
	}
	return turn
}

// respond answers a request of the Responses API as a stream. Codex does not list the tools of
// servers: the model searches for them, and calls them by their namespace.
func (m *standIn) respond(w http.ResponseWriter, body []byte) {
	var req responsesRequest
	_ = json.Unmarshal(body, &req) // an unreadable request offers nothing
	move := standInMove{say: "Done."}
	m.mu.Lock()
	if slices.ContainsFunc(req.Tools, func(tool struct{ Name string }) bool { return tool.Name == codexTool }) {
		turn := req.last()
		turn.offers = func(string) bool { return true }
		m.results = append(m.results, turn.results...)
		move = m.play(turn)
	}
	m.said++
	n := m.said
	m.mu.Unlock()

	items := []object{}
	if move.say != "" {
		items = append(items, object{"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", n), "content": []object{{"type": "output_text", "text": move.say}}})
	}
	if c := move.call; c != nil {
		items = append(items, object{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n), "namespace": "mcp__bmad", "name": strings.TrimPrefix(c.tool, "mcp__bmad__"), "arguments": jsonText(c.args)})
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, data object) {
		data["type"] = kind
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, jsonText(data))
	}
	id := fmt.Sprintf("resp_%d", n)
	event("response.created", object{"response": object{"id": id}})
	for _, item := range items {
		event("response.output_item.done", object{"item": item})
	}
	event("response.completed", object{"response": object{"id": id, "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}})
}
