// Package visible prepares text from a model or a repository for a person who decides by it: no character
// controls the terminal, changes the direction of writing, or stays invisible. A JSON escape replaces such
// a character, so machine-readable output keeps its meaning.
//
//   - [Text] is for prose and documents: lines and emoji stay unchanged.
//   - [Line] is for one line of a form or a list, for example a title or a question.
//   - [Exact] is for commands and other text a person allows or runs: every character is visible.
//   - [NewWriter] applies Text to all output of a program.
package visible

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns text with an escape for each terminal control or invisible character. Line breaks, tabs, the
// wide space of Chinese text, and the selectors and joiners inside an emoji stay.
func Text(text string) string {
	if !Hides(text) {
		return text
	}
	var f filter
	return f.escapeUnseen(text, true)
}

// Line returns text as Text does, in one line: each run of white space becomes one space,
// and is removed at the ends.
func Line(text string) string {
	return Text(strings.Join(strings.FieldsFunc(text, isBreak), " "))
}

// Exact returns text with an escape for each character not visible by itself, including the ones kept by
// Text. Only line breaks and tabs stay.
func Exact(text string) string {
	if !Hides(text) {
		return text
	}
	var b strings.Builder
	for at, r := range text {
		if _, size := utf8.DecodeRuneInString(text[at:]); r == utf8.RuneError && size == 1 {
			r = rune(text[at])
		} else if !isHidden(r) {
			b.WriteRune(r)
			continue
		}
		writeEscape(&b, r)
	}
	return b.String()
}

// Hides reports whether Exact would change the text.
func Hides(text string) bool {
	return !utf8.ValidString(text) || strings.IndexFunc(text, isHidden) >= 0
}

// Steers reports whether a text has control characters or changes the direction of writing,
// which can make it look like another text. Nobody writes them on purpose.
func Steers(text string) bool {
	return !utf8.ValidString(text) || strings.IndexFunc(text, isSteering) >= 0
}

// NewWriter returns a writer that applies Text and passes the result to w. It holds back the start of a
// character until the end has been written.
func NewWriter(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	mu sync.Mutex // a log and a command may write at once
	w  io.Writer
	f  filter
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if out := w.f.escapeUnseen(string(p), false); out != "" {
		if _, err := io.WriteString(w.w, out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// filter finds the characters of a stream to be replaced by Text.
type filter struct {
	// last and before are the two characters before.
	last, before rune
	// held is a part of a character, or of a keycap, in need of more input.
	held string
}

// escapeUnseen returns more of the stream with escapes; end is true at its end.
func (f *filter) escapeUnseen(text string, end bool) string {
	var out strings.Builder
	f.splitStream(text, end, func(part string) { out.WriteString(part) }, func(r rune, _ bool) { writeEscape(&out, r) })
	return out.String()
}

// splitStream calls keep with each unchanged part of the stream, and mark with each character between them, or
// stray byte; end is true at the end of the stream.
func (f *filter) splitStream(text string, end bool, keep func(part string), mark func(r rune, stray bool)) {
	text, f.held = f.held+text, ""
	start, at := 0, 0
	for at < len(text) && (end || !needsMore(text[at:])) {
		r, size := utf8.DecodeRuneInString(text[at:])
		next := at + size
		stray := r == utf8.RuneError && size == 1
		if stray || !f.isShown(r, text[next:]) {
			if start < at {
				keep(text[start:at])
			}
			start = next
			if stray {
				mark(rune(text[at]), true)
			} else {
				mark(r, false)
			}
		}
		f.before, f.last, at = f.last, r, next
	}
	if start < at {
		keep(text[start:at])
	}
	f.held = text[at:]
}

// needsMore reports whether more of the stream could change the form of the next character.
func needsMore(text string) bool {
	if !utf8.FullRuneInString(text) {
		return true
	}
	// A selector after a digit is seen only in a keycap, which ends the emoji.
	rest, ok := strings.CutPrefix(text, "\ufe0f")
	return ok && !utf8.FullRuneInString(rest)
}

// isShown reports whether a character before the rest of the stream stays.
func (f *filter) isShown(r rune, rest string) bool {
	return !isHidden(r) || r == '\u3000' || f.isJoiner(r, rest)
}

// isJoiner reports whether an invisible character is part of the emoji around it.
func (f *filter) isJoiner(r rune, rest string) bool {
	switch r {
	case '\ufe0e', '\ufe0f':
		isKeycap := strings.ContainsRune("0123456789#*", f.last) && strings.HasPrefix(rest, "\u20e3")
		return isKeycap || isSymbol(f.last)
	case '\u200d':
		isStyled := f.last == '\ufe0f' && isSymbol(f.before)
		return isStyled || isSymbol(f.last)
	}
	return false
}

// isSymbol reports whether a character can be an emoji or modifies the colour of one.
func isSymbol(r rune) bool {
	switch {
	case 0x1f3fb <= r && r <= 0x1f3ff, r == '‼', r == '⁉':
		return true
	}
	return unicode.In(r, unicode.So, unicode.Sm) && !isHidden(r)
}

// isSteering reports whether a character has an effect on a terminal besides its shape.
func isSteering(r rune) bool {
	switch {
	case r == '\n', r == '\t', ' ' <= r && r <= '~':
		return false
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// isHidden reports whether a character is invisible or looks like a space.
func isHidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == ' ':
		return false
	case r < utf8.RuneSelf:
		return unicode.IsControl(r)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // of class Cf, but drawn
		return false
	case r == '\u2800', r == '\U0001d159': // symbols without a visible shape
		return true
	}
	return isSteering(r) || unicode.In(r, unicode.Cf, unicode.Zs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// Trim returns a text without the white space around it; "" if no character of it can be seen.
func Trim(text string) string {
	if strings.TrimFunc(text, func(r rune) bool { return isHidden(r) || unicode.IsSpace(r) }) == "" {
		return ""
	}
	return strings.TrimSpace(text)
}

// isBreak reports whether a character is white space folded by Line.
func isBreak(r rune) bool {
	return r == '\n' || r == '\u2028' || r == '\u2029' || unicode.IsSpace(r)
}

// writeEscape writes a character as JSON escapes it.
func writeEscape(b *strings.Builder, r rune) {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// Parts calls keep with each part of a text left unchanged by Text, and mark with the name of each
// character replaced by Text, for example U+202E, or 0xFF for a stray byte.
func Parts(text string, keep func(part string), mark func(name string)) {
	if !Hides(text) {
		keep(text)
		return
	}
	var f filter
	f.splitStream(text, true, keep, func(r rune, stray bool) {
		if stray {
			mark(fmt.Sprintf("0x%02X", r))
		} else {
			mark(fmt.Sprintf("U+%04X", r))
		}
	})
}
