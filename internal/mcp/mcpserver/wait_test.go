package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// atGate returns a project whose only session waits for the person.
func atGate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prd.md"), []byte("# P\nQuality Score: 95/100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	terminal(t, dir, "task", "start", "Build a clock")
	terminal(t, dir, "task", "submit", "--stage", "po", "--claude-result-path", "prd.md")
	return dir
}

const waitCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"status","wait":50},"_meta":{"progressToken":"p%[1]d"}}}`

// TestWait holds a status until a person has decided at a terminal, tells of itself meanwhile,
// and keeps no other call from being answered.
func TestWait(t *testing.T) {
	t.Parallel()
	dir := atGate(t)
	r := startGreeted(t, dir)
	r.send(fmt.Sprintf(waitCall, 10))
	if m := r.message(); m.Method != "notifications/progress" || m.Params["progressToken"] != "p10" || m.Params["message"] != "waiting for your decision on “build-a-clock”" || m.Params["total"] != 50.0 {
		t.Fatalf("it does not say that it waits: %v", m)
	}
	for id := 11; id < 50; id++ { // more than it has workers
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"status","wait":50}}}`, id))
	}
	if reply := r.tool(60, object{"action": "status"}); reply["state"] != "awaiting_confirmation" {
		t.Errorf("another call: %v", reply)
	}
	terminal(t, dir, "task", "confirm")
	var decided message
	for decided.ID != 10.0 {
		decided = r.message()
	}
	if reply := replyOf(t, decided); reply["stage"] != "architect" || reply["next_call"].(object)["action"] != "submit" {
		t.Errorf("it came back with %v", reply)
	}
}

// TestWaitEnds answers a status that waits as soon as its client gives it up, or leaves.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	r := startGreeted(t, atGate(t))
	for id := range 40 { // more than one client may have at once
		r.send(fmt.Sprintf(waitCall, 100+id))
		if m := r.message(); m.Method != "notifications/progress" {
			t.Fatalf("call %d does not wait: %v", id, m)
		}
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 100+id))
		for m := r.message(); m.ID != float64(100+id); m = r.message() {
		}
	}
	r.send(fmt.Sprintf(waitCall, 10))
	for m := r.message(); m.Method != "notifications/progress" || m.Params["progressToken"] != "p10"; m = r.message() {
	}
	if err := r.in.Close(); err != nil {
		t.Fatal(err)
	}
	var last message
	for last.ID != 10.0 {
		last = r.message()
	}
	if reply := replyOf(t, last); reply["state"] != "awaiting_confirmation" {
		t.Errorf("it came back with %v", reply)
	}
}

// TestWaitOverHTTP holds the calls of many clients at once, of both eras, until another one passes
// on a decision; and answers those that still wait when the server ends.
func TestWaitOverHTTP(t *testing.T) {
	t.Parallel()
	dir := atGate(t)
	s := serve(t, dir, nil)
	type outcome struct {
		reply object
		err   error
	}
	outcomes := make(chan outcome, 20)
	wait := func(c *client.Client) {
		reply, refused, err := act(c, object{"action": "status", "wait": 50})
		if refused {
			err = fmt.Errorf("refused: %v", reply)
		}
		outcomes <- outcome{reply, err}
	}
	for i := range 20 {
		go wait(s.connect([]string{"", "2025-11-25"}[i%2], nil))
	}
	other := s.connect("2025-11-25", nil)
	reply, refused, err := act(other, object{"action": "status"})
	if err != nil || refused {
		t.Fatal(reply, err)
	}
	call := reply["next_call"].(object)
	call["confirmed"] = true
	if reply, refused, err := act(other, call); err != nil || refused || reply["stage"] != "architect" {
		t.Fatal(reply, err)
	}
	for range 20 {
		if o := <-outcomes; o.err != nil || o.reply["stage"] != "architect" {
			t.Errorf("it came back with %v, %v", o.reply, o.err)
		}
	}

	if reply, refused, err := act(other, object{"action": "submit", "stage": "architect", "claude_result_path": "prd.md"}); err != nil || refused || reply["state"] != "awaiting_confirmation" {
		t.Fatal(reply, err)
	}
	seen := make(chan struct{}, 1)
	last := s.connect("2025-11-25", nil)
	last.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			select {
			case seen <- struct{}{}:
			default:
			}
		}
	})
	go func() {
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = "bmad-task", object{"action": "status", "wait": 50}
		req.Params.Meta = &mcp.Meta{ProgressToken: "p"}
		result, err := last.CallTool(context.Background(), req)
		outcomes <- outcome{object{"result": result}, err}
	}()
	<-seen
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	o := <-outcomes
	if data, err := json.Marshal(o.reply); o.err != nil || err != nil || !strings.Contains(string(data), "awaiting_confirmation") {
		t.Errorf("the server's end: %s, %v", data, o.err)
	}
}
