package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema is a JSON Schema, ready to check values once it is resolved.
type schema struct {
	text     json.RawMessage
	resolved *jsonschema.Resolved
	// decode, if not nil, reads a value as the Go type, which takes less than the schema: no 2.0 as an int, not
	// every string as a time.
	decode func(value json.RawMessage) error
}

// schemaOf returns the schema of a type. A type within itself has none.
func schemaOf[T any]() (*schema, error) {
	made, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("the type %s has no schema: %w", reflect.TypeFor[T](), err)
	}
	s, err := resolveSchema(made)
	if err == nil {
		s.decode = func(value json.RawMessage) error { return json.Unmarshal(value, new(T)) }
	}
	return s, err
}

// parseSchema reads a schema.
func parseSchema(text json.RawMessage) (*schema, error) {
	var parsed jsonschema.Schema
	if err := json.Unmarshal(text, &parsed); err != nil {
		return nil, err
	}
	return resolveSchema(&parsed)
}

// resolveSchema returns a schema ready for use.
func resolveSchema(parsed *jsonschema.Schema) (*schema, error) {
	text, err := json.Marshal(parsed)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte(`"$ref"`)) || bytes.Contains(text, []byte(`"$dynamicRef"`)) {
		return nil, errors.New("a schema that refers to another, or to itself, is not checked") // it could go on for ever
	}
	resolved, err := parsed.Resolve(nil)
	return &schema{text: text, resolved: resolved}, err
}

// checkValue returns how a value does not fit.
func (s *schema) checkValue(value json.RawMessage) error {
	if !utf8.Valid(value) { // the decoder would replace bytes in silence
		return errors.New("it is not valid UTF-8")
	}
	var decoded any
	if err := json.Unmarshal(value, &decoded); err != nil {
		return err
	}
	if err := s.resolved.Validate(decoded); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "validating root: "))
	}
	if s.decode != nil {
		return s.decode(value)
	}
	return nil
}
