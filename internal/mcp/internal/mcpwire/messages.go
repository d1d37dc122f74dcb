package mcpwire

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// messages reads what a client sends, message by message. Clients also send byte order marks, UTF-16, blank lines, the
// headers of other protocols, several messages in a line, a message over several lines, and batches.
type messages struct {
	in    *bufio.Reader
	found [][]byte // read, and not returned yet
	end   error
}

func newMessages(in io.Reader) *messages {
	return &messages{in: bufio.NewReader(transform.NewReader(in, unicode.BOMOverride(transform.Nop)))}
}

// next returns the next message in one line. It returns what is not JSON as well, for the library to refuse.
func (r *messages) next() ([]byte, error) {
	for len(r.found) == 0 {
		if r.end != nil {
			return nil, r.end
		}
		r.read()
	}
	message := append(bytes.ReplaceAll(r.found[0], []byte("\n"), []byte(" ")), '\n')
	r.found = r.found[1:]
	return message, nil
}

// maxLine bounds a message, in bytes. The largest submission is far below it.
const maxLine = 64 << 20

// between are the bytes that may stand between messages, the byte order mark and the record separator among them.
const between = " \t\r\n\x00\x1e\xef\xbb\xbf"

// read reads the next object or list, or a line with neither.
func (r *messages) read() {
	var c byte
	for c, r.end = r.in.ReadByte(); r.end == nil && strings.IndexByte(between, c) >= 0; c, r.end = r.in.ReadByte() {
	}
	if r.end != nil {
		return
	}
	_ = r.in.UnreadByte() // never fails behind ReadByte
	if c == '{' || c == '[' {
		r.found = splitBatch(r.readValue())
		return
	}
	var line []byte
	line, r.end = r.in.ReadBytes('\n')
	if name, _, _ := bytes.Cut(line, []byte(":")); !strings.EqualFold(string(name), "content-length") && !strings.EqualFold(string(name), "content-type") {
		r.found = append(r.found, line)
	}
}

// readValue reads up to the bracket that closes the first one. A line that breaks off ends where its text does, or where
// a line begins that is a message by itself, so that a broken message does not take the next one with it.
func (r *messages) readValue() (value, next []byte) {
	var c byte
	depth, start, before := 0, 0, 0 // before is the depth at the start of the line
	inText, escaped := false, false
	for {
		if c, r.end = r.in.ReadByte(); r.end != nil {
			return value, nil
		}
		if value = append(value, c); len(value) > maxLine {
			r.skipLine(c)
			return value[:100], nil // for the library to refuse
		}
		switch {
		case escaped:
			escaped = false
		case c == '"':
			inText = !inText
		case inText && c == '\n':
			return value, nil
		case inText:
			escaped = c == '\\'
		case c == '\n' && value[0] == '[': // a batch has one line, so that an open bracket takes no other message with it
			return value, nil
		case c == '\n':
			if line := value[start:]; start > 0 && depth == before && isMessage(line) {
				return value[:start], line
			}
			start, before = len(value), depth
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return value, nil
			}
		}
	}
}

// skipLine reads to the end of a line whose last character was c.
func (r *messages) skipLine(c byte) {
	for c != '\n' && r.end == nil {
		c, r.end = r.in.ReadByte()
	}
}

// isMessage reports whether a line looks like a message by itself.
func isMessage(line []byte) bool { return line[0] == '{' && bytes.Contains(line, []byte(`"jsonrpc"`)) }

// splitBatch returns the messages of a batch, and of the rest each by itself.
func splitBatch(value, next []byte) (out [][]byte) {
	var list []json.RawMessage
	if value[0] == '[' && json.Unmarshal(value, &list) == nil && len(list) > 0 {
		for _, message := range list {
			out = append(out, message)
		}
		return out
	}
	if out = append(out, value); next != nil {
		out = append(out, next)
	}
	return out
}

// The library reads ids and progress tokens as floating point numbers, and takes the text "5" for the number 5 in a
// cancellation. A value that it would change is replaced by a text made of it, and put back in what is sent.

// kept begins such a text in JSON. It is made for each process, so that a client cannot make one up.
var kept = []byte(`"kept-` + rand.Text() + `-`)

// references are the values by which a message names a message.
type references struct {
	RequestID json.RawMessage `json:"requestId"`
	Meta      struct {
		ProgressToken json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
	// isList is true for an empty list, as which PHP writes an empty object.
	isList bool
}

// UnmarshalJSON never fails: params of another form have none.
func (r *references) UnmarshalJSON(raw []byte) error {
	type plain references
	r.isList = string(raw) == "[]"
	if bytes.Contains(raw, []byte(`"requestId"`)) || bytes.Contains(raw, []byte(`"progressToken"`)) {
		_ = json.Unmarshal(raw, (*plain)(r))
	}
	return nil
}

// keepValues replaces the values in a message that the library would change.
func keepValues(line []byte, m *message) []byte {
	isKept := m.Params.isList || isChanged(m.ID) || isChanged(m.Params.RequestID) || isChanged(m.Params.Meta.ProgressToken)
	if m.Method == "" || !isKept {
		return line
	}
	m.ID = keep(m.ID)
	set := func(object any, name string, raw json.RawMessage) {
		if fields, ok := object.(map[string]any); ok && raw != nil {
			fields[name] = keep(raw)
		}
	}
	return editJSON(line, func(message map[string]any) {
		if m.Params.isList {
			message["params"] = struct{}{}
		}
		set(message, "id", m.ID)
		set(message["params"], "requestId", m.Params.RequestID)
		if params, ok := message["params"].(map[string]any); ok {
			set(params["_meta"], "progressToken", m.Params.Meta.ProgressToken)
		}
	})
}

// isChanged reports whether the library would change a value.
func isChanged(raw json.RawMessage) bool {
	var text string
	if bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &text) == nil {
		_, err := strconv.ParseFloat(text, 64)
		return err == nil
	}
	number, err := strconv.ParseFloat(string(raw), 64)
	if errors.Is(err, strconv.ErrSyntax) { // there is none, or of another type
		return false
	}
	again, err := json.Marshal(number)
	return err != nil || !bytes.Equal(again, raw)
}

func keep(raw json.RawMessage) json.RawMessage {
	if !isChanged(raw) {
		return raw
	}
	return append(hex.AppendEncode(bytes.Clone(kept), raw), '"')
}

// putBack returns a message for the client with the kept values as they came.
func putBack(message []byte) []byte {
	if !bytes.Contains(message, kept) {
		return message
	}
	var out []byte
	for {
		before, rest, found := bytes.Cut(message, kept)
		if out = append(out, before...); !found {
			return out
		}
		value, after, _ := bytes.Cut(rest, []byte(`"`))
		out, _ = hex.AppendDecode(out, value) // it was encoded here
		message = after
	}
}
