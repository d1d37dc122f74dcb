package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// message is a line from the server.
type message struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params object `json:"params"`
	Result object `json:"result"`
	Error  object `json:"error"`
}

func (r *rpc) message() message {
	r.t.Helper()
	var m message
	if err := json.Unmarshal([]byte(r.line()), &m); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// request sends a request and returns its answer. Notifications before it are kept.
func (r *rpc) request(id int, method string, params any) message {
	r.t.Helper()
	data, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		r.t.Fatal(err)
	}
	r.send(string(data))
	for {
		m := r.message()
		if m.Method == "" {
			if m.Error != nil {
				r.t.Fatalf("%s: %v", method, m.Error)
			}
			return m
		}
		r.inbox = append(r.inbox, m)
	}
}

// tool calls bmad-task and returns the reply.
func (r *rpc) tool(id int, args object) object {
	r.t.Helper()
	return replyOf(r.t, r.request(id, "tools/call", object{"name": "bmad-task", "arguments": args}))
}

func replyOf(t *testing.T, m message) object {
	t.Helper()
	var reply object
	text := m.Result["content"].([]any)[0].(object)["text"].(string)
	if err := json.Unmarshal([]byte(text), &reply); err != nil || m.Result["isError"] == true {
		t.Fatalf("%v in %s", err, text)
	}
	return reply
}

// until takes the notification with this method, and in its params this address, out of
// those that have come or will come.
func (r *rpc) until(method, uri string) message {
	r.t.Helper()
	for i := 0; ; i++ {
		if i == len(r.inbox) {
			r.inbox = append(r.inbox, r.message())
		}
		if m := r.inbox[i]; m.Method == method && (uri == "" || m.Params["uri"] == uri) {
			r.inbox = slices.Delete(r.inbox, i, i+1)
			return m
		}
	}
}

// terminal runs the program as a person would, in another process.
func terminal(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = dir, isolatedEnv(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

const (
	resourceUpdated = "notifications/resources/updated"
	listChanged     = "notifications/resources/list_changed"
)

// TestSubscriptions is told of what another process does, in the handshake's era.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prd.md"), []byte("# P\nQuality Score: 95/100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startGreeted(t, dir)
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)

	// Subscribed before there is anything: the project's folder is not there yet.
	r.request(2, "resources/subscribe", object{"uri": "bmad-task://sessions"})
	r.request(3, "resources/list", object{})
	terminal(t, dir, "task", "start", "Build a clock")
	r.until(resourceUpdated, "bmad-task://sessions")
	r.until(listChanged, "")

	const session, artifact = "bmad-task://sessions/build-a-clock", "bmad-task://tasks/build-a-clock/artifacts/po"
	r.request(4, "resources/subscribe", object{"uri": session})
	r.request(5, "resources/subscribe", object{"uri": artifact}) // which is to come
	terminal(t, dir, "task", "submit", "--stage", "po", "--claude-result-path", "prd.md")
	r.until(resourceUpdated, session)

	// By this process, a new artifact, and then a person's edit of it.
	r.tool(6, object{"action": "confirm", "confirmed": true})
	r.until(resourceUpdated, artifact)
	r.until(listChanged, "")
	if err := os.WriteFile(filepath.Join(dir, ".claude", "specs", "build-a-clock", "01-product-requirements.md"), []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.until(resourceUpdated, artifact)
	for _, m := range r.inbox {
		if m.Method == listChanged {
			t.Error("an edit changed the list")
		}
	}

	r.request(7, "resources/unsubscribe", object{"uri": session})
	r.inbox = nil
	terminal(t, dir, "task", "cancel")
	r.until(resourceUpdated, "bmad-task://sessions")
	r.request(8, "ping", object{})
	for _, m := range r.inbox {
		if m.Params["uri"] == session {
			t.Error("told of what it has unsubscribed from")
		}
	}
}

// TestListen is told on the stream of protocol 2026-07-28, and only of what it asked for.
func TestListen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := raw(t, dir)
	meta := object{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": object{},
	}
	listen, err := json.Marshal(object{"jsonrpc": "2.0", "id": "stream", "method": "subscriptions/listen", "params": object{
		"_meta": meta, "notifications": object{"resourceSubscriptions": []string{"bmad-task://sessions"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.send(string(listen))
	if m := r.message(); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("%+v", m)
	}
	r.request(2, "resources/list", object{"_meta": meta}) // it did not ask for changes of the list
	terminal(t, dir, "task", "start", "Build a clock")
	m := r.until(resourceUpdated, "bmad-task://sessions")
	if tag, _ := m.Params["_meta"].(object); tag["io.modelcontextprotocol/subscriptionId"] != "stream" {
		t.Errorf("the notification does not name its stream: %v", m.Params)
	}
	// The stream ends with its request.
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"stream"}}`)
	for ended := false; !ended; {
		m := r.message()
		if ended = m.ID == "stream"; !ended {
			r.inbox = append(r.inbox, m)
		}
	}
	terminal(t, dir, "task", "start", "Build another")
	answer := r.request(3, "resources/read", object{"_meta": meta, "uri": "bmad-task://sessions"})
	if text := fmt.Sprint(answer.Result); !strings.Contains(text, "build-another") {
		t.Errorf("read: %s", text)
	}
	for _, m := range r.inbox {
		t.Errorf("told of what nobody asked for: %+v", m)
	}
}

// toDev returns the calls that take a run that has just begun as far as dev.
func toDev() []object {
	return []object{
		{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"},
		{"action": "confirm", "confirmed": true},
		{"action": "submit", "stage": "architect", "claude_result": "# A\nQuality Score: 95/100"},
		{"action": "confirm", "confirmed": true},
		{"action": "submit", "stage": "sm", "claude_result": "## Sprint 1: one"},
		{"action": "approve", "approved": true},
	}
}

// TestNotices is told of a verify command while it runs, if it wants to be.
func TestNotices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		level         string
		token         any
		logs, notices int
	}{
		{"quiet", "", nil, 0, 0},
		{"progress", "", "t1", 0, 1},
		{"number token", "", 7.0, 0, 1},
		{"log", "info", nil, 1, 0},
		{"warnings only", "warning", nil, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, state := t.TempDir(), t.TempDir()
			const command = "echo all good"
			if err := trust.UserState(filepath.Join(state, "bmad-mcp")).Allow(context.Background(), trust.Allowance{Project: dir, Kind: trust.KindVerify, Text: command}); err != nil {
				t.Fatal(err)
			}
			r := raw(t, dir, "XDG_STATE_HOME="+state, "BMAD_VERIFY="+command)
			r.send(hello)
			r.line()
			r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			if c.level != "" {
				r.request(2, "logging/setLevel", object{"level": c.level})
			}
			for i, args := range append([]object{{"action": "start", "objective": "Build a clock"}}, toDev()...) {
				r.tool(10+i, args)
			}
			if len(r.inbox) > 0 {
				t.Fatalf("%+v", r.inbox)
			}
			params := object{"name": "bmad-task", "arguments": object{"action": "submit", "stage": "dev", "claude_result": "# D"}}
			if c.token != nil {
				params["_meta"] = object{"progressToken": c.token}
			}
			answer := r.request(30, "tools/call", params)
			if len(r.inbox) < c.notices {
				t.Errorf("progress comes after the answer")
			}
			session, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf(".bmad-task/session-%s.json", replyOf(t, answer)["session_id"])))
			if err != nil || !strings.Contains(string(session), `"exit_code": 0`) {
				t.Fatalf("the command was not run: %v", err)
			}
			r.request(31, "ping", object{})
			for len(r.inbox) < c.logs+c.notices {
				r.inbox = append(r.inbox, r.message()) // log messages come on a way of their own
			}
			logs, notices := 0, 0
			for _, m := range r.inbox {
				switch m.Method {
				case "notifications/message":
					logs++
					if !strings.Contains(fmt.Sprint(m.Params["data"]), command) || m.Params["level"] != "info" {
						t.Errorf("log: %v", m.Params)
					}
				case "notifications/progress":
					notices++
					if m.Params["progressToken"] != c.token || !strings.Contains(fmt.Sprint(m.Params["message"]), command) {
						t.Errorf("progress: %v", m.Params)
					}
					if m.Params["total"] != 300.0 {
						t.Errorf("total %v, want the command's time limit", m.Params["total"])
					}
				}
			}
			if logs != c.logs || notices != c.notices {
				t.Errorf("%d log messages and %d notices, want %d and %d", logs, notices, c.logs, c.notices)
			}
		})
	}
}
