package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain removes the emphasis of Markdown for chat windows.
func Plain(markdown string) string {
	return strings.NewReplacer("**", "", " _(", " (", ")_", ")").Replace(markdown)
}

// ShellWord quotes a text for a shell if it needs that, for example one with a space.
func ShellWord(text string) string {
	if text != "" && strings.IndexFunc(text, func(r rune) bool {
		plain := r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		return !plain && !strings.ContainsRune("-_./:", r)
	}) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// JoinWords puts commas between words.
func JoinWords(words []string) string { return strings.Join(words, ", ") }

// OneLine puts a text into one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Indent puts two spaces before each line.
func Indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
