package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// visible writes text so that nothing in it can steer a terminal: control characters and
// those that turn the direction of writing stand as escapes. Everything that a person
// decides by is printed through it, and much of that a model or a repository has written.
type visible struct{ w io.Writer }

// Write implements io.Writer.
func (v visible) Write(p []byte) (int, error) {
	text := string(p)
	if strings.IndexFunc(text, steers) < 0 {
		return v.w.Write(p)
	}
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	if _, err := io.WriteString(v.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// steers reports whether a character does something to a terminal besides being shown.
func steers(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}
