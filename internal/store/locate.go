package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// faultIn returns the place at which a text is not a session, and the reason. A mistake in the JSON counts before
// a value of the wrong type, wherever it is.
func faultIn(data []byte, err error) (offset int64, problem lang.Text) {
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
		return syntax.Offset - 1, lang.Of(syntax)
	}
	var misfit *jsonv2.SemanticError
	if !errors.As(err, &misfit) {
		return 0, lang.Of(err)
	}
	found := kindName[misfit.JSONKind]
	var moment *time.ParseError
	switch {
	case errors.As(err, &moment):
		found = lang.T("%q", moment.Value)
	case misfit.JSONKind == '0' && misfit.JSONValue != nil: // for example 1.5 for a whole number
		found = lang.T("%s", misfit.JSONValue)
	}
	return misfit.ByteOffset, lang.T("%s holds %s, want %s", keyPath(misfit.JSONPointer), found, typeName(misfit.GoType))
}

// keyPath names a value for people: "stages.po.status", "history[1].at".
func keyPath(pointer jsontext.Pointer) lang.Text {
	var b strings.Builder
	for token := range pointer.Tokens() {
		_, err := strconv.Atoi(token)
		switch {
		case err == nil:
			fmt.Fprintf(&b, "[%s]", token)
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	if b.Len() == 0 {
		return lang.T("the file")
	}
	return lang.T("%q", b.String())
}

// kindName names the kinds of JSON values, for people.
var kindName = map[jsontext.Kind]lang.Text{
	'n': lang.T("%s", "null"), 't': lang.T("%s", "true"), 'f': lang.T("%s", "false"),
	'"': lang.T("a text"), '0': lang.T("a number"), '{': lang.T("an object"), '[': lang.T("a list"),
}

// typeName returns the name of a type's values for people, for example "a list".
func typeName(t reflect.Type) lang.Text {
	if t == reflect.TypeFor[time.Time]() {
		return lang.T(`a time such as "2026-01-02T15:04:05Z"`)
	}
	switch t.Kind() {
	case reflect.String:
		return lang.T("a text")
	case reflect.Bool:
		return lang.T("true or false")
	case reflect.Int, reflect.Int64:
		return lang.T("a whole number")
	case reflect.Float64:
		return lang.T("a number")
	case reflect.Slice:
		return lang.T("a list")
	}
	return lang.T("an object")
}

// offsetOf returns the offset of the value of a key of the outermost object; 0 without such a key.
func offsetOf(data []byte, key string) int64 {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return 0
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0
		}
		if name == key {
			return dec.InputOffset() + int64(bytes.IndexFunc(data[dec.InputOffset():], func(r rune) bool { return !strings.ContainsRune(" \t\r\n:", r) }))
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return 0
		}
	}
	return 0
}

// lineAndColumn turns an offset into line and column, both from 1.
func lineAndColumn(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset, 0), int64(len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
