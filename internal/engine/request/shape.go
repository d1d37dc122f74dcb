package request

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Shape is the part of a JSON schema with the types and the needs of a value.
type Shape struct {
	Type       types             `json:"type"`
	Enum       []string          `json:"enum"`
	Properties map[string]*Shape `json:"properties"`
	Items      *Shape            `json:"items"`
	Additional unnamed           `json:"additionalProperties"`
	Required   []string          `json:"required"`
}

// types are the names of one or several types.
type types []string

func (t *types) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// unnamed is the shape of the properties without a name; nil if the schema only allows or
// forbids them.
type unnamed struct{ *Shape }

func (o *unnamed) UnmarshalJSON(raw []byte) error {
	var allowed bool
	if json.Unmarshal(raw, &allowed) == nil {
		return nil
	}
	return json.Unmarshal(raw, &o.Shape)
}

// ShapeOf returns the shape of a schema, which is parsed when it is first needed.
func ShapeOf(schema []byte) func() *Shape {
	return sync.OnceValue(func() *Shape {
		var s Shape
		if err := json.Unmarshal(schema, &s); err != nil {
			panic(err) // it is part of the program
		}
		return &s
	})
}

// convertTexts returns a value with its parts in the types of the shape: hosts and models send objects, lists, numbers
// and truth values as text, and one value as a list. It converts what can mean nothing else; any other value stays as it
// is, and the reader of the argument refuses it.
func (s *Shape) convertTexts(raw json.RawMessage) json.RawMessage {
	if s == nil {
		return raw
	}
	raw = s.Unwrap(raw)
	switch {
	case bytes.HasPrefix(raw, []byte("{")):
		return s.fitObject(raw)
	case bytes.HasPrefix(raw, []byte("[")):
		return s.fitList(raw)
	}
	return raw
}

// maxWraps bounds how often a value is unwrapped.
const maxWraps = 3

// Unwrap returns a value sent as text, or as a list of one, without looking into it.
func (s *Shape) Unwrap(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	for range maxWraps {
		if len(raw) > 0 && len(s.Type) > 0 {
			raw = s.unwrapOnce(raw)
		}
	}
	return raw
}

// mayContain reports whether JSON that begins with a character, inside a text, stands for a value of the shape.
func (s *Shape) mayContain(first byte) bool {
	switch first {
	case '"':
		return true
	case '{':
		return s.hasType("object")
	case '[':
		return s.hasType("array")
	}
	return false
}

func (s *Shape) unwrapOnce(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	text := string(raw) // of a number, or of true or false
	switch isText := raw[0] == '"' && json.Unmarshal(raw, &text) == nil; {
	case raw[0] == '{', raw[0] == 'n', raw[0] == '[' && s.hasType("array"):
		return raw
	case raw[0] == '[':
		switch err := json.Unmarshal(raw, &list); {
		case err == nil && len(list) == 1:
			if inner := s.unwrapOnce(bytes.TrimSpace(list[0])); s.holds(inner[0]) {
				return inner
			}
		case err == nil && len(list) == 0 && s.hasType("object"): // PHP writes an empty object so
			return json.RawMessage("{}")
		}
		return raw
	case isText && s.hasType("string"):
		return s.choose(text, raw)
	}
	if literal := s.literal(strings.TrimSpace(text)); literal != "" {
		return json.RawMessage(literal)
	}
	return raw
}

func (s *Shape) hasType(name string) bool { return slices.Contains(s.Type, name) }

// holds reports whether a value with a first character is of a type of the shape.
func (s *Shape) holds(first byte) bool {
	names := map[byte][]string{'{': {"object"}, '"': {"string"}, 't': {"boolean"}, 'f': {"boolean"}, '[': {}, 'n': {}}
	of, known := names[first]
	if !known {
		of = []string{"integer", "number"}
	}
	return slices.ContainsFunc(of, s.hasType)
}

// choose returns the one of the known values that a text names in another case.
func (s *Shape) choose(text string, raw json.RawMessage) json.RawMessage {
	for _, known := range s.Enum {
		if strings.EqualFold(strings.TrimSpace(text), known) {
			return marshalChanged(raw, known, text != known)
		}
	}
	return raw
}

// truths are the words for true and false. Any other word is refused.
var truths = map[string]string{
	"true": "true", "yes": "true", "y": "true", "on": "true", "1": "true", "是": "true", "是的": "true", "对": "true", "确认": "true", "同意": "true",
	"false": "false", "no": "false", "n": "false", "off": "false", "0": "false", "否": "false", "不": "false", "不是": "false", "不同意": "false", "拒绝": "false",
}

// literal returns the JSON of the value of the shape that a text is for, or "".
func (s *Shape) literal(text string) string {
	switch {
	case text == "":
		return ""
	case json.Valid([]byte(text)) && s.mayContain(text[0]):
		return text
	case s.hasType("boolean"):
		return truths[strings.ToLower(text)]
	case s.hasType("integer"):
		return wholeNumber(text)
	case s.hasType("number") && json.Valid([]byte(text)) && strings.IndexByte("-0123456789", text[0]) >= 0:
		return text
	case s.hasType("array") && s.Items != nil && text[0] != '[':
		return s.Items.listOf(text)
	}
	return ""
}

// listOf returns the list for a text with numbers, or with a single item.
func (s *Shape) listOf(text string) string {
	if s.hasType("string") && !strings.ContainsAny(text, ",;\n，；、") {
		return "[" + string(marshalChanged(nil, text, true)) + "]"
	}
	fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,;，；、", r) })
	for i, field := range fields {
		if fields[i] = wholeNumber(field); fields[i] == "" || !s.hasType("integer") {
			return ""
		}
	}
	return "[" + strings.Join(fields, ",") + "]"
}

// wholeNumber returns the JSON of a whole number, also of 4.0 and +4, or "".
func wholeNumber(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return ""
}

// asText returns a number, true or false as the text that a list or map of texts has in its place.
func (s *Shape) asText(raw json.RawMessage) json.RawMessage {
	if s == nil || !s.hasType("string") || len(raw) == 0 || strings.IndexByte("-0123456789tf", raw[0]) < 0 {
		return raw
	}
	return json.RawMessage(`"` + string(raw) + `"`)
}

func (s *Shape) fitObject(raw json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	free := s.Properties == nil && s.Additional.Shape == nil
	if free || json.Unmarshal(raw, &object) != nil {
		return raw
	}
	changed := false
	for name, value := range object {
		of, named := s.Properties[name]
		if !named {
			of = s.Additional.Shape
		}
		fitted := of.convertTexts(value)
		if !named {
			fitted = of.asText(fitted)
		}
		changed = changed || !bytes.Equal(fitted, bytes.TrimSpace(value))
		object[name] = fitted
	}
	return marshalChanged(raw, object, changed)
}

func (s *Shape) fitList(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if s.Items == nil || json.Unmarshal(raw, &list) != nil {
		return raw
	}
	changed := false
	for i, value := range list {
		fitted := s.Items.asText(s.Items.convertTexts(value))
		changed = changed || !bytes.Equal(fitted, bytes.TrimSpace(value))
		list[i] = fitted
	}
	return marshalChanged(raw, list, changed)
}

// marshalChanged returns the JSON of a value, or raw as it came if nothing in it was changed.
func marshalChanged(raw json.RawMessage, value any, changed bool) json.RawMessage {
	if !changed {
		return raw
	}
	data, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return data
}
