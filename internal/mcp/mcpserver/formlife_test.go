package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// hostAtGate is a host of an older protocol, at the first gate of a run.
type hostAtGate struct {
	t   *testing.T
	dir string
	// send writes a message, and receive returns the next one that is no notification but of a withdrawn form.
	send    func(object)
	receive func() object
	calls   int
}

// confirm calls confirm with the assistant's word, and returns the form.
func (h *hostAtGate) confirm() object {
	h.t.Helper()
	h.calls++
	h.send(object{"id": 100 + h.calls, "method": "tools/call", "params": object{"name": "bmad-task", "arguments": object{"action": "confirm", "confirmed": true, "cwd": h.dir}}})
	form := h.receive()
	if form["method"] != "elicitation/create" {
		h.t.Fatalf("no form: %v", form)
	}
	return form
}

// stdioHost returns a host on stdio.
func stdioHost(t *testing.T) *hostAtGate {
	dir := atGate(t)
	r := raw(t, dir)
	h := &hostAtGate{t: t, dir: dir}
	h.send = func(m object) {
		m["jsonrpc"] = "2.0"
		data, err := json.Marshal(m)
		if err != nil {
			t.Error(err)
		}
		r.send(string(data))
	}
	h.receive = func() object {
		for {
			var m object
			if err := json.Unmarshal([]byte(r.line()), &m); err != nil {
				t.Fatal(err)
			}
			if m["id"] != nil || m["method"] == "notifications/cancelled" {
				return m
			}
		}
	}
	h.send(object{"id": 1, "method": "initialize", "params": object{"protocolVersion": "2025-06-18", "clientInfo": object{"name": "host", "version": "1"}, "capabilities": object{"elicitation": object{}}}})
	h.receive()
	return h
}

// httpHost returns a host over HTTP.
func httpHost(t *testing.T) *hostAtGate {
	dir := atGate(t)
	p := (&speaker{s: serve(t, dir, nil)}).greet()
	h := &hostAtGate{t: t, dir: dir}
	received := make(chan object, 10)
	h.send = func(m object) {
		if m["method"] != "tools/call" {
			_ = p.post(m).Body.Close()
			return
		}
		go func() {
			res := p.post(m)
			defer func() { _ = res.Body.Close() }()
			next := messages(res)
			for {
				m, err := next()
				if errors.Is(err, io.EOF) {
					return
				}
				if m["id"] != nil || m["method"] == "notifications/cancelled" {
					received <- m
				}
			}
		}()
	}
	h.receive = func() object {
		select {
		case m := <-received:
			return m
		case <-time.After(30 * time.Second):
			t.Fatal("nothing came")
			return nil
		}
	}
	return h
}

// TestFormLife ends an open form in each way in which no person has answered it. Whatever comes afterwards, the
// form decides nothing, the word of the call does not either, and the next call asks again.
func TestFormLife(t *testing.T) {
	t.Parallel()
	yes := object{"action": "accept", "content": object{"decision": "approve"}}
	cancelled := func(h *hostAtGate, _ object) {
		h.send(object{"method": "notifications/cancelled", "params": object{"requestId": 100 + h.calls, "reason": "Request timed out"}})
	}
	for name, end := range map[string]func(h *hostAtGate, form object){
		"the call is cancelled": cancelled,
		"the call is cancelled, and the form has failed": func(h *hostAtGate, form object) {
			cancelled(h, form)
			h.send(object{"id": form["id"], "error": object{"code": -32001, "message": "Request timed out"}})
		},
		"the form fails": func(h *hostAtGate, form object) {
			h.send(object{"id": form["id"], "error": object{"code": -32001, "message": "Request timed out"}})
		},
		"the form is closed": func(h *hostAtGate, form object) {
			h.send(object{"id": form["id"], "result": object{"action": "cancel"}})
		},
		"the form is declined": func(h *hostAtGate, form object) {
			h.send(object{"id": form["id"], "result": object{"action": "decline"}})
		},
	} {
		for transport, start := range map[string]func(*testing.T) *hostAtGate{"stdio": stdioHost, "http": httpHost} {
			t.Run(name+", "+transport, func(t *testing.T) {
				t.Parallel()
				h := start(t)
				form := h.confirm()
				time.Sleep(person)
				end(h, form)
				for m := h.receive(); m["id"] == nil || m["id"] == form["id"]; m = h.receive() { // a form that is withdrawn may be named
					if params, _ := m["params"].(object); params["requestId"] != form["id"] {
						t.Fatalf("%v", m)
					}
				}
				h.send(object{"id": form["id"], "result": yes}) // too late
				again := h.confirm()
				if session := sessionFile(t, h.dir); !strings.Contains(session, `"awaiting_confirmation"`) || again["id"] == form["id"] {
					t.Errorf("the late answer decided: %v", again)
				}
				time.Sleep(person)
				h.send(object{"id": again["id"], "result": yes})
				if reply := replyIn(h.receive()); reply["stage"] != "architect" {
					t.Errorf("the second form decides nothing: %v", reply)
				}
			})
		}
	}
}

// TestFormIsWithdrawn once another face has decided: the host is told, and the call returns with what is next.
func TestFormIsWithdrawn(t *testing.T) {
	t.Parallel()
	for transport, start := range map[string]func(*testing.T) *hostAtGate{"stdio": stdioHost, "http": httpHost} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			form := h.confirm()
			terminal(t, h.dir, "task", "confirm", "--confirmed")
			withdrawn := h.receive()
			if params, _ := withdrawn["params"].(object); withdrawn["method"] != "notifications/cancelled" || params["requestId"] != form["id"] {
				t.Fatalf("the form stays: %v", withdrawn)
			}
			if reply := replyIn(h.receive()); reply["stage"] != "architect" || reply["error"] != nil {
				t.Errorf("%v", reply)
			}
			before := sessionFile(t, h.dir)
			h.send(object{"id": form["id"], "result": object{"action": "accept", "content": object{"decision": "approve"}}})
			h.send(object{"id": 200, "method": "tools/call", "params": object{"name": "bmad-task", "arguments": object{"action": "status", "cwd": h.dir}}})
			if reply := replyIn(h.receive()); reply["stage"] != "architect" || sessionFile(t, h.dir) != before {
				t.Errorf("the late answer counts: %v", reply)
			}
		})
	}
}

// TestQuickAnswerAfterOne lets nobody decide for a person who has answered a form of the same host, here or in
// another project, whatever the answer was: a form that ends at once, by an accident of the host or of a key, leaves the
// gate as it is.
func TestQuickAnswerAfterOne(t *testing.T) {
	t.Parallel()
	answers := map[string]answerForm{
		"approve": fill(person, "accept", object{"decision": "approve"}), "not now": fill(person, "accept", object{"decision": "not_now"}), "closed": fill(person, "cancel", nil),
	}
	for _, protocol := range protocols {
		for action, after := range map[string]time.Duration{"cancel": 20 * time.Millisecond, "decline": 600 * time.Millisecond, "accept": soon} {
			for name, first := range answers {
				inBubble(t, fmt.Sprintf("%s %s after %s", protocol, action, name), func(t *testing.T) {
					state, quick := t.TempDir(), fill(after, action, object{})
					c := insideServer{project: t.TempDir(), state: state}.connect(t, hostWith(protocol, "7", answerOnce(first, quick)))
					gateOf(t, c)
					reply, _ := call(t, c, object{"action": "confirm", "confirmed": true})
					if reply["stage"] == "architect" {
						call(t, c, object{"action": "submit", "stage": "architect", "claude_result": "# D\nQuality Score: 95"})
					}
					if again, _ := call(t, c, object{"action": "confirm", "confirmed": true}); again["stage"] != reply["stage"] || again["state"] != "awaiting_confirmation" {
						t.Errorf("the word of the assistant decided: %v", again["user_message"])
					}
					other := insideServer{project: t.TempDir(), state: state}.connect(t, hostWith(protocol, "8", quick))
					gateOf(t, other)
					if reply, _ := call(t, other, object{"action": "confirm", "confirmed": true}); reply["stage"] != "po" || reply["state"] != "awaiting_confirmation" {
						t.Errorf("another process: %v", reply["user_message"])
					}
				})
			}
		}
	}
}

// answerOnce answers the first form in one way, and all others in another.
func answerOnce(first, others answerForm) answerForm {
	var asked atomic.Bool
	return func(ctx context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
		if asked.CompareAndSwap(false, true) {
			return first(ctx, f)
		}
		return others(ctx, f)
	}
}

func hostWith(protocol, version string, form answerForm) mcpserver.Launch {
	return mcpserver.Launch{Protocol: protocol, Form: form, Name: "host", Version: version}
}
