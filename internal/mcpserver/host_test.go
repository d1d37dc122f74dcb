package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// standIn is a model that says what a test has written down, over the messages API.
type standIn struct {
	*httptest.Server
	t *testing.T
	// calls are the tool calls it makes, one after the other.
	calls []standInCall

	mu      sync.Mutex
	done    int
	offered []string // the tools it was offered last
	results []string // what its calls brought
}

type standInCall struct {
	tool string
	args object
}

// newStandIn serves a model that makes these calls and then ends its turn.
func newStandIn(t *testing.T, calls ...standInCall) *standIn {
	m := &standIn{t: t, calls: calls}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP answers a request for a message, as a stream where it asks for one.
func (m *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	body, _ := io.ReadAll(r.Body)
	if !strings.HasSuffix(r.URL.Path, "/messages") || json.Unmarshal(body, &req) != nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens":1}`)
		return
	}
	var names []string
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
	}
	block, reason := object{"type": "text", "text": "Done."}, "end_turn"
	m.mu.Lock()
	if len(req.Messages) > 0 {
		var content []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(req.Messages[len(req.Messages)-1].Content, &content) // a plain text has no results
		for _, c := range content {
			if c.Type == "tool_result" {
				m.results = append(m.results, string(c.Content))
			}
		}
	}
	// Hosts make requests of their own besides, for titles and such: those offer no tools.
	if len(names) > 0 {
		m.offered = names
		if m.done < len(m.calls) && slices.Contains(names, m.calls[m.done].tool) {
			c := m.calls[m.done]
			m.done++
			block, reason = object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", m.done), "name": c.tool, "input": c.args}, "tool_use"
		}
	}
	m.mu.Unlock()
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": []any{}, "stop_reason": nil, "usage": usage}
	if !req.Stream {
		message["content"], message["stop_reason"] = []any{block}, reason
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
	delta := object{"type": "text_delta", "text": block["text"]}
	begin := object{"type": "text", "text": ""}
	if reason == "tool_use" {
		input, _ := json.Marshal(block["input"])
		delta = object{"type": "input_json_delta", "partial_json": string(input)}
		begin = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
	}
	event("message_start", object{"message": message})
	event("content_block_start", object{"index": 0, "content_block": begin})
	event("content_block_delta", object{"index": 0, "delta": delta})
	event("content_block_stop", object{"index": 0})
	event("message_delta", object{"delta": object{"stop_reason": reason}, "usage": usage})
	event("message_stop", object{})
}

// claudeCodeBinary returns the real Claude Code, or skips the test.
func claudeCodeBinary(t *testing.T) string {
	t.Helper()
	if name := os.Getenv("BMAD_CLAUDE"); name != "" {
		return name
	}
	name, err := exec.LookPath("claude")
	if err != nil {
		t.Skip("SKIPPED: Claude Code is not installed, so the recipe of the README was not run with it; .ci/proof does, or name the program in BMAD_CLAUDE")
	}
	return name
}

// TestRecipeWithClaudeCode does what the README says under "Serve several clients over HTTP":
// a server for a folder of projects, Claude Code in one of them, and a model that passes no cwd.
func TestRecipeWithClaudeCode(t *testing.T) {
	t.Parallel()
	claude := claudeCodeBinary(t)
	root := team(t, "p1", "p2")
	s := serve(t, root, nil, "--root", root)
	for _, project := range []string{"p1", "p2"} {
		home := t.TempDir()
		model := newStandIn(t,
			standInCall{"mcp__bmad__bmad-task", object{"action": "start", "objective": "Build a clock"}},
			standInCall{"mcp__bmad__bmad-task", object{"action": "status"}})
		run := func(args ...string) string {
			t.Helper()
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, claude, args...)
			cmd.Dir = filepath.Join(root, project)
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "claude"),
				"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=stand-in", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("claude %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		run("mcp", "add", "--transport", "http", "bmad", s.url)
		if out := run("mcp", "list"); !strings.Contains(out, "bmad: "+s.url) || !strings.Contains(out, "Connected") {
			t.Fatalf("claude mcp list: %s", out)
		}
		run("-p", "Use bmad-task to build a clock.", "--allowedTools", "mcp__bmad__bmad-task")
		if model.done != 2 || len(model.results) == 0 || !strings.Contains(model.results[0], filepath.Join(root, project)) {
			t.Fatalf("%d calls made, offered %v, results %.600q", model.done, model.offered, model.results)
		}
		if slices.Contains(model.offered, "mcp__bmad__bmad-confirm") {
			t.Error("bmad-confirm is offered over HTTP")
		}
		if got := holders(t, root); !slices.Contains(got, project) || slices.Contains(got, ".") {
			t.Errorf("it landed in %v", got)
		}
	}
}
