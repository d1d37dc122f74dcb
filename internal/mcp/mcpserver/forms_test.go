package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// No person needs less than soon to read a form and answer it, and person is more than that.
const soon, person = 999 * time.Millisecond, 1100 * time.Millisecond

// fill answers every form the same way after a time.
func fill(after time.Duration, action string, content object) answerForm {
	return func(context.Context, mcpserver.Form) (mcpserver.FormAnswer, error) {
		time.Sleep(after)
		return mcpserver.FormAnswer{Action: action, Content: content}, nil
	}
}

// answerForm answers a form.
type answerForm = func(context.Context, mcpserver.Form) (mcpserver.FormAnswer, error)

// inTwo answers a form for a decision, and the form for its words in the second way.
func inTwo(decision, words answerForm) answerForm {
	return func(ctx context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
		if _, first := f.Schema["properties"].(object)["decision"]; first {
			return decision(ctx, f)
		}
		return words(ctx, f)
	}
}

// launchProgram returns a client of the program.
func launchProgram(t testing.TB, dir string, l mcpserver.Launch) *mcpserver.Client {
	t.Helper()
	l.Command, l.Dir, l.Env = binary, dir, isolatedEnv(t)
	c, err := mcpserver.Connect(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// gateOf takes a new session to its first gate.
func gateOf(t testing.TB, c *mcpserver.Client) object {
	t.Helper()
	call(t, c, object{"action": "start", "objective": "x"})
	reply, refused := call(t, c, object{"action": "submit", "stage": "po", "claude_result": "# D\nQuality Score: 95"})
	if refused || reply["state"] != "awaiting_confirmation" {
		t.Fatalf("no gate: %v", reply)
	}
	return reply
}

// lastEntry returns the newest entry of the only session's history.
func lastEntry(t testing.TB, dir string) object {
	t.Helper()
	history := readStored(t, dir)["history"].([]any)
	return history[len(history)-1].(object)
}

func readStored(t testing.TB, dir string) object {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".bmad-task", "session-*.json"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	var s object
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

var protocols = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// TestDecisionByForm lets every kind of client decide, in every protocol: what opens the
// gate, by which channel, and what leaves it as it is. TestSheetRefuses has the contents that no form offers.
func TestDecisionByForm(t *testing.T) {
	t.Parallel()
	approve, no := object{"decision": "approve"}, fill(person, "accept", object{"decision": "request_changes"})
	tests := []struct {
		name string
		form answerForm
		// said is the word of the call itself.
		said object
		env  []string
		// state is where it leads, channel by which way, with which feedback; without a channel, words
		// are why not. refused is the problem of an answer that no form asks for.
		state, channel, feedback, words, refused string
	}{
		{name: "accepted", form: fill(person, "accept", approve), state: "generating", channel: "elicited"},
		{name: "words after a no", form: inTwo(no, fill(person, "accept", object{"feedback": "shorter"})), said: object{"confirmed": true}, state: "refining", channel: "elicited", feedback: "shorter"},
		{name: "words in one go, as forms once took them", form: fill(person, "accept", object{"decision": "request_changes", "feedback": "shorter"}), said: object{"confirmed": true}, state: "refining", channel: "elicited", feedback: "shorter"},
		{name: "words where none are asked for", form: fill(person, "accept", object{"decision": "approve", "feedback": "ok"}), state: "generating", channel: "elicited"},
		{name: "the words closed", form: inTwo(no, fill(person, "cancel", nil)), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "the form was closed"},
		{name: "the words declined", form: inTwo(no, fill(person, "decline", nil)), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "the form was declined"},
		{name: "the words at once", form: inTwo(no, fill(soon, "accept", object{"feedback": "x"})), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "answered the form by itself"},
		{name: "the words closed at once", form: inTwo(no, fill(soon, "cancel", nil)), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "answered the form by itself"},
		{name: "no words", form: inTwo(no, fill(person, "accept", object{"feedback": " "})), said: object{"confirmed": true}, refused: `the field "feedback" is empty`},
		{name: "not now", form: fill(person, "accept", object{"decision": "not_now"}), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "not now"},
		{name: "declined", form: fill(person, "decline", nil), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "the form was declined"},
		{name: "closed", form: fill(person, "cancel", nil), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "the form was closed"},
		{name: "made up", form: fill(person, "accept", object{"decision": "yes"}), said: object{"confirmed": true}, refused: `"yes" is not a choice of the field "decision"`},
		{name: "at once, decided", form: fill(soon, "accept", approve), state: "awaiting_confirmation", words: "answered the form by itself"},
		{name: "at once, relayed", form: fill(soon, "accept", object{}), said: object{"confirmed": true}, state: "generating", channel: "relayed"},
		{name: "declined at once, relayed", form: fill(soon, "decline", nil), said: object{"confirmed": true}, state: "generating", channel: "relayed"},
		{name: "at once, strict", form: fill(soon, "accept", approve), said: object{"confirmed": true}, env: []string{"BMAD_GATE=strict"}, words: "only the human's own act"},
		{name: "time-out", form: fill(gate.FormTimeout+time.Second, "accept", approve), said: object{"confirmed": true}, state: "awaiting_confirmation", words: "10m"},
		{name: "a no passed on", form: fill(person, "accept", approve), said: object{"confirmed": false, "feedback": "shorter"}, state: "refining", channel: "relayed"},
		{name: "no forms", said: object{"confirmed": true}, state: "generating", channel: "relayed"},
		{name: "no forms, strict", said: object{"confirmed": true}, env: []string{"BMAD_GATE=strict"}, words: "only the human's own act"},
		{name: "relay shows none", form: fill(soon, "decline", nil), said: object{"confirmed": true}, env: []string{"BMAD_GATE=relay"}, state: "generating", channel: "relayed"},
	}
	for _, protocol := range protocols {
		for _, tt := range tests {
			inBubble(t, protocol+" "+tt.name, func(t *testing.T) {
				dir := t.TempDir()
				c := launch(t, dir, mcpserver.Launch{Protocol: protocol, Form: tt.form, Name: "host", Version: "7"}, tt.env...)
				gateOf(t, c)
				args := object{"action": "confirm"}
				for k, v := range tt.said {
					args[k] = v
				}
				before := sessionFile(t, dir)
				reply, refused := call(t, c, args)
				if tt.refused != "" {
					if !refused || reply["code"] != "gate_pending" || !strings.HasSuffix(fmt.Sprint(reply["error"]), "cannot be used: "+tt.refused) || reply["hint"] == nil || sessionFile(t, dir) != before {
						t.Errorf("taken: %v", reply)
					}
					return
				}
				if tt.state == "" {
					if !refused || reply["code"] != "gate_pending" || !strings.Contains(fmt.Sprint(reply["error"]), tt.words) || !strings.Contains(fmt.Sprint(reply["hint"]), "bmad-mcp decide x") {
						t.Fatalf("not refused: %v", reply)
					}
					return
				}
				if refused || reply["state"] != tt.state {
					t.Fatalf("state %v, want %s: %v", reply["state"], tt.state, reply)
				}
				entry := lastEntry(t, dir)
				if tt.channel == "" {
					if entry["event"] != "scored_ready" || !strings.Contains(fmt.Sprint(reply["gate"]), tt.words) || !strings.Contains(fmt.Sprint(reply["user_message"]), "No decision was taken") {
						t.Errorf("%v\n%v\n%v", entry, reply["gate"], reply["user_message"])
					}
					return
				}
				grant := entry["grant"].(object)
				if grant["channel"] != tt.channel || grant["client"] != "host 7" || grant["stage"] != "po" || grant["revision"] != 2.0 || grant["sha256"] != entry["sha256"] || len(fmt.Sprint(grant["sha256"])) != 64 {
					t.Errorf("grant %v", grant)
				}
				if said, _ := grant["feedback"].(string); tt.channel == "elicited" && said != tt.feedback {
					t.Errorf("the grant has the words %q", said)
				}
				took, timed := grant["took_ms"].(float64)
				if by := tt.channel == "elicited"; by != timed || by && took < 1000 {
					t.Errorf("took %v", grant["took_ms"])
				}
				if said := strings.Contains(fmt.Sprint(reply["user_message"]), "Passed on by the assistant"); said != (tt.channel == "relayed") {
					t.Errorf("message %v", reply["user_message"])
				}
			})
		}
	}
}

// TestFormIsTheQuestion checks that if forms are shown, the call is to be made at once and states
// no decision; if the last one was seen by nobody, the human is asked first.
func TestFormIsTheQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := launch(t, t.TempDir(), mcpserver.Launch{Form: fill(soon, "cancel", nil)})
		reply := gateOf(t, c)
		gate, next := reply["gate"].(object), reply["next_call"].(object)
		if gate["ask_by_form"] != true || reply["requires_user_confirmation"] != false || next["confirmed"] != nil || next["action"] != "confirm" {
			t.Errorf("%v %v", gate, next)
		}
		reply, _ = call(t, c, next)
		next = reply["next_call"].(object)
		if reply["state"] != "awaiting_confirmation" || reply["requires_user_confirmation"] != true || next["confirmed"] == nil {
			t.Errorf("after a form that nobody saw: %v", reply)
		}
		if status, _ := call(t, c, object{"action": "status"}); status["gate"].(object)["ask_by_form"] != nil {
			t.Errorf("status still trusts the form: %v", status["gate"])
		}
	})
}

// TestFormShowsWhatIsTrue looks at the form itself.
func TestFormShowsWhatIsTrue(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		inBubble(t, protocol, func(t *testing.T) {
			var seen mcpserver.Form
			dir := t.TempDir()
			c := launch(t, dir, mcpserver.Launch{Protocol: protocol, Form: func(_ context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
				seen = f
				return mcpserver.FormAnswer{Action: "cancel"}, nil
			}})
			gateOf(t, c)
			call(t, c, object{"action": "confirm"})
			for _, want := range []string{fmt.Sprintf("Run “x” · stage 1 of %d, Product Owner", len(workflow.Default().Stages)), "Score 95, form ", "90 needed", "Our check found: ", "Draft: .bmad-task/work/x/po.md (", " bytes)"} {
				if !strings.Contains(seen.Message, want) {
					t.Errorf("no %q in\n%s", want, seen.Message)
				}
			}
			fields := seen.Schema["properties"].(object)
			decision := fields["decision"].(object)
			if fmt.Sprint(seen.Schema["required"]) != "[decision]" || decision["default"] != nil || len(fields) != 1 {
				t.Errorf("schema %v", seen.Schema)
			}
			if titled := decision["oneOf"] != nil; titled != (protocol > "2025-06-18") || titled == (decision["enumNames"] != nil) {
				t.Errorf("decision %v", decision)
			}
		})
	}
}

// TestAnswersByForm checks that questions are put to the person in the call that raised them.
func TestAnswersByForm(t *testing.T) {
	t.Parallel()
	questions := object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# D","quality_score":80,"questions":[{"id":"q1","question":"Who?","context":"decides much"},{"id":"q 2","question":"When?"}]}`}
	for _, protocol := range protocols {
		for _, tt := range []struct {
			name    string
			form    func(context.Context, mcpserver.Form) (mcpserver.FormAnswer, error)
			env     []string
			state   string
			channel string
		}{
			{"filled", fill(person, "accept", object{"answer_01": "us", "answer_02": ""}), nil, "refining", "elicited"},
			{"declined", fill(person, "decline", nil), nil, "clarifying", ""},
			{"empty", fill(person, "accept", object{"answer_01": " "}), nil, "clarifying", ""},
			{"at once", fill(soon, "accept", object{"answer_01": "us"}), nil, "clarifying", ""},
			{"relay asks by no form", fill(person, "accept", object{"answer_01": "us"}), []string{"BMAD_GATE=relay"}, "clarifying", ""},
			{"no forms", nil, nil, "clarifying", ""},
		} {
			inBubble(t, protocol+" "+tt.name, func(t *testing.T) {
				dir := t.TempDir()
				c := launch(t, dir, mcpserver.Launch{Protocol: protocol, Form: tt.form}, tt.env...)
				call(t, c, object{"action": "start", "objective": "x"})
				reply, refused := call(t, c, questions)
				if refused || reply["state"] != tt.state {
					t.Fatalf("%v", reply)
				}
				po := readStored(t, dir)["stages"].(object)["po"].(object)
				if po["iteration"] != 1.0 {
					t.Errorf("the submission was taken %v times", po["iteration"])
				}
				if tt.channel != "" {
					if po["answers"].(object)["q1"] != "us" || po["answer_channels"].(object)["q1"] != tt.channel || po["answers"].(object)["q 2"] != nil || !strings.Contains(fmt.Sprint(reply["user_message"]), "1 answer recorded from the form, in the human's own words, 1 left open") {
						t.Errorf("%v\n%v", po, reply["user_message"])
					}
					// Its submission was answered by this reply alone.
					if gaps := fmt.Sprint(reply["gaps"]); !strings.Contains(gaps, "Functional Requirements") {
						t.Errorf("the assistant is to close the gaps of its draft, and is told %s", gaps)
					}
					return
				}
				// As before: the assistant passes the answers on.
				reply, refused = call(t, c, object{"action": "answer", "answers": object{"q1": "them"}})
				if refused || reply["state"] != "refining" {
					t.Fatalf("%v", reply)
				}
				if po = readStored(t, dir)["stages"].(object)["po"].(object); po["answer_channels"].(object)["q1"] != "relayed" {
					t.Errorf("%v", po["answer_channels"])
				}
			})
		}
	}
}

// TestStrictTakesNoRelayedAnswers, but the person's own by a form.
func TestStrictTakesNoRelayedAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var forms atomic.Int32
		c := launch(t, dir, mcpserver.Launch{Form: func(context.Context, mcpserver.Form) (mcpserver.FormAnswer, error) {
			time.Sleep(person)
			if forms.Add(1) == 1 {
				return mcpserver.FormAnswer{Action: "decline"}, nil
			}
			return mcpserver.FormAnswer{Action: "accept", Content: object{"answer_01": "mine"}}, nil
		}}, "BMAD_GATE=strict")
		call(t, c, object{"action": "start", "objective": "x"})
		call(t, c, object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# D","quality_score":80,"questions":["Who?"]}`})
		reply, refused := call(t, c, object{"action": "answer", "answers": object{"q1": "the model's"}})
		if refused || reply["state"] != "refining" {
			t.Fatalf("%v", reply)
		}
		if po := readStored(t, dir)["stages"].(object)["po"].(object); po["answers"].(object)["q1"] != "mine" {
			t.Errorf("%v", po["answers"])
		}
		none := launch(t, t.TempDir(), mcpserver.Launch{}, "BMAD_GATE=strict")
		call(t, none, object{"action": "start", "objective": "x"})
		call(t, none, object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# D","quality_score":80,"questions":["Who?"]}`})
		if reply, refused := call(t, none, object{"action": "answer", "answers": object{"q1": "a"}}); !refused || reply["code"] != "gate_pending" || !strings.Contains(fmt.Sprint(reply["hint"]), "bmad-mcp decide x") {
			t.Errorf("%v", reply)
		}
	})
}

// TestDraftChangedUnderAnOpenForm: the answer was for another text. The next form names the change,
// and its yes takes it.
func TestDraftChangedUnderAnOpenForm(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		inBubble(t, protocol, func(t *testing.T) {
			dir := t.TempDir()
			var form mcpserver.Form
			c := launch(t, dir, mcpserver.Launch{Protocol: protocol, Form: func(_ context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
				form = f
				if err := os.WriteFile(filepath.Join(dir, ".bmad-task", "work", "x", "po.md"), []byte("# Something else\n"), 0o600); err != nil {
					return mcpserver.FormAnswer{}, err
				}
				time.Sleep(person)
				return mcpserver.FormAnswer{Action: "accept", Content: object{"decision": "approve"}}, nil
			}})
			gateOf(t, c)
			reply, refused := call(t, c, object{"action": "confirm"})
			if refused || !strings.Contains(fmt.Sprint(reply["gate"]), "its draft changed while the form was open") || lastEntry(t, dir)["event"] != "scored_ready" {
				t.Errorf("%v, %v", reply, lastEntry(t, dir))
			}
			reply, refused = call(t, c, object{"action": "confirm", "confirmed": true})
			if refused || reply["state"] != "generating" || lastEntry(t, dir)["event"] != "confirmed" {
				t.Errorf("%v, %v", reply, lastEntry(t, dir))
			}
			if !strings.HasPrefix(form.Message, "Approve with this change? Score 95, form 45, floor 60; 90 needed\n2 lines were changed since it was scored: “# Something else” and 1 more\n") || !strings.Contains(fmt.Sprint(form.Schema), "Approve with this change") {
				t.Errorf("%s\n%v", form.Message, form.Schema)
			}
		})
	}
}

// TestSessionMovedUnderAnOpenForm: another window was faster.
func TestSessionMovedUnderAnOpenForm(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		inBubble(t, protocol, func(t *testing.T) {
			dir := t.TempDir()
			other := launch(t, dir, mcpserver.Launch{})
			c := launch(t, dir, mcpserver.Launch{Protocol: protocol, Form: func(context.Context, mcpserver.Form) (mcpserver.FormAnswer, error) {
				_, _, err := other.Call(context.Background(), mcpserver.TaskTool, object{"action": "confirm", "confirmed": false, "feedback": "no"})
				time.Sleep(person)
				return mcpserver.FormAnswer{Action: "accept", Content: object{"decision": "approve"}}, err
			}})
			gateOf(t, c)
			reply, refused := call(t, c, object{"action": "confirm"})
			if !refused || reply["code"] != "conflict" || reply["current_state"] != "refining" {
				t.Errorf("%v", reply)
			}
		})
	}
}

// TestOpenFormsBlockNobody opens more forms than may be open at once and works beside them.
func TestOpenFormsBlockNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release := make(chan struct{})
	c := launchProgram(t, dir, mcpserver.Launch{Protocol: "2025-11-25", Form: func(ctx context.Context, _ mcpserver.Form) (mcpserver.FormAnswer, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return mcpserver.FormAnswer{Action: "cancel"}, nil
	}})
	const sessions = 12 // more than may hold a form
	replies := make(chan object, sessions)
	for i := range sessions {
		name := fmt.Sprintf("task %d", i)
		reply, _ := call(t, c, object{"action": "start", "objective": name})
		call(t, c, object{"action": "submit", "stage": "po", "session_id": reply["session_id"], "claude_result": "# D\nQuality Score: 95"})
		go func() {
			text, _, err := c.Call(context.Background(), mcpserver.TaskTool, object{"action": "confirm", "session_id": reply["session_id"]})
			var out object
			if err == nil {
				err = json.Unmarshal([]byte(text), &out)
			}
			if err != nil {
				out = object{"error": err.Error()}
			}
			replies <- out
		}()
	}
	// All but those that hold a form are answered while the forms are open.
	for range sessions - 8 {
		if out := <-replies; !strings.Contains(fmt.Sprint(out["gate"]), "too many forms are open at once") {
			t.Fatalf("%v", out)
		}
	}
	if status, refused := call(t, c, object{"action": "status"}); refused || status["sessions"] == nil {
		t.Errorf("%v", status)
	}
	close(release)
	for range 8 {
		if out := <-replies; out["state"] != "awaiting_confirmation" {
			t.Errorf("%v", out)
		}
	}
}

// TestClosedFormIsAskedAgainWhenThePersonSaysSo: their silence is theirs, so neither is the
// assistant told to call again at once, nor does its own yes count.
func TestClosedFormIsAskedAgainWhenThePersonSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := launch(t, t.TempDir(), mcpserver.Launch{Form: fill(person, "decline", nil)})
		gateOf(t, c)
		reply, _ := call(t, c, object{"action": "confirm"})
		gate, next := reply["gate"].(object), reply["next_call"].(object)
		if reply["requires_user_confirmation"] != true || gate["ask_by_form"] != nil || next["confirmed"] != nil || !strings.Contains(fmt.Sprint(reply["user_message"]), "say **decide** when you are ready") {
			t.Errorf("%v %v\n%v", gate, next, reply["user_message"])
		}
	})
}

// TestHostAsksWhereItShowsNoForm checks that the next best channel is offered, not the assistant's
// word.
func TestHostAsksWhereItShowsNoForm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, policy := range []string{"auto", "strict"} {
			c := launch(t, t.TempDir(), mcpserver.Launch{Name: "claude-code", Version: "2.1.329"}, "BMAD_GATE="+policy)
			reply := gateOf(t, c)
			gate, next := reply["gate"].(object), reply["next_call"].(object)
			if gate["ask_by_host"] != true || reply["requires_user_confirmation"] != false || next["tool"] != mcpserver.ConfirmTool || next["action"] != nil {
				t.Fatalf("%s: %v %v", policy, gate, next)
			}
			delete(next, "tool")
			if reply, refused := confirmCall(t, c, next); refused || reply["stage"] != "architect" {
				t.Errorf("%s: next_call is refused: %v", policy, reply)
			}
		}
		none := launch(t, t.TempDir(), mcpserver.Launch{}, "BMAD_GATE=strict")
		reply := gateOf(t, none)
		if next := reply["next_call"].(object); next["action"] != "status" || next["wait"] != 50.0 || !strings.Contains(fmt.Sprint(reply["user_message"]), "bmad-mcp decide x") {
			t.Errorf("strict, with no way here: %v", reply)
		}
	})
}

// TestFormThatEndsInAnErrorLateWasSeen: some hosts tell of a dismissal so.
func TestFormThatEndsInAnErrorLateWasSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := launch(t, dir, mcpserver.Launch{Protocol: "2025-11-25", Form: func(context.Context, mcpserver.Form) (mcpserver.FormAnswer, error) {
			time.Sleep(person)
			return mcpserver.FormAnswer{}, errors.New("dismissed")
		}})
		gateOf(t, c)
		if reply, _ := call(t, c, object{"action": "confirm", "confirmed": true}); reply["state"] != "awaiting_confirmation" {
			t.Errorf("%v", reply)
		}
	})
}

// TestLeavingIsAskedForAsWhatItIs checks that under strict, a form about cancelling says so, and no
// answer to another question is one to it.
func TestLeavingIsAskedForAsWhatItIs(t *testing.T) {
	t.Parallel()
	for _, protocol := range protocols {
		inBubble(t, protocol, func(t *testing.T) {
			dir := t.TempDir()
			var seen mcpserver.Form
			answer := "approve"
			c := launch(t, dir, mcpserver.Launch{Protocol: protocol, Form: func(_ context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
				seen = f
				time.Sleep(person)
				return mcpserver.FormAnswer{Action: "accept", Content: object{"decision": answer}}, nil
			}}, "BMAD_GATE=strict")
			gateOf(t, c)
			cancel := object{"action": "cancel", "feedback": "not needed any more"}
			if reply, refused := call(t, c, cancel); !refused || reply["current_state"] != "awaiting_confirmation" {
				t.Fatalf("approving the document ended the run: %v", reply)
			}
			offered := fmt.Sprint(seen.Schema["properties"].(object)["decision"])
			if !strings.Contains(seen.Message, "Cancel this run? The assistant asks for it\nAssistant: “not needed any more”\n") || strings.Contains(offered, "approve") || !strings.Contains(offered, "cancel") || !strings.Contains(offered, "not_now") {
				t.Errorf("%s\n%s", seen.Message, offered)
			}
			answer = "cancel"
			if reply, _ := call(t, c, cancel); reply["state"] != "cancelled" {
				t.Errorf("%v", reply)
			}
			// The reason is the assistant's, and stands beside the person's grant.
			last := lastEntry(t, dir)
			if grant := last["grant"].(object); grant["channel"] != "elicited" || grant["decision"] != "cancel" || grant["feedback"] != nil || last["feedback"] != "not needed any more" {
				t.Errorf("%v", last)
			}
		})
	}
}
