package visible

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Columns returns the width of a text in columns of a terminal: two for each wide character of East Asian
// scripts, none for a combining mark.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// Cut returns text unchanged if it takes at most n columns, otherwise the beginning of it followed by end,
// at most n columns together.
func Cut(text string, n int, end string) string {
	if Columns(text) <= n {
		return text
	}
	n -= Columns(end)
	for i, r := range text {
		if n -= columnsOf(r); n < 0 {
			return text[:i] + end
		}
	}
	return text
}

// Shorten returns a line unchanged if it takes at most n columns, otherwise as many whole words as fit,
// followed by end. Only a word wider than n is cut.
func Shorten(line string, n int, end string) string {
	if Columns(line) <= n {
		return line
	}
	return strings.TrimRight(Wrap(line, n-Columns(end))[0], " ,;:") + end
}

// Wrap breaks a text into rows of at most n columns, at line breaks and between words, and in scripts
// without spaces between characters. Only a word wider than a row is broken. A wide character has its own
// row if n has no room for it.
func Wrap(text string, n int) []string { return wrapText(text, n, false) }

// Fold breaks a text as Wrap does, but no word: a word wider than a row has its own row.
func Fold(text string, n int) []string { return wrapText(text, n, true) }

func wrapText(text string, n int, whole bool) []string {
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		for rest := line; ; {
			at := rowEnd(rest, n, whole)
			rows = append(rows, strings.TrimRight(rest[:at], " "))
			if rest = strings.TrimLeft(rest[at:], " "); rest == "" {
				break
			}
		}
	}
	return rows
}

// rowEnd returns the end of the first row of a line: behind the last possible end within n columns, or in
// the middle of a word without room in any row, unless words stay whole.
func rowEnd(line string, n int, whole bool) int {
	used, word, last := 0, 0, rune(0) // the columns of the row, and of the last word in it
	end, full := 0, -1                // the positions at which the word begins and the row is full
	for i, r := range line {
		if i > 0 && mayBreak(last, r) {
			if full >= 0 {
				return cmp.Or(end, i)
			}
			end, word = i, 0
		}
		last, used, word = r, used+columnsOf(r), word+columnsOf(r)
		if r == ' ' {
			word -= columnsOf(r)
			continue
		}
		if full < 0 && used > n && i > 0 {
			full = i
		}
		if full >= 0 && word > n && !whole {
			return full
		}
	}
	if full >= 0 && end > 0 {
		return end
	}
	return len(line)
}

// mayBreak reports whether a row may end between two characters: at a space, and beside a wide character, but
// not before a mark at the end of a part of a sentence, nor behind an opening one.
func mayBreak(before, after rune) bool {
	if before == ' ' {
		return after != ' '
	}
	wide := columnsOf(before) == 2 || columnsOf(after) == 2
	return wide && !unicode.In(after, unicode.Pe, unicode.Pf, unicode.Po) && !unicode.In(before, unicode.Ps, unicode.Pi)
}

// Head returns the beginning of a text, cut at a character to at most limit bytes.
func Head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit, 0)], "")
}

// Fit returns text unchanged if it has at most limit bytes, otherwise cut at a character to at most limit
// bytes, including the ellipsis at the end.
func Fit(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return Head(text, limit-len("…")) + "…"
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if r >= 0x1F300 && r <= 0x1FAFF { // emoji, neutral in the width tables, but drawn wide
		return 2
	}
	return 1
}
