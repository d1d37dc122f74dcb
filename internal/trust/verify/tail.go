package verify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// more stands for the output before the tail.
const more = "…"

// tail is a writer and keeps the end of the input.
type tail struct {
	// size bounds the bytes returned by String.
	size int
	// end holds one byte more, which shows whether the rest begins at a line's start.
	end []byte
	// cut is true if something fell out.
	cut bool
}

// Write implements io.Writer. It never fails, since an error would make the command fail.
func (t *tail) Write(p []byte) (int, error) {
	if room := t.size + 1; t.size > 0 {
		over := max(0, len(t.end)+len(p)-room)
		t.cut = t.cut || over > 0
		drop := min(over, len(t.end))
		t.end = append(append(t.end[:0], t.end[drop:]...), p[over-drop:]...)
	}
	return len(p), nil
}

// String returns the end of the output for people and models: valid UTF-8 without control
// characters and escape sequences, from the start of a line if there is one, after a mark if
// there was more.
func (t *tail) String() string {
	if t.size <= 0 {
		return ""
	}
	raw, cut := string(t.end), t.cut
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

// isRest reports whether a rune was decoded from a byte in the middle of a rune.
func isRest(r rune) bool { return r == utf8.RuneError }

// escape matches a terminal's escape sequence, even one cut off: CSI, OSC, the other strings, and the rest.
var escape = pattern.New(`\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*(?:\x1b\\)?|[ -/]*[0-~]?)`)

// Plain returns a text without control sequences for terminals.
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
