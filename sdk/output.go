package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// AnyOutput is the type of an answer: an [Output].
type AnyOutput interface {
	schema() (json.RawMessage, error)
}

// Output has the model answer with a value of T, as JSON. The schema follows from T as that of a
// [Tool]'s input does.
type Output[T any] struct{}

func (Output[T]) schema() (json.RawMessage, error) {
	s, err := schemaOf[T]()
	if err != nil {
		return nil, fmt.Errorf("the type of the output has no schema: %w", err)
	}
	return s.text, nil
}

// Ask is [Conversation.Ask] for one answer of type T. The value is valid if the error is nil; an answer
// that does not fit is an [*OutputError].
func (o Output[T]) Ask(ctx context.Context, c *Conversation, text string) (value T, turn *Turn, err error) {
	schema, err := o.schema()
	if err != nil {
		return value, nil, err
	}
	if turn, err = c.ask(ctx, text, schema); err != nil {
		return value, turn, err
	}
	value, err = o.Decode(turn.Output)
	return value, turn, err
}

// Decode returns the value of [Turn.Output] or [Result.Output].
func (Output[T]) Decode(output json.RawMessage) (value T, err error) {
	if len(output) == 0 {
		return value, errors.New("there is no output: the turn is not over, or was asked for text")
	}
	err = json.Unmarshal(output, &value)
	return value, err
}

// outputSchema returns the schema of an output; nil if there is none.
func outputSchema(o AnyOutput) (json.RawMessage, error) {
	if o == nil {
		return nil, nil
	}
	return o.schema()
}

// maxRepairs is how often an answer that does not fit goes back to the model.
const maxRepairs = 2

// The texts that ask for an output.
const (
	outputText = "Once the work is done, answer with one JSON value and nothing else. It has to be valid by this JSON Schema:\n\n"
	repairText = "Your answer is not the JSON value that was asked for: %v. Answer with that value and nothing else, without explanation."
)

// deliver ends a turn with its output, if one was asked for. done is false if the model has to repair it.
func (t *thread) deliver() (done bool, err error) {
	if len(t.Schema) == 0 {
		return true, nil
	}
	schema, err := parseSchema(t.Schema)
	if err != nil {
		return true, &StateError{t.ID, fmt.Sprintf("its schema cannot be read: %v", err)}
	}
	var text strings.Builder
	for _, b := range t.spoken().Blocks {
		if b.Type == provider.Text { // an answer that was cut goes on in the next block
			text.WriteString(b.Text)
		}
	}
	value := json.RawMessage(trimToJSON(text.String()))
	if err = schema.check(value); err == nil {
		t.Turn.Output = value
		return true, nil
	}
	if t.Repairs >= maxRepairs {
		return true, &OutputError{Text: text.String(), Err: err}
	}
	t.Repairs++
	t.publish(Event{Type: EventWarning, Text: fmt.Sprintf("the answer does not fit its schema: %v", err)})
	t.say("", provider.TextBlock(fmt.Sprintf(repairText, err)))
	return false, nil
}

// trimToJSON returns the JSON of an answer: all of it, or its last code block, as many models write one
// around it.
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
