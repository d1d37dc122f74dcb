package verify

import "strings"

// Canonical returns a command as it is compared. The shell reads blanks between words the
// same however many there are, so that runs of them become one; but only in a command of
// plain words. Where anything could make a blank count (quotes, escapes, expansions,
// comments, several lines), the command stays as it is: a difference too many costs a
// question, one too few runs what nobody has seen.
func Canonical(command string) string {
	if !foldsBlanks || strings.ContainsAny(command, "'\"\\$`#\n\r\v\f*?[]{}()<>=~!%^") {
		return command
	}
	words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' || r == '\t' })
	return strings.Join(words, " ")
}

// Same reports whether a shell reads two commands the same, as far as Canonical can tell.
func Same(a, b string) bool { return Canonical(a) == Canonical(b) }
