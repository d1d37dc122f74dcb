package request

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Shape is the part of a JSON schema with the types and the needs of a value.
type Shape struct {
	Type       types             `json:"type"`
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

// convertTexts returns a value with its parts in the types of the shape: some hosts send objects, lists, numbers
// and truth values as text. It converts a text only if it can mean nothing else; any other value stays as it is,
// and the reader of the argument refuses it.
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

// Unwrap returns a value sent as text, without looking into it.
func (s *Shape) Unwrap(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	var text string
	if !bytes.HasPrefix(raw, []byte(`"`)) || s.hasType("string") || json.Unmarshal(raw, &text) != nil || !s.isLiteral(text) {
		return raw
	}
	return bytes.TrimSpace([]byte(text))
}

func (s *Shape) hasType(name string) bool { return slices.Contains(s.Type, name) }

// isLiteral reports whether a text is the JSON of a value of the shape.
func (s *Shape) isLiteral(text string) bool {
	begins := strings.TrimLeft(text, " \t\r\n")
	switch {
	case !json.Valid([]byte(text)):
		return false
	case s.hasType("object") && begins[0] == '{', s.hasType("array") && begins[0] == '[':
		return true
	case s.hasType("boolean") && (text == "true" || text == "false"):
		return true
	case text[0] != '-' && (text[0] < '0' || text[0] > '9'):
		return false
	case s.hasType("number"):
		return true
	}
	return s.hasType("integer") && !strings.ContainsAny(text, ".eE \t\r\n")
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
		fitted := s.Items.convertTexts(value)
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
