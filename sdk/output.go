package sdk

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// AnyOutput is the type of an answer: an [Output] or a [RawOutput].
type AnyOutput interface {
	form() (*schema, error)
}

// RawOutput is the type of an answer without a Go type: a JSON Schema.
type RawOutput struct{ Schema json.RawMessage }

func (r RawOutput) form() (*schema, error) { return parseSchema(r.Schema) }

// The texts for the model about an output.
const (
	outputText = "Once the work is done, answer with one JSON value and nothing else. It has to be valid by this JSON Schema:\n\n"
	repairText = "Your answer is not the JSON value that was asked for: %v. Answer with that value and nothing else, without explanation."
)

// finishOutput ends a turn with its output, if the caller asked for one. done is false if the model has to
// repair it.
func (t *thread) finishOutput() (done bool, err error) {
	if len(t.state.Schema) == 0 {
		return true, nil
	}
	if t.form == nil || t.form.resolved == nil { // it was begun in another process, which knew the type
		if t.form, err = parseSchema(t.state.Schema); err != nil {
			return true, &StateError{t.state.ID, fmt.Sprintf("its schema cannot be read: %v", err)}
		}
	}
	var text strings.Builder
	for _, b := range t.state.answerBlocks().Blocks {
		if b.Type == provider.Text { // a cut answer goes on in the next block
			text.WriteString(b.Text)
		}
	}
	value := json.RawMessage(trimToJSON(text.String()))
	if err = t.form.checkValue(value); err == nil {
		t.state.Turn.Output = value
		return true, nil
	}
	if t.state.Repairs >= MaxRepairs {
		return true, &OutputError{Text: text.String(), Err: err}
	}
	t.state.Repairs++
	t.publish(Event{Type: EventWarning, Attempt: t.state.Repairs, Text: fmt.Sprintf("the answer does not fit its schema: %v", err)})
	t.state.addUserMessage("", provider.TextBlock(fmt.Sprintf(repairText, err)))
	return false, nil
}

// trimToJSON returns the JSON of an answer: all of it, or the last code block, as many models write one around
// it.
func trimToJSON(text string) string {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return text
	}
	before, found := strings.CutSuffix(text, "```")
	at := strings.LastIndex(before, "```")
	if !found || at < 0 {
		return text
	}
	_, block, _ := strings.Cut(before[at:], "\n")
	return strings.TrimSpace(block)
}
