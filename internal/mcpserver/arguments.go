package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// argument is one argument of bmad-task: how it is read, and which actions take it.
type argument struct {
	name    string
	actions []workflow.Action // nil: all
	read    func(q *engine.Request, raw json.RawMessage) error
}

var leaving = []workflow.Action{workflow.ActionConfirm, workflow.ActionApprove, workflow.ActionReopen, workflow.ActionCancel}

var taskArguments = []argument{
	{"action", nil, text(func(q *engine.Request) *string { return (*string)(&q.Action) })},
	{"session_id", nil, text(func(q *engine.Request) *string { return &q.SessionID })},
	{"objective", []workflow.Action{workflow.ActionStart}, text(func(q *engine.Request) *string { return &q.Objective })},
	{"workflow", []workflow.Action{workflow.ActionStart}, text(func(q *engine.Request) *string { return &q.Workflow })},
	{"task_name", []workflow.Action{workflow.ActionStart}, text(func(q *engine.Request) *string { return &q.TaskName })},
	{"cwd", nil, text(func(q *engine.Request) *string { return &q.Cwd })},
	{"stage", nil, text(func(q *engine.Request) *string { return &q.Stage })},
	{"claude_result", submits, result(workflow.Claude, func(r *engine.Result) *string { return &r.Text })},
	{"codex_result", submits, result(workflow.Codex, func(r *engine.Result) *string { return &r.Text })},
	{"claude_result_path", submits, result(workflow.Claude, func(r *engine.Result) *string { return &r.Path })},
	{"codex_result_path", submits, result(workflow.Codex, func(r *engine.Result) *string { return &r.Path })},
	{"sprints", submits, readSprints},
	{"answers", []workflow.Action{workflow.ActionAnswer}, readAnswers},
	{"confirmed", []workflow.Action{workflow.ActionConfirm}, truth(func(q *engine.Request) **bool { return &q.Confirmed })},
	{"approved", []workflow.Action{workflow.ActionApprove}, truth(func(q *engine.Request) **bool { return &q.Approved })},
	{"feedback", leaving, text(func(q *engine.Request) *string { return &q.Feedback })},
	{"view", []workflow.Action{workflow.ActionStatus}, text(func(q *engine.Request) *string { return &q.View })},
	{"revision", changes, readRevision},
}

var changes = append([]workflow.Action{workflow.ActionSubmit, workflow.ActionAnswer}, leaving...)

var submits = []workflow.Action{workflow.ActionSubmit}

// decodeTask reads the arguments of a call. Each mistake is an error that a
// model can correct itself from.
func decodeTask(raw []byte) (engine.Request, error) {
	var q engine.Request
	if err := checkEncoding(raw); err != nil {
		return q, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil && len(bytes.TrimSpace(raw)) > 0 {
		return q, fault.New(fault.InvalidArgument, "the arguments are %s, not an object", strings.TrimSuffix(kind(raw), " with other values")).
			WithHint(`call with an object such as {"action": "status"}`)
	}
	names := make([]string, len(taskArguments))
	for i, a := range taskArguments {
		names[i] = a.name
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return q, fault.New(fault.InvalidArgument, "unknown argument %q", name).
				WithHint("the arguments are: %s", strings.Join(names, ", "))
		}
	}
	// In a fixed order, so that the same mistake gives the same message.
	for _, a := range taskArguments {
		value, ok := given[a.name]
		// null counts as left out, but not where leaving out would be a decision.
		if !ok || string(bytes.TrimSpace(value)) == "null" && a.name != "confirmed" && a.name != "approved" {
			continue
		}
		if err := a.read(&q, value); err != nil {
			return q, fault.New(fault.InvalidArgument, "%s %w", a.name, err).WithHint("correct the argument and call again")
		}
		if q.Action == "confirm_save" {
			q.Action = workflow.ActionConfirm
		}
		if a.actions != nil && slices.Contains(workflow.Actions(), q.Action) && !slices.Contains(a.actions, q.Action) {
			return q, misplaced(a, q.Action)
		}
	}
	if q.Action == "" {
		return q, fault.New(fault.InvalidArgument, "action is missing").
			WithHint(`pass one of: start, submit, answer, confirm, approve, status, resume, reopen, cancel`)
	}
	return q, nil
}

func misplaced(a argument, action workflow.Action) error {
	var taken []string
	for _, other := range taskArguments {
		if other.name != "action" && (other.actions == nil || slices.Contains(other.actions, action)) {
			taken = append(taken, other.name)
		}
	}
	return fault.New(fault.InvalidArgument, "%s does not take %s", action, a.name).
		WithHint("%s takes: %s", action, strings.Join(taken, ", "))
}

func text(field func(*engine.Request) *string) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil {
			return fmt.Errorf("must be a text, not %s", kind(raw))
		}
		return nil
	}
}

func result(e workflow.Engine, field func(*engine.Result) *string) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		i := slices.IndexFunc(q.Results, func(r engine.Result) bool { return r.Engine == e })
		if i < 0 {
			q.Results = append(q.Results, engine.Result{Engine: e})
			i = len(q.Results) - 1
		}
		if json.Unmarshal(raw, field(&q.Results[i])) != nil {
			return fmt.Errorf("must be a text, not %s; a JSON document goes in as one text", kind(raw))
		}
		return nil
	}
}

func truth(field func(*engine.Request) **bool) func(*engine.Request, json.RawMessage) error {
	return func(q *engine.Request, raw json.RawMessage) error {
		if json.Unmarshal(raw, field(q)) != nil || *field(q) == nil {
			return fmt.Errorf("must be true or false, not %s", kind(raw))
		}
		return nil
	}
}

func readRevision(q *engine.Request, raw json.RawMessage) error {
	if json.Unmarshal(raw, &q.Revision) != nil {
		return fmt.Errorf("must be a whole number such as 4, not %.40s", raw)
	}
	return nil
}

func readSprints(q *engine.Request, raw json.RawMessage) error {
	if json.Unmarshal(raw, &q.Sprints) != nil {
		return fmt.Errorf("must be a list of whole numbers such as [1, 2], not %s", kind(raw))
	}
	return nil
}

func readAnswers(q *engine.Request, raw json.RawMessage) error {
	if json.Unmarshal(raw, &q.Answers) != nil {
		return fmt.Errorf(`must be an object of question id and text such as {"q1": "…"}, not %s`, kind(raw))
	}
	return nil
}

// kind names a JSON value for a message.
func kind(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a text"
	case '{':
		return "an object with other values"
	case '[':
		return "a list with other values"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// checkEncoding refuses bytes that are not UTF-8 and half surrogate pairs, both
// of which decoding would silently turn into U+FFFD.
func checkEncoding(raw []byte) error {
	if !utf8.Valid(raw) || halfSurrogate(raw) {
		return fault.New(fault.InvalidArgument, "the arguments are not valid UTF-8").
			WithHint("send the text as UTF-8, or write it to a file in the project and pass its path")
	}
	return nil
}

func halfSurrogate(raw []byte) bool {
	high := -1 // where a high half ended, so that its low half is due there
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			if high == i {
				return true
			}
			continue
		}
		unit := uint64(0)
		if raw[i+1] == 'u' && i+6 <= len(raw) {
			unit, _ = strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
		}
		low := unit >= 0xDC00 && unit <= 0xDFFF
		if low != (high == i) {
			return true
		}
		switch {
		case unit >= 0xD800 && unit <= 0xDBFF:
			i += 5
			high = i + 1
		case raw[i+1] == 'u':
			i += 5
		default:
			i++
		}
	}
	return high >= 0 && high >= len(raw)-1
}
