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

// schema is a JSON Schema that values are checked by once it is resolved.
type schema struct {
	text     json.RawMessage
	resolved *jsonschema.Resolved
	// decode, if not nil, reads a value as the Go type, which takes less than its schema: no 2.0 as an int,
	// not every string as a time.
	decode func(value json.RawMessage) error
}

// schemaOf returns the schema of a type. A type that contains itself has none.
func schemaOf[T any]() (*schema, error) {
	made, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("the type %s has no schema: %w", reflect.TypeFor[T](), err)
	}
	s, err := resolve(made)
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
	return resolve(&parsed)
}

// resolve returns a schema that is ready.
func resolve(parsed *jsonschema.Schema) (*schema, error) {
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

// check returns how a value does not fit.
func (s *schema) check(value json.RawMessage) error {
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
