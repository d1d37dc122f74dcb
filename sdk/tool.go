package sdk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// AnyTool is a tool of the caller's own: a [Tool] or a [RawTool].
type AnyTool interface {
	// rawTool returns the tool without types; the error is a [*ToolError].
	rawTool() (RawTool, error)
}

// Tool is a tool of the caller's own. The JSON Schema of the input follows from In, a struct: fields without
// omitempty are required, the tag jsonschema describes one, and other keys are refused. Unfit input goes back
// to the model, and Run is not called. Out is sent to the model as JSON, a string as it is, both at most
// [vfs.MaxResult] bytes.
type Tool[In, Out any] struct {
	// Name has at most 64 letters, digits, - and _. Description says to the model when to use it.
	Name, Description string
	// Run does the work. The model reads the error.
	Run func(ctx context.Context, in In) (Out, error)
	// Idempotent declares that the tool may be used again if nobody knows whether it has done the work.
	// Otherwise it is used once, and the model is told.
	Idempotent bool
	// Timeout bounds a call: [DefaultToolTimeout] if it is 0. A function that ignores the end of the context
	// goes on, but nobody waits for it.
	Timeout time.Duration
}

// RawTool is a tool of the caller's own without Go types.
type RawTool struct {
	Name, Description string
	// Schema is the JSON Schema of the input, an object; empty for any. Run is called with every
	// object, and has to check it.
	Schema json.RawMessage
	Run    func(ctx context.Context, input json.RawMessage) (string, error)
	// Idempotent and Timeout are as in [Tool].
	Idempotent bool
	Timeout    time.Duration
}

// DefaultToolTimeout bounds a call of a tool of the caller's own.
const DefaultToolTimeout = 2 * time.Minute

// ToolError is a tool unfit to be offered to a model.
type ToolError struct{ Tool, Why string }

// Error names the tool.
func (e *ToolError) Error() string { return fmt.Sprintf("the tool %q: %s", e.Tool, e.Why) }

func (t Tool[In, Out]) rawTool() (RawTool, error) {
	refuse := func(why string) (RawTool, error) { return RawTool{}, &ToolError{t.Name, why} }
	if kind := reflect.TypeFor[In]().Kind(); kind != reflect.Struct {
		return refuse(fmt.Sprintf("its input is a %s; it has to be a struct", kind))
	}
	if t.Run == nil {
		return refuse("Run is missing")
	}
	in, err := schemaOf[In]()
	if err != nil {
		return refuse(err.Error())
	}
	r := RawTool{Name: t.Name, Description: t.Description, Schema: in.text, Idempotent: t.Idempotent, Timeout: t.Timeout}
	r.Run = func(ctx context.Context, input json.RawMessage) (string, error) {
		var value In
		if err := cmp.Or(in.checkValue(input), json.Unmarshal(input, &value)); err != nil {
			return "", fmt.Errorf("the input of %s does not fit its schema: %w", t.Name, err)
		}
		out, err := t.Run(ctx, value)
		if err != nil {
			return "", err
		}
		if text, ok := any(out).(string); ok {
			return text, nil
		}
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(out); err != nil {
			return "", fmt.Errorf("%s has done its work, but its output cannot be written as JSON: %w", t.Name, err)
		}
		return strings.TrimSuffix(text.String(), "\n"), nil
	}
	return r.rawTool()
}

// toolName is the form of names for all providers.
var toolName = pattern.New(`^[a-zA-Z0-9_-]{1,64}$`)

func (r RawTool) rawTool() (RawTool, error) {
	err := r.Check()
	form := map[string]json.RawMessage{"type": json.RawMessage(`"object"`), "properties": json.RawMessage(`{}`)} // OpenAI needs both
	if err == nil && len(r.Schema) > 0 {
		err = json.Unmarshal(r.Schema, &form)
	}
	r.Schema, _ = json.Marshal(form) // it was read just now
	return r, err
}

// Check returns a [*ToolError] if the tool cannot be offered to a model.
func (r RawTool) Check() error {
	var form struct {
		Type string `json:"type"`
	}
	why := ""
	switch {
	case !toolName.MatchString(r.Name):
		why = "a name has 1 to 64 letters, digits, - and _"
	case r.Run == nil:
		why = "Run is missing"
	case len(r.Schema) > 0 && (json.Unmarshal(r.Schema, &form) != nil || form.Type != "object"):
		why = `its schema is not one of type "object"`
	case r.Timeout < 0:
		why = "Timeout is negative"
	default:
		return nil
	}
	return &ToolError{r.Name, why}
}

// use runs the tool, and returns the result for the model. It returns at the end of the context, whatever the
// function does.
func (r RawTool) use(ctx context.Context, input string) (text string, failed bool) {
	if input = strings.TrimSpace(input); input == "" || input == "null" { // some models write these for no input
		input = "{}"
	}
	if !utf8.ValidString(input) || !json.Valid([]byte(input)) || input[0] != '{' {
		return fmt.Sprintf("The input of %s is not a JSON object; its schema is %s", r.Name, vfs.Truncate(string(r.Schema))), true
	}
	limit := cmp.Or(r.Timeout, DefaultToolTimeout)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("it ended without a result")} // for a function that ends the goroutine
		defer func() {
			if cause := recover(); cause != nil {
				o = outcome{err: fmt.Errorf("the tool %s failed by a fault of its own: %v", r.Name, cause)}
			}
			done <- o
		}()
		o.text, o.err = r.Run(limited, json.RawMessage(input))
	}()
	var o outcome
	select {
	case o = <-done:
	case <-limited.Done():
		o.err = limited.Err()
	}
	switch {
	case o.err == nil:
		return vfs.Truncate(o.text), false
	case ctx.Err() == nil && limited.Err() != nil:
		return fmt.Sprintf("The tool %s took longer than %s and was ended. Whether it has done its work is not known.", r.Name, limit), true
	}
	return vfs.Truncate(o.err.Error()), true
}
