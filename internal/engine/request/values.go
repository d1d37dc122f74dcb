package request

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Values are arguments by name, in the types of a schema.
type Values map[string]any

// Text returns the first text of a call among names, or "".
func (v Values) Text(names ...string) string {
	for _, name := range names {
		if text, _ := v[name].(string); text != "" {
			return text
		}
	}
	return ""
}

// Count returns a number, which is 0 if the call has none.
func (v Values) Count(name string) int {
	n, _ := v[name].(int)
	return n
}

// List returns a list of texts.
func (v Values) List(name string) []string {
	list, _ := v[name].([]string)
	return list
}

// ArgumentsOf returns the arguments of a tool with these names, in their order. An argument without a description
// in the schema is a text; most has the greatest value of each number.
func ArgumentsOf(schema []byte, example string, most map[string]int, names ...string) Arguments[Values] {
	shape := ShapeOf(schema)
	out := Arguments[Values]{Schema: shape, Example: example, Missing: lang.T("pass it, such as %s", example)}
	for _, name := range names {
		out.Table = append(out.Table, Argument[Values]{Name: name, Read: func(to *Values, raw json.RawMessage) error {
			value, err := shape().Properties[name].readValue(raw, most[name])
			to.Set(name, value)
			return err
		}})
	}
	return out
}

// Set sets a value.
func (v *Values) Set(name string, value any) {
	if *v == nil {
		*v = Values{}
	}
	(*v)[name] = value
}

// readValue reads a value of the shape.
func (s *Shape) readValue(raw json.RawMessage, most int) (any, error) {
	switch s = cmp.Or(s, &Shape{}); {
	case s.hasType("number"), s.hasType("integer"):
		return readCount(raw, most)
	case s.hasType("array"):
		var list []string
		if json.Unmarshal(raw, &list) != nil {
			return nil, lang.Errorf("must be a list of texts, not %s", kindOf(raw))
		}
		return list, nil
	}
	var text string
	err := ReadText(&text, raw)
	return text, err
}

// readCount reads how many are wanted, at most most.
func readCount(raw json.RawMessage, most int) (int, error) {
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		return 0, lang.Errorf("must be a number, not %s", kindOf(raw))
	}
	if n != math.Trunc(n) || n < 1 || n > float64(most) {
		return 0, lang.Errorf("must be a whole number from 1 to %d, not %v", most, n)
	}
	return int(n), nil
}
