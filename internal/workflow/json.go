package workflow

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Extra holds the keys of a stored object that this build does not know, so that a rewrite by an
// older or another program loses nothing. The field has the tag `json:",unknown"`, which
// encoding/json ignores: values of this package are read and written with [Unmarshal] and
// [Marshal].
type Extra map[string]stdjson.RawMessage

// stored is the form of session files: the form of encoding/json without HTML escapes. Errors have
// the position in the text.
var stored = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsonv1.ReportErrorsWithLegacySemantics(false))

// Unmarshal decodes JSON into v and keeps the keys unknown to v. The error is a *json.SemanticError
// or a *jsontext.SyntacticError of github.com/go-json-experiment/json.
func Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v, stored) }

// Marshal returns the compact JSON of v, unknown keys included, which follow the others
// in alphabetical order.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, stored) }

// MarshalIndent is Marshal for people to read: indented, with a newline at the end.
func MarshalIndent(v any) ([]byte, error) {
	data, err := json.Marshal(v, stored, jsontext.WithIndent("  "))
	return append(data, '\n'), err
}

// encodeForHash returns the form of v over which the hash of [Record.Judged] is computed: that of
// encoding/json, for ever.
func encodeForHash(v any) ([]byte, error) { return json.Marshal(v, jsonv1.DefaultOptionsV1()) }

// canonicalJSON returns the JSON of v, unknown keys included, in the form of RFC 8785: sorted keys and no spaces,
// one form of each number and text. Hashes and signatures are over it. It returns nil if v has no such form.
func canonicalJSON(v any, also ...json.Options) []byte {
	data, err := json.Marshal(v, append([]json.Options{stored}, also...)...)
	if err != nil {
		return nil
	}
	text := jsontext.Value(data)
	if text.Canonicalize() != nil {
		return nil
	}
	return text
}
