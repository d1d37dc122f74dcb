package process

import (
	"runtime"
	"strings"
)

// foldsBlanks is true if any number of blanks separates words. On Windows cmd hands a command line
// on as it is, and each program takes it apart itself.
const foldsBlanks = runtime.GOOS != "windows"

// Canonical returns the form of a command for comparisons. The number of blanks between words makes no
// difference to a shell, so it is reduced to one, but only in a command of plain words. If a blank could
// matter (quotes, escapes, expansions, comments, several lines), the command stays unchanged: a difference
// too many costs a question, one too few runs a command nobody has seen.
func Canonical(command string) string {
	if !foldsBlanks || strings.ContainsAny(command, "'\"\\$`#\n\r\v\f*?[]{}()<>=~!%^") {
		return command
	}
	words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' || r == '\t' })
	return strings.Join(words, " ")
}

// Same reports whether two commands are the same to a shell, as far as Canonical can tell.
func Same(a, b string) bool { return Canonical(a) == Canonical(b) }
