package verify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// more stands for the output before the tail.
const more = "…"

// tail is a writer that keeps the end of its input, in a ring.
type tail struct {
	// size bounds the bytes that String returns.
	size int
	// ring holds one byte more, which shows whether the rest begins at a line's start. When
	// it is full, at is the position of the oldest byte.
	ring []byte
	at   int
	// cut is true if something fell out.
	cut bool
}

// Write implements io.Writer. It never fails, since that would make the command fail.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if t.size <= 0 {
		return n, nil
	}
	room := t.size + 1
	if t.ring == nil {
		t.ring = make([]byte, 0, room)
	}
	if len(p) >= room {
		t.cut = t.cut || len(p) > room || len(t.ring) > 0
		t.ring, t.at = append(t.ring[:0], p[len(p)-room:]...), 0
		return n, nil
	}
	if free := room - len(t.ring); free > 0 {
		part := p[:min(free, len(p))]
		t.ring, p = append(t.ring, part...), p[len(part):]
	}
	for len(p) > 0 {
		t.cut = true
		done := copy(t.ring[t.at:], p)
		t.at, p = (t.at+done)%room, p[done:]
	}
	return n, nil
}

// String returns the end of the output for people and models: valid UTF-8 without control
// characters and escape sequences, from the start of a line if there is one, after a mark if
// there was more.
func (t *tail) String() string {
	if t.size <= 0 {
		return ""
	}
	raw := string(t.ring[t.at:]) + string(t.ring[:t.at])
	cut := t.cut
	if cut {
		raw = strings.TrimLeftFunc(raw, isRest)
	}
	text := strings.TrimRight(Plain(raw), "\n")
	if len(text) > t.size { // the additional byte, or replacements of invalid ones
		text, cut = strings.TrimLeftFunc(text[len(text)-t.size-1:], isRest), true
	}
	if !cut {
		return text
	}
	if _, lines, ok := strings.Cut(text, "\n"); ok {
		return more + "\n" + lines
	}
	if len(text) > t.size {
		_, first := utf8.DecodeRuneInString(text)
		text = text[first:]
	}
	return more + text
}

// isRest reports whether a rune was decoded from a byte that does not start one.
func isRest(r rune) bool { return r == utf8.RuneError }

// escape matches a terminal's escape sequence, even one that was cut off: CSI, OSC, the
// other strings, and the rest.
var escape = pattern.New(`\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*(?:\x1b\\)?|[ -/]*[0-~]?)`)

// Plain returns a text without its control of a terminal.
func Plain(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = escape.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r': // a progress bar overwrites itself: each state is a line
			return '\n'
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
}
