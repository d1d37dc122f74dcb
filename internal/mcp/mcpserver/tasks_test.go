package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// taking has the metadata of a client that takes tasks.
var taking = object{
	"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": object{"name": "raw", "version": "0"},
	"io.modelcontextprotocol/clientCapabilities": object{"extensions": object{"io.modelcontextprotocol/tasks": object{}}},
}

// wire sends a request and returns its result.
type wire func(method string, params object) object

// stdioWire returns a client on stdio.
func stdioWire(r *rpc) wire {
	id := 100
	return func(method string, params object) object {
		id++
		params["_meta"] = taking
		return r.request(id, method, params).Result
	}
}

// httpWire returns a client over HTTP.
func httpWire(t *testing.T, s *served) wire {
	return func(method string, params object) object {
		t.Helper()
		name := params["name"]
		if params["taskId"] != nil {
			name = params["taskId"]
		}
		params["_meta"] = taking
		body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		status, out := s.send("POST", s.url, string(body), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", fmt.Sprint(name), "Accept", "application/json, text/event-stream")
		var answer message
		if err := json.Unmarshal([]byte(strings.TrimPrefix(out, "event: message\ndata: ")), &answer); err != nil || answer.Error != nil {
			t.Fatalf("%s: %d, %s", method, status, out)
		}
		return answer.Result
	}
}

// do calls bmad-task.
func (w wire) do(args object) object {
	return w("tools/call", object{"name": "bmad-task", "arguments": args})
}

// reply is the reply in the result of a call, or of a task.
func resultReply(t *testing.T, result any) object {
	t.Helper()
	m, _ := result.(object)
	return replyOf(t, message{Result: m})
}

// with adds the revision of the last reply to a decision.
func with(args, last object) object {
	if args["confirmed"] != nil || args["approved"] != nil {
		args["revision"] = last["revision"]
	}
	return args
}

// until asks for a task until it is no longer in a state.
func (w wire) until(t *testing.T, task object, not string) object {
	t.Helper()
	id, _ := task["taskId"].(string)
	if task["resultType"] != "task" || id == "" {
		t.Fatalf("it is no task: %v", task)
	}
	for range 6000 {
		if state := w("tasks/get", object{"taskId": id}); state["status"] != not {
			return state
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("the task stays %s", not)
	return nil
}

// TestTasksOfAClient checks that to wait for the person, and to run a verify command, are tasks for
// clients that take them, on stdio and over HTTP.
func TestTasksOfAClient(t *testing.T) {
	t.Parallel()
	const command = "echo all good"
	for name, connect := range map[string]func(t *testing.T, dir string, env []string) wire{
		"stdio": func(t *testing.T, dir string, env []string) wire { return stdioWire(raw(t, dir, env...)) },
		"http":  func(t *testing.T, dir string, env []string) wire { return httpWire(t, serve(t, dir, env)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, state := t.TempDir(), t.TempDir()
			if err := trust.UserState(filepath.Join(state, "bmad-mcp")).Allow(context.Background(), trust.Allowance{Project: dir, Kind: trust.KindVerify, Text: command}); err != nil {
				t.Fatal(err)
			}
			w := connect(t, dir, []string{"XDG_STATE_HOME=" + state, "BMAD_VERIFY=" + command})
			steps := append([]object{{"action": "start", "objective": "Build a clock"}}, toDev()...)
			var last object
			for _, args := range steps[:2] {
				last = resultReply(t, w.do(args))
			}
			waits := w.do(object{"action": "status", "wait": 50})
			if waits["status"] != "working" || waits["content"] != nil {
				t.Errorf("the handle is %v", waits)
			}
			last = resultReply(t, w.do(with(steps[2], last)))
			decided := w.until(t, waits, "working")
			if reply := resultReply(t, decided["result"]); decided["status"] != "completed" || reply["stage"] == "po" {
				t.Errorf("after the decision: %v", decided)
			}
			for _, args := range steps[3:] {
				last = resultReply(t, w.do(with(args, last)))
			}
			verifies := w.do(object{"action": "submit", "stage": "dev", "claude_result": "# D"})
			if verifies["statusMessage"] != "running `"+command+"`" {
				t.Errorf("the handle is %v", verifies)
			}
			verified := w.until(t, verifies, "working")
			if reply := resultReply(t, verified["result"]); verified["status"] != "completed" || reply["stage"] != "review" {
				t.Errorf("after the command: %v", verified)
			}
		})
	}
}

// TestTasksEndWithTheClient leaves nothing behind: the process ends although a task waits.
func TestTasksEndWithTheClient(t *testing.T) {
	t.Parallel()
	r := raw(t, atGate(t))
	w := stdioWire(r)
	if task := w.do(object{"action": "status", "wait": 50}); task["resultType"] != "task" {
		t.Fatalf("it is no task: %v", task)
	}
	if err := r.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v: %s", err, r.stderr)
	}
}
