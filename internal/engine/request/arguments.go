package request

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Arguments describes the arguments of a tool, as they are read into a T.
type Arguments[T any] struct {
	// Table has them in the order in which they are read.
	Table []Argument[T]
	// Schema is the schema for clients: values sent as text are converted by it, and it names the required texts.
	Schema func() *Shape
	// Example is a call of the tool, as JSON.
	Example string
	// Missing is the hint to a call without a required text.
	Missing lang.Text
	// fits, if not nil, refuses an argument in conflict with the earlier ones of the table.
	fits func(to *T, known Argument[T]) error
}

// Argument is one argument of a tool.
type Argument[T any] struct {
	Name string
	Read func(to *T, raw json.RawMessage) error
	// By has the actions with this argument, if not every action of the tool has it.
	By []workflow.Action
	// Decides is true if leaving the argument out would be a decision: null does not leave it out.
	Decides bool
}

// Decode reads the arguments of a call. Each mistake is an error by which a model can correct
// itself; the table's order decides which of several it gets.
func (a Arguments[T]) Decode(raw []byte) (T, error) {
	var to T
	if err := checkEncoding(raw); err != nil {
		return to, err
	}
	raw = a.Schema().Unwrap(raw)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil && len(bytes.TrimSpace(raw)) > 0 {
		return to, fault.New(fault.InvalidArgument, "the arguments are %s, not an object", outerKind(raw)).
			WithHint("call with an object such as %s", a.Example)
	}
	names := make([]string, len(a.Table))
	for i, known := range a.Table {
		names[i] = known.Name
	}
	if err := renameKnown(given, names); err != nil {
		return to, err
	}
	for _, known := range a.Table {
		value, ok := given[known.Name]
		of := a.Schema().Properties[known.Name]
		isOpen := known.Decides && a.mayDecide(given) // an unclear decision must not become a yes
		isLeftOut := !isOpen && isEmpty(value, of)
		if !ok || isLeftOut {
			continue
		}
		if err := known.Read(&to, of.convertTexts(value)); err != nil {
			hint := lang.T("correct the argument and call again")
			if known.Decides {
				hint = lang.T("the decision is your human's: ask them, and pass true or false")
			}
			return to, fault.New(fault.InvalidArgument, "%s %w", known.Name, err).WithHint("%s", hint)
		}
		if a.fits == nil {
			continue
		}
		if err := a.fits(&to, known); err != nil && !isBlank(value) {
			return to, err
		}
	}
	for _, name := range names {
		if slices.Contains(a.Schema().Required, name) && isBlank(given[name]) {
			return to, fault.New(fault.InvalidArgument, "%s is missing", name).WithHint("%s", a.Missing)
		}
	}
	return to, nil
}

// knownAs returns the one of the names that is written in another way, such as sessionId for session_id, or the name.
func knownAs(name string, names []string) string {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
	}
	if i := slices.IndexFunc(names, func(known string) bool { return plain(known) == plain(name) }); i >= 0 {
		return names[i]
	}
	return name
}

// isEmpty reports whether a value stands for an argument that is left out: some hosts send null, or an empty text, for
// each of them.
func isEmpty(value json.RawMessage, of *Shape) bool {
	if string(bytes.TrimSpace(value)) == "null" {
		return true
	}
	isText := of == nil || of.hasType("string")
	return !isText && isBlank(value)
}

// renameKnown gives arguments in another spelling their own names. It refuses an unknown one.
func renameKnown(given map[string]json.RawMessage, names []string) error {
	for name, value := range given {
		if known := knownAs(name, names); known != name && given[known] == nil {
			delete(given, name)
			given[known] = value
			continue
		}
		if !slices.Contains(names, name) {
			return fault.New(fault.InvalidArgument, "unknown argument %q", visible.Fit(name, 2000)).
				WithHint("the arguments are: %s", strings.Join(names, ", ")).Suggest(name, names)
		}
	}
	return nil
}

// mayDecide reports whether a call may be a decision: its action is one, or is not known.
func (a Arguments[T]) mayDecide(given map[string]json.RawMessage) bool {
	var action workflow.Action
	_ = json.Unmarshal(given["action"], &action)
	return !slices.Contains([]workflow.Action{
		workflow.ActionStart, workflow.ActionSubmit, workflow.ActionAnswer, workflow.ActionStatus, workflow.ActionResume, workflow.ActionReopen, workflow.ActionCancel,
	}, action)
}

// isBlank reports whether a value is missing, or a text with nothing in it.
func isBlank(raw json.RawMessage) bool {
	var text string
	return len(raw) == 0 || json.Unmarshal(raw, &text) == nil && strings.TrimSpace(text) == ""
}

// ReadText reads a text.
func ReadText(to *string, raw json.RawMessage) error {
	if json.Unmarshal(raw, to) != nil {
		return lang.Errorf("must be a text, not %s", kindOf(raw))
	}
	return nil
}

// ReadDocument reads a text, or an object or list as JSON text: models leave out the quotation marks.
func ReadDocument(to *string, raw json.RawMessage) error {
	if raw = bytes.TrimSpace(raw); raw[0] != '{' && raw[0] != '[' {
		return ReadText(to, raw)
	}
	*to = string(raw)
	return nil
}

// kindOf names a JSON value for a message.
func kindOf(raw []byte) lang.Text {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return lang.T("nothing")
	}
	switch raw[0] {
	case '"':
		return lang.T("a text")
	case '{':
		return lang.T("an object with other values")
	case '[':
		return lang.T("a list with other values")
	case 't', 'f':
		return lang.T("true or false")
	case 'n':
		return lang.T("%s", "null")
	}
	return lang.T("a number")
}

// outerKind names a JSON value whose content does not matter.
func outerKind(raw []byte) lang.Text {
	switch raw = bytes.TrimSpace(raw); {
	case bytes.HasPrefix(raw, []byte("{")):
		return lang.T("an object")
	case bytes.HasPrefix(raw, []byte("[")):
		return lang.T("a list")
	}
	return kindOf(raw)
}

// checkEncoding refuses invalid UTF-8 and half surrogate pairs: decoding would silently turn both into U+FFFD.
func checkEncoding(raw []byte) error {
	if !utf8.Valid(raw) || halfSurrogate(raw) {
		return fault.New(fault.InvalidArgument, "the arguments are not valid UTF-8").
			WithHint("send the text as UTF-8, or write it to a file in the project and pass its path")
	}
	return nil
}

func halfSurrogate(raw []byte) bool {
	high := -1 // the end of a high half; the low half has to follow
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
