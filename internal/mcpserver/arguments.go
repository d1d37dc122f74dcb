package mcpserver

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// arguments are those of a tool, as they are read into a T.
type arguments[T any] struct {
	table []argument[T]
	// schema is the one that clients see; a value that came as text is read by it.
	schema func() *shape
	// example is a call of the tool, as JSON.
	example string
	// fits, if not nil, refuses an argument that does not go with those before it in the table.
	fits func(to *T, name string) error
}

// of returns the arguments under a schema.
func (a arguments[T]) of(schema []byte) arguments[T] {
	a.schema = shapeOf(schema)
	return a
}

// argument is one argument of a tool.
type argument[T any] struct {
	name string
	// text is the field of an argument that is a text; read reads any other.
	text func(*T) *string
	read func(to *T, raw json.RawMessage) error
	// missing is the hint to a call without the argument; empty where it may be left out.
	missing lang.Text
	// decides is true where leaving the argument out would be a decision: null is not that.
	decides bool
}

// decode reads the arguments of a call. Each mistake is an error by which a model can correct
// itself; the table's order decides which of several it gets.
func (a arguments[T]) decode(raw []byte) (T, error) {
	var to T
	if err := checkEncoding(raw); err != nil {
		return to, err
	}
	raw = a.schema().unwrap(raw)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil && len(bytes.TrimSpace(raw)) > 0 {
		return to, fault.New(fault.InvalidArgument, "the arguments are %s, not an object", bare(raw)).
			WithHint("call with an object such as %s", a.example)
	}
	names := make([]string, len(a.table))
	for i, known := range a.table {
		names[i] = known.name
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return to, fault.New(fault.InvalidArgument, "unknown argument %q", clip(name)).
				WithHint("the arguments are: %s", strings.Join(names, ", ")).Suggest(name, names)
		}
	}
	for _, known := range a.table {
		value, ok := given[known.name]
		if !ok || string(bytes.TrimSpace(value)) == "null" && !known.decides {
			continue
		}
		if err := known.take(&to, a.schema().Properties[known.name].fit(value)); err != nil {
			return to, err
		}
		if a.fits == nil {
			continue
		}
		if err := a.fits(&to, known.name); err != nil {
			return to, err
		}
	}
	for _, known := range a.table {
		if !known.missing.Empty() && strings.TrimSpace(*known.text(&to)) == "" {
			return to, fault.New(fault.InvalidArgument, "%s is missing", known.name).WithHint("%s", known.missing)
		}
	}
	return to, nil
}

// take reads the value of an argument.
func (a argument[T]) take(to *T, raw json.RawMessage) error {
	read := a.read
	if read == nil {
		read = func(to *T, raw json.RawMessage) error { return textOf(a.text(to), raw) }
	}
	if err := read(to, raw); err != nil {
		return fault.New(fault.InvalidArgument, "%s %w", a.name, err).WithHint("correct the argument and call again")
	}
	return nil
}

func textOf(to *string, raw json.RawMessage) error {
	if json.Unmarshal(raw, to) != nil {
		return lang.Errorf("must be a text, not %s", kind(raw))
	}
	return nil
}

// rawArguments returns the arguments of a call as JSON.
func rawArguments(call mcp.CallToolRequest) []byte {
	if raw, ok := call.GetRawArguments().(json.RawMessage); ok {
		return raw
	}
	data, err := json.Marshal(call.Params.Arguments)
	if err != nil {
		return nil
	}
	return data
}

// kind names a JSON value for a message.
func kind(raw []byte) lang.Text {
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

// bare names a JSON value whose content does not matter.
func bare(raw []byte) lang.Text {
	switch raw = bytes.TrimSpace(raw); {
	case bytes.HasPrefix(raw, []byte("{")):
		return lang.T("an object")
	case bytes.HasPrefix(raw, []byte("[")):
		return lang.T("a list")
	}
	return kind(raw)
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
	high := -1 // where a high half ended, and its low half has to follow
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
