package visible

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Columns returns how many columns of a terminal a text takes: two for each wide character
// of East Asian scripts, none for a mark that combines with the character before it.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += columns(r)
	}
	return n
}

// Cut returns a text that takes at most n columns: as it is where it fits, else its
// beginning with end behind it.
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

// Clip returns text as it is, or, where it is longer, its first limit bytes and an ellipsis.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if r >= 0x1F300 && r <= 0x1FAFF { // emoji that the width tables call neutral are drawn wide
		return 2
	}
	return 1
}
