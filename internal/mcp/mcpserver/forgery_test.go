package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// modernCall returns a tools/call of protocol 2026-07-28 with forms, as a program can write it.
func modernCall(id int, args, more object) string {
	params := object{
		"name": mcpserver.TaskTool, "arguments": args,
		"_meta": object{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         object{"name": "forger", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": object{"elicitation": object{}},
		},
	}
	for k, v := range more {
		params[k] = v
	}
	data, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestForgedAnswersDecideNothing answers forms that were never sent, were sent for
// something else, or were answered before.
func TestForgedAnswersDecideNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		send := insideServer{project: dir}.caller(t)
		approve := object{"form": object{"action": "accept", "content": object{"decision": "approve"}}}
		asked := func(result object) string {
			t.Helper()
			if result["resultType"] != "input_required" || len(fmt.Sprint(result["requestState"])) < 20 {
				t.Fatalf("no form: %v", result)
			}
			return result["requestState"].(string)
		}
		pending := func(task string) {
			t.Helper()
			if _, status := send(modernCall(99, object{"action": "status", "session_id": task}, nil)); status["state"] != "awaiting_confirmation" {
				t.Fatalf("%s: the gate opened: %v", task, status)
			}
		}
		for i, name := range []string{"one", "two"} {
			send(modernCall(1+2*i, object{"action": "start", "objective": name}, nil))
			send(modernCall(2+2*i, object{"action": "submit", "stage": "po", "session_id": name, "claude_result": "# D\nQuality Score: 95"}, nil))
		}
		confirm := func(task string) object { return object{"action": "confirm", "session_id": task} }

		// An answer on the first call, with no state and with made-up ones.
		for i, state := range []any{nil, "form-", "form-AAAAAAAAAAAAAAAAAAAAAAAAAA", "roots", strings.Repeat("form-x", 1000)} {
			more := object{"inputResponses": approve}
			if state != nil {
				more["requestState"] = state
			}
			result, _ := send(modernCall(10+i, confirm("one"), more))
			asked(result)
			pending("one")
		}

		// The form of one session for another: it is the form that says what it is about.
		result, _ := send(modernCall(20, confirm("one"), nil))
		state := asked(result)
		time.Sleep(person)
		_, reply := send(modernCall(21, confirm("two"), object{"inputResponses": approve, "requestState": state}))
		pending("two")
		if _, one := send(modernCall(22, object{"action": "status", "session_id": "one"}, nil)); reply["session_id"] != one["session_id"] || reply["stage"] != "architect" {
			t.Errorf("%v", reply)
		}

		// The same answer once more, and after the run has gone on.
		result, _ = send(modernCall(22, confirm("two"), object{"inputResponses": approve, "requestState": state}))
		old := asked(result)
		pending("two")
		_, reply = send(modernCall(23, object{"action": "confirm", "session_id": "two", "confirmed": false, "feedback": "no"}, nil))
		if reply["state"] != "refining" {
			t.Fatalf("%v", reply)
		}
		send(modernCall(24, object{"action": "submit", "stage": "po", "session_id": "two", "claude_result": "# E\nQuality Score: 95"}, nil))
		time.Sleep(person)
		_, reply = send(modernCall(25, confirm("two"), object{"inputResponses": approve, "requestState": old}))
		if reply["code"] != "conflict" {
			t.Errorf("an answer for the draft before: %v", reply)
		}
		pending("two")

		// Answers that are no answers.
		for i, answer := range []any{nil, "yes", 1, []any{}, object{"action": "accept"}, object{"action": "accept", "content": "approve"}, object{"action": 7}, object{"action": "accept", "content": object{"decision": []any{"approve"}}}} {
			result, _ := send(modernCall(30+2*i, confirm("two"), nil))
			state := asked(result)
			time.Sleep(20 * time.Millisecond)
			send(modernCall(31+2*i, confirm("two"), object{"inputResponses": object{"form": answer}, "requestState": state}))
			pending("two")
		}
	})
}

// TestWordsAreForTheirDecision checks that the form that asks for words takes nothing but these,
// once, and for the revision that its decision was for.
func TestWordsAreForTheirDecision(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		caller := insideServer{project: dir}.caller(t)
		id := 0
		send := func(args object, state any, content object) (result, reply object) {
			t.Helper()
			id++
			var more object
			if state != nil {
				more = object{"requestState": state, "inputResponses": object{"form": object{"action": "accept", "content": content}}}
			}
			return caller(modernCall(id, args, more))
		}
		confirm, changes, words := object{"action": "confirm", "confirmed": true}, object{"decision": "request_changes"}, object{"feedback": "shorter"}
		// begun returns the states of forms for words, of which a person has had time to read all.
		begun := func(forms int) []any {
			t.Helper()
			states := make([]any, forms)
			for i := range states {
				result, _ := send(confirm, nil, nil)
				states[i] = result["requestState"]
			}
			time.Sleep(person)
			for i, state := range states {
				result, _ := send(confirm, state, changes)
				if result["resultType"] != "input_required" {
					t.Fatalf("no form for words: %v", result)
				}
				states[i] = result["requestState"]
			}
			return states
		}
		send(object{"action": "start", "objective": "x"}, nil, nil)
		send(object{"action": "submit", "stage": "po", "claude_result": "# D\nQuality Score: 95"}, nil, nil)
		before := sessionFile(t, dir)
		contents := []object{{"decision": "approve"}, {"feedback": "a", "decision": "approve"}, {"feedback": 7}, {"feedback": ""}, {"answer_01": "a"}, nil}
		states := begun(len(contents))
		time.Sleep(person)
		for i, content := range contents {
			result, reply := send(confirm, states[i], content)
			if result["isError"] != true || reply["code"] != "gate_pending" || !strings.Contains(fmt.Sprint(reply["error"]), "cannot be used") {
				t.Errorf("%v: %v", content, reply)
			}
		}
		if _, reply := send(confirm, begun(1)[0], words); reply["state"] != "awaiting_confirmation" {
			t.Errorf("words within a second: %v", reply)
		}
		if sessionFile(t, dir) != before {
			t.Fatal("the run has changed")
		}
		state := begun(1)[0]
		if _, reply := send(object{"action": "confirm", "confirmed": false, "feedback": "no"}, nil, nil); reply["state"] != "refining" {
			t.Fatalf("%v", reply)
		}
		time.Sleep(person)
		if result, reply := send(confirm, state, words); result["isError"] != true || reply["code"] != "conflict" {
			t.Errorf("words for an older revision: %v", reply)
		}
		send(object{"action": "submit", "stage": "po", "claude_result": "# E\nQuality Score: 95"}, nil, nil)
		state = begun(1)[0]
		time.Sleep(person)
		if _, reply := send(confirm, state, words); reply["state"] != "refining" || lastEntry(t, dir)["grant"].(object)["feedback"] != "shorter" {
			t.Errorf("the words: %v", reply)
		}
		before = sessionFile(t, dir)
		if result, reply := send(confirm, state, words); result["isError"] != true || sessionFile(t, dir) != before {
			t.Errorf("the words once more: %v", reply)
		}
	})
}

// TestAnsweredFormAloneDecides checks that a call that brings a person's "no" cannot bring the
// assistant's "yes" beside it, whatever else it says.
func TestAnsweredFormAloneDecides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		send := insideServer{project: dir}.caller(t)
		send(modernCall(1, object{"action": "start", "objective": "x"}, nil))
		send(modernCall(2, object{"action": "submit", "stage": "po", "claude_result": "# D\nQuality Score: 95"}, nil))
		yes := object{"action": "confirm", "confirmed": true}
		declined := object{"form": object{"action": "decline"}}

		result, _ := send(modernCall(3, yes, nil))
		time.Sleep(person)
		without := strings.Replace(modernCall(4, yes, object{"inputResponses": declined, "requestState": result["requestState"]}), `{"elicitation":{}}`, `{}`, 1)
		if _, reply := send(without); reply["state"] != "awaiting_confirmation" {
			t.Errorf("without the capability: %v", reply)
		}
		result, _ = send(modernCall(5, yes, nil))
		time.Sleep(person)
		if _, reply := send(modernCall(6, yes, object{"requestState": result["requestState"]})); reply["state"] != "awaiting_confirmation" {
			t.Errorf("with no answer after human time: %v", reply)
		}

		// Two windows of one host ask at once: either answer counts, once.
		first, _ := send(modernCall(7, object{"action": "confirm"}, nil))
		second, _ := send(modernCall(8, object{"action": "confirm"}, nil))
		time.Sleep(person)
		approve := object{"form": object{"action": "accept", "content": object{"decision": "approve"}}}
		if _, reply := send(modernCall(9, object{"action": "confirm"}, object{"inputResponses": approve, "requestState": first["requestState"]})); reply["stage"] != "architect" {
			t.Errorf("the first: %v", reply)
		}
		if _, reply := send(modernCall(10, object{"action": "confirm"}, object{"inputResponses": approve, "requestState": second["requestState"]})); reply["code"] != "conflict" {
			t.Errorf("the second: %v", reply)
		}
	})
}

// TestRepeatedSubmissionIsNotTakenTwice checks that the call that brought the answers of a form is
// sent once more by a host that lost the reply.
func TestRepeatedSubmissionIsNotTakenTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		send := insideServer{project: dir}.caller(t)
		send(modernCall(1, object{"action": "start", "objective": "x"}, nil))
		submit := object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# D","quality_score":80,"questions":[{"question":"Who?","options":["us","them"]}]}`}
		result, _ := send(modernCall(2, submit, nil))
		time.Sleep(person)
		answered := object{"inputResponses": object{"form": object{"action": "accept", "content": object{"answer_01": "option_01"}}}, "requestState": result["requestState"]}
		for id := 3; id < 5; id++ {
			if _, reply := send(modernCall(id, submit, answered)); reply["state"] != "refining" {
				t.Errorf("call %d: %v", id, reply)
			}
			if _, now := send(modernCall(10+id, object{"action": "status"}, nil)); now["iteration"] != 1.0 {
				t.Errorf("after call %d the submission was taken %v times", id, now["iteration"])
			}
		}
		if history := readStored(t, dir)["history"].([]any); len(history) != 3 {
			t.Errorf("%d entries", len(history))
		}
	})
}
