package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxDepth is how deep a session file is looked into for a mistake; ours is 5 deep.
const maxDepth = 20

// misfit is a value of a session file that does not fit where it stands.
type misfit struct {
	offset int64
	path   string
	err    error
}

// findMisfit returns the first value of a well-formed JSON text that keeps it from
// being a session; nil if each fits by itself. It reads each value alone, in a text
// of nothing but the keys that lead to it: the decoder's own offsets are
// counted from the start of some inner value.
func findMisfit(data []byte) *misfit {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var walk func(before, after, path string, depth int) *misfit
	walk = func(before, after, path string, depth int) *misfit {
		start := dec.InputOffset()
		for start < int64(len(data)) && strings.ContainsRune(" \t\r\n:,", rune(data[start])) {
			start++
		}
		try := func(value string) *misfit {
			var s workflow.Session
			if err := json.Unmarshal([]byte(before+value+after), &s); err != nil {
				return &misfit{start, path, err}
			}
			return nil
		}
		if depth > maxDepth {
			var raw json.RawMessage
			if dec.Decode(&raw) != nil {
				return nil
			}
			return try(string(raw))
		}
		token, err := dec.Token()
		if err != nil {
			return nil
		}
		switch token {
		case json.Delim('{'):
			if m := try("{}"); m != nil {
				return m
			}
			for dec.More() {
				key, err := dec.Token()
				if err != nil {
					return nil
				}
				quoted, _ := json.Marshal(key) // a string
				if m := walk(before+"{"+string(quoted)+":", "}"+after, strings.TrimPrefix(fmt.Sprint(path, ".", key), "."), depth+1); m != nil {
					return m
				}
			}
		case json.Delim('['):
			if m := try("[]"); m != nil {
				return m
			}
			for n := 0; dec.More(); n++ {
				if m := walk(before+"[", "]"+after, fmt.Sprintf("%s[%d]", path, n), depth+1); m != nil {
					return m
				}
			}
		default:
			return try(string(data[start:dec.InputOffset()]))
		}
		_, _ = dec.Token() // the closing bracket
		return nil
	}
	return walk("", "", "", 0)
}

// why says what is wrong with the value.
func (m *misfit) why() string {
	where := "the file"
	if m.path != "" {
		where = fmt.Sprintf("%q", m.path)
	}
	var kind *json.UnmarshalTypeError
	var moment *time.ParseError
	switch {
	case errors.As(m.err, &moment):
		return fmt.Sprintf("%s holds %q, which is no time such as 2026-01-02T15:04:05Z", where, moment.Value)
	case strings.Contains(m.err.Error(), "Time.UnmarshalJSON"):
		return fmt.Sprintf("%s holds what is no time such as \"2026-01-02T15:04:05Z\"", where)
	case errors.As(m.err, &kind):
		return fmt.Sprintf("%s holds %s, where %s is due", where, kind.Value, due(kind.Type))
	}
	return fmt.Sprintf("%s: %v", where, m.err)
}

// due names what a type takes, for people.
func due(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// offsetOf returns where the value of a key of the outermost object begins; 0 if it has no such key.
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

// position turns an offset into line and column, both from 1.
func position(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset, 0), int64(len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
