package request

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Shape is the part of a JSON schema that says of which types a value may be, and what it needs.
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

// fit returns a value of which some parts came as text, as some hosts send them, in the types of
// the shape: an object or a list as its JSON, a number or a truth value as its literal. Only a
// text that can mean nothing else is taken; any other value stays as it is, for its reader to
// refuse.
func (s *Shape) fit(raw json.RawMessage) json.RawMessage {
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

// Unwrap returns the value that came as text, without looking into it.
func (s *Shape) Unwrap(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	var text string
	if !bytes.HasPrefix(raw, []byte(`"`)) || s.is("string") || json.Unmarshal(raw, &text) != nil || !s.literal(text) {
		return raw
	}
	return bytes.TrimSpace([]byte(text))
}

func (s *Shape) is(name string) bool { return slices.Contains(s.Type, name) }

// literal reports whether a text is the JSON of a value of the shape.
func (s *Shape) literal(text string) bool {
	begins := strings.TrimLeft(text, " \t\r\n")
	switch {
	case !json.Valid([]byte(text)):
		return false
	case s.is("object") && begins[0] == '{', s.is("array") && begins[0] == '[':
		return true
	case s.is("boolean") && (text == "true" || text == "false"):
		return true
	case text[0] != '-' && (text[0] < '0' || text[0] > '9'):
		return false
	case s.is("number"):
		return true
	}
	return s.is("integer") && !strings.ContainsAny(text, ".eE \t\r\n")
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
		fitted := of.fit(value)
		changed = changed || !bytes.Equal(fitted, bytes.TrimSpace(value))
		object[name] = fitted
	}
	return rebuilt(raw, object, changed)
}

func (s *Shape) fitList(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if s.Items == nil || json.Unmarshal(raw, &list) != nil {
		return raw
	}
	changed := false
	for i, value := range list {
		fitted := s.Items.fit(value)
		changed = changed || !bytes.Equal(fitted, bytes.TrimSpace(value))
		list[i] = fitted
	}
	return rebuilt(raw, list, changed)
}

// rebuilt returns the JSON of a value, or raw as it came if nothing in it was changed.
func rebuilt(raw json.RawMessage, value any, changed bool) json.RawMessage {
	if !changed {
		return raw
	}
	data, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return data
}
