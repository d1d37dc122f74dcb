package visible

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Columns returns the width of a text in columns of a terminal: two for each wide character
// of East Asian scripts, none for a mark that combines with the character before it.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += columns(r)
	}
	return n
}

// Cut returns text unchanged if it takes at most n columns, otherwise its beginning followed
// by end, at most n columns together.
func Cut(text string, n int, end string) string {
	if Columns(text) <= n {
		return text
	}
	n -= Columns(end)
	for i, r := range text {
		if n -= columns(r); n < 0 {
			return text[:i] + end
		}
	}
	return text
}

// Clip returns text unchanged if it has at most limit bytes, otherwise its first limit bytes
// followed by an ellipsis.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// Clipped returns text unchanged if it has at most that many characters, otherwise cut to them,
// the last one an ellipsis.
func Clipped(text string, characters int) string {
	if r := []rune(text); len(r) > characters {
		return string(r[:characters-1]) + "…"
	}
	return text
}

func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if r >= 0x1F300 && r <= 0x1FAFF { // emoji that are neutral in the width tables, and drawn wide
		return 2
	}
	return 1
}
