// Package hook keeps an assistant in Claude Code from deciding at a gate in the very turn in which it handed
// the draft in, unless the person ordered the decision in that turn.
//
// A [Turn] lasts from one prompt of the person to the next. It is kept between events, because Claude Code
// reports each event to a new process. The rules are pure functions over a [Event] and its turn. The server
// holds the gates by itself; this is against assistants that would relay a decision nobody has made.
//
// Claude Code's events are described at https://code.claude.com/docs/en/hooks; the fields used here are as in
// 2.1.329.
package hook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/mention"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Event is an event of Claude Code.
type Event struct {
	SessionID string          `json:"session_id"`
	PromptID  string          `json:"prompt_id"`
	Name      string          `json:"hook_event_name"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	Response  json.RawMessage `json:"tool_response"`
	Prompt    string          `json:"prompt"`
	// Command is the name of the person's slash command.
	Command string `json:"command_name"`
	// Arguments is the person's text behind the command.
	Arguments string `json:"command_args"`
	// Cwd is the working folder of the host.
	Cwd string `json:"cwd"`
	// Program is the path of this program, for the reader of the event: it may have any name.
	Program string `json:"-"`
}

// The names of the events of a turn.
const (
	promptSubmitted = "UserPromptSubmit"
	commandTyped    = "UserPromptExpansion"
	beforeTool      = "PreToolUse"
	afterTool       = "PostToolUse"
)

// Typed returns the decision that the person typed as a command, according to an event: confirm, approve or
// reject; "" for other events. Unlike a prompt, the assistant cannot cause it.
func (e Event) Typed() string {
	command, ours := strings.CutPrefix(e.Command, "bmad:")
	if e.Name != commandTyped || !ours || !slices.Contains([]string{"confirm", "approve", "reject"}, command) {
		return ""
	}
	return command
}

// Turn is the state of the present turn.
type Turn struct {
	// Prompt is the turn's id.
	Prompt string `json:"prompt"`
	// Said is true if the person's prompt orders a decision, Chosen if an answer of theirs within the turn
	// does. Each opens one gate, and an answer only counts for the draft of that time. Always is true if the
	// prompt orders decisions on everything.
	Said   bool `json:"said,omitempty"`
	Chosen bool `json:"chosen,omitempty"`
	Always bool `json:"always,omitempty"`
	// Submitted is true if a document was handed in within the turn, AsksThem if the
	// server then asked for the call by which their host asks the person.
	Submitted bool `json:"submitted,omitempty"`
	AsksThem  bool `json:"asks_them,omitempty"`
}

// After returns the turn after an event. Nothing of an earlier turn remains.
func (t Turn) After(e Event) Turn {
	if e.PromptID != t.Prompt || e.Name == promptSubmitted { // each prompt begins a turn
		t = Turn{Prompt: e.PromptID}
	}
	switch {
	case e.Name == promptSubmitted:
		t.Said, t.Always = saysTo(e.Prompt)
	case e.Name == commandTyped:
		t.Said = t.Said || e.Typed() == "confirm" || e.Typed() == "approve"
	case e.Name == afterTool && e.Tool == "AskUserQuestion":
		t.Chosen = t.Chosen || choosesTo(e.Response)
	case e.Name == afterTool && mention.IsShell(e.Tool):
		command := mention.Command(e.Input)
		if mention.Decides(command, e.Program) {
			t.Said, t.Chosen = false, false
		}
		if mention.Submits(command) {
			t.Submitted, t.Chosen, t.AsksThem = true, false, false
		}
	case e.Name == afterTool && isTask(e.Tool):
		switch q, opens := readCall(e.Input); {
		case isRefusal(e.Response):
		case q.Action == workflow.ActionSubmit:
			t.Submitted, t.Chosen, t.AsksThem = true, false, asksThem(e.Response)
		case opens:
			t.Said, t.Chosen = false, false // a word opens one gate
		}
	}
	return t
}

// Refuse returns the reason why a call must not be made in this turn, or "" if it may.
func (t Turn) Refuse(e Event) string {
	if e.Name == beforeTool && mention.ChangesState(e.Tool, e.Input) {
		return "This would change what bmad-mcp keeps of its runs: only its own calls do that, so that nothing is recorded that did not happen. " +
			"Drafts are edited in " + mention.StateFolder + "/" + mention.WorkFolder + ", and handed in with bmad-task; what else " +
			"is to change in the records, the person can change."
	}
	if e.Name != beforeTool || !t.Submitted || t.Said || t.Chosen || t.Always || e.PromptID != t.Prompt {
		return ""
	}
	command, held := "confirm", ""
	switch {
	case mention.IsShell(e.Tool):
		if !mention.Decides(mention.Command(e.Input), e.Program) {
			return ""
		}
		held = " The command names bmad-mcp and a decision. Without the two it may run."
	case isTask(e.Tool):
		q, opens := readCall(e.Input)
		if !opens || !q.Word().Given && t.AsksThem {
			return "" // it decides nothing, or it asks the person
		}
		command = string(q.Action)
	default:
		return ""
	}
	how := "Show the person user_message and the draft, end your turn, and pass on what they say then. They can also type /bmad:" + command + "."
	if t.AsksThem {
		how = "Make next_call of the last reply as it is, without confirmed or approved: the person is asked by their host, and what they choose there counts."
	}
	return "Nobody has decided on this draft yet: it was handed in within this turn, and the person has not said anything about it since." + held + " " + how
}

// readCall reads a call to bmad-task as the server does. opens is true if the call may open a gate,
// which it also does if it leaves the decision out.
func readCall(input json.RawMessage) (q request.Request, opens bool) {
	q, err := request.Parse(input)
	if err != nil { // the server refuses it
		return request.Request{}, false
	}
	return q, q.Decides() && !q.Word().No
}

// isTask reports whether a tool is the workflow's, under whatever name the server has.
func isTask(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") && strings.HasSuffix(tool, "__bmad-task")
}

// taskReply has the important parts of a reply of the tool.
type taskReply struct {
	Status string
	Gate   struct {
		AskByForm bool `json:"ask_by_form"`
		AskByHost bool `json:"ask_by_host"`
	}
}

// anyReply reports whether a response of the tool has a reply of a kind.
func anyReply(response json.RawMessage, is func(taskReply) bool) bool {
	var blocks []struct{ Text string }
	if json.Unmarshal(response, &blocks) != nil {
		return false
	}
	return slices.ContainsFunc(blocks, func(b struct{ Text string }) bool {
		var reply taskReply
		return json.Unmarshal([]byte(b.Text), &reply) == nil && is(reply)
	})
}

// isRefusal reports whether a reply is a refusal.
func isRefusal(response json.RawMessage) bool {
	return anyReply(response, func(r taskReply) bool { return r.Status == "failed" })
}

// asksThem reports whether a reply asks for a call that makes the host ask the person.
func asksThem(response json.RawMessage) bool {
	return anyReply(response, func(r taskReply) bool { return r.Gate.AskByForm || r.Gate.AskByHost })
}

// Answer returns a hook's output for a blocked call.
func Answer(reason string) ([]byte, error) {
	return json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": beforeTool, "permissionDecision": "deny", "permissionDecisionReason": reason,
	}})
}
