package mcpserver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const channelMessage = "notifications/claude/channel"

// TestChannel tells a host that knows messages of a decision elsewhere, in both eras, and of nothing that its own calls do.
func TestChannel(t *testing.T) {
	t.Parallel()
	for protocol, version := range map[string]string{"2025-11-25": "2.1.80", "2026-07-28": "2.1.329 (Claude Code)"} {
		dir, r, id := documents(t), (*rpc)(nil), 1
		call := func(method string, params object) message {
			id++
			if protocol == "2026-07-28" {
				params["_meta"] = object{
					"io.modelcontextprotocol/protocolVersion": protocol, "io.modelcontextprotocol/clientCapabilities": object{},
					"io.modelcontextprotocol/clientInfo": object{"name": "claude-code", "version": version},
				}
			}
			return r.request(id, method, params)
		}
		tool := func(args object) object {
			return replyOf(t, call("tools/call", object{"name": "bmad-task", "arguments": args}))
		}
		r = raw(t, dir, "BMAD_HOST_CONFIRM=never") // so that a call can say yes
		var hello message
		if protocol == "2026-07-28" {
			hello = call("server/discover", object{})
		} else {
			hello = call("initialize", object{"protocolVersion": protocol, "clientInfo": object{"name": "claude-code", "version": version}, "capabilities": object{}})
			r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		}
		if got := fmt.Sprint(hello.Result["capabilities"].(object)["experimental"]); got != "map[claude/channel:map[]]" {
			t.Errorf("%s: declared %s", protocol, got)
		}
		terminal(t, dir, "task", "start", "Build another thing") // which is not this client's
		tool(object{"action": "start", "objective": "Build a clock"})
		tool(object{"action": "submit", "session_id": "build-a-clock", "stage": "po", "claude_result_path": "prd.md"})
		terminal(t, dir, "task", "cancel", "build-another-thing")
		terminal(t, dir, "task", "confirm", "build-a-clock", "--confirmed")
		m := r.until(channelMessage, "")
		const want = "The person has acted on the run build-a-clock elsewhere (confirm). Call bmad-task with action status to see where it stands, and go on from there."
		if m.Params["content"] != want || fmt.Sprint(m.Params["meta"]) != "map[kind:confirm run:build-a-clock]" || m.ID != nil {
			t.Errorf("%s: %+v, want %s", protocol, m, want)
		}
		// By its own calls, and then elsewhere: one message, about the latter.
		tool(object{"action": "submit", "session_id": "build-a-clock", "stage": "architect", "claude_result_path": "prd.md"})
		tool(object{"action": "confirm", "session_id": "build-a-clock", "confirmed": true})
		tool(object{"action": "submit", "session_id": "build-a-clock", "stage": "sm", "claude_result_path": "plan.md"})
		terminal(t, dir, "task", "cancel", "build-a-clock")
		m = r.until(channelMessage, "")
		if fmt.Sprint(m.Params["meta"]) != "map[kind:cancel run:build-a-clock]" {
			t.Errorf("%s: %+v, want a message about the end", protocol, m)
		}
		for _, m := range r.inbox {
			if m.Method == channelMessage {
				t.Errorf("%s: one more: %+v", protocol, m)
			}
		}
	}
}

// TestChannelIsForHostsThatKnowIt: others get no message, and nothing else differs.
func TestChannelIsForHostsThatKnowIt(t *testing.T) {
	t.Parallel()
	for _, client := range []string{`"name":"claude-code","version":"2.1.79"`, `"name":"codex","version":"9.9.9"`, `"name":"claude-code","version":""`} {
		dir := documents(t)
		r := raw(t, dir)
		r.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{` + client + `},"capabilities":{}}}`)
		r.line()
		r.tool(2, object{"action": "start", "objective": "Build a clock"})
		r.tool(3, object{"action": "submit", "stage": "po", "claude_result_path": "prd.md"})
		const session = "bmad-task://sessions/build-a-clock"
		r.request(4, "resources/subscribe", object{"uri": session})
		terminal(t, dir, "task", "confirm", "build-a-clock", "--confirmed")
		r.until(resourceUpdated, session)
		terminal(t, dir, "task", "cancel", "build-a-clock")
		r.until(resourceUpdated, session)
		r.request(5, "ping", object{})
		for _, m := range r.inbox {
			if m.Method == channelMessage {
				t.Errorf("%s: %+v", client, m)
			}
		}
	}
}

// documents returns a project with a document and a plan.
func documents(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"prd.md": "# P\nQuality Score: 95/100\n", "plan.md": "# S\n## Sprint 1: one\n" + strings.Repeat("Do it. ", 20) + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestChannelLeavesFormsTheirNews: a call whose form is withdrawn, because the person has decided elsewhere, says so itself.
func TestChannelLeavesFormsTheirNews(t *testing.T) {
	t.Parallel()
	dir := documents(t)
	r := raw(t, dir, "BMAD_HOST_CONFIRM=never")
	r.request(1, "initialize", object{
		"protocolVersion": "2025-11-25", "clientInfo": object{"name": "claude-code", "version": "2.1.80"}, "capabilities": object{"elicitation": object{}},
	})
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.tool(2, object{"action": "start", "objective": "Build a clock"})
	r.tool(3, object{"action": "submit", "stage": "po", "claude_result_path": "prd.md"})
	r.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"confirm"}}}`)
	r.until("elicitation/create", "")
	terminal(t, dir, "task", "confirm", "build-a-clock", "--confirmed")
	r.until("notifications/cancelled", "")
	for m := r.message(); m.ID != float64(4); m = r.message() {
		r.inbox = append(r.inbox, m)
	}
	terminal(t, dir, "task", "cancel", "build-a-clock")
	if m := r.until(channelMessage, ""); fmt.Sprint(m.Params["meta"]) != "map[kind:cancel run:build-a-clock]" {
		t.Errorf("%+v, want a message about the end alone", m)
	}
}
