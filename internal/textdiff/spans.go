package textdiff

import (
	"unicode"
	"unicode/utf8"
)

// maxTokens bounds the words of a line that are compared one by one.
const maxTokens = 400

// alike is the share of their words that two lines need in common to be shown as one that changed.
const alike = 0.4

// between are the rows of lines that differ: similar ones are paired, in order.
func between(a, b []string, i, j int) []Row {
	var rows []Row
	x, y := 0, 0
	flush := func(toX, toY int) {
		for ; x < toX; x++ {
			rows = append(rows, Row{Kind: Removed, Before: i + x + 1, Left: whole(a[x])})
		}
		for ; y < toY; y++ {
			rows = append(rows, Row{Kind: Added, After: j + y + 1, Right: whole(b[y])})
		}
	}
	for _, p := range pairs(a, b) {
		flush(p.a, p.b)
		left, right := words(a[p.a], b[p.b])
		rows = append(rows, Row{Kind: Changed, Before: i + p.a + 1, After: j + p.b + 1, Left: left, Right: right})
		x, y = p.a+1, p.b+1
	}
	flush(len(a), len(b))
	return rows
}

// maxPairs bounds the pairs of lines whose words are compared.
const maxPairs = 2_500

// pairs are lines that resemble each other, each once and in order: the choice with the most
// resemblance in all. Where there are too many for that, lines at the same place are paired.
func pairs(a, b []string) []match {
	if len(a)*len(b) > maxPairs {
		var out []match
		for k := range min(len(a), len(b), maxPairs) {
			if resemble(a[k], b[k]) >= alike {
				out = append(out, match{k, k, 1})
			}
		}
		return out
	}
	width := len(b) + 1
	best := make([]float64, (len(a)+1)*width)
	own := make([]float64, len(a)*len(b))
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			if r := resemble(a[i], b[j]); r >= alike {
				own[i*len(b)+j] = r
				best[i*width+j] = max(best[i*width+j], r+best[(i+1)*width+j+1])
			}
		}
	}
	var out []match
	for i, j := 0, 0; i < len(a) && j < len(b); {
		r := own[i*len(b)+j]
		switch {
		case r > 0 && best[i*width+j] == r+best[(i+1)*width+j+1]:
			out = append(out, match{i, j, 1})
			i, j = i+1, j+1
		case best[i*width+j] == best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
	return out
}

// resemble is the share of their words that two lines have in common, whatever the order.
func resemble(a, b string) float64 {
	x, y := tokens(a), tokens(b)
	counts, total := map[string]int{}, 0
	for _, word := range x {
		if !blank(word) {
			counts[word]++
			total++
		}
	}
	common := 0
	for _, word := range y {
		if blank(word) {
			continue
		}
		total++
		if counts[word] > 0 {
			counts[word]--
			common++
		}
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}

func blank(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsSpace(r)
}

// words compares two lines by their words.
func words(a, b string) (left, right []Span) {
	x, y := tokens(a), tokens(b)
	if len(x) > maxTokens || len(y) > maxTokens {
		return []Span{{a, true}}, []Span{{b, true}}
	}
	i, j := 0, 0
	for _, m := range append(exact(x, y), match{len(x), len(y), 0}) {
		for ; i < m.a; i++ {
			left = grow(left, x[i], true)
		}
		for ; j < m.b; j++ {
			right = grow(right, y[j], true)
		}
		if m.n > 0 {
			left, right = grow(left, x[i], false), grow(right, y[j], false)
			i, j = i+1, j+1
		}
	}
	return left, right
}

// grow adds a word to the last span, or begins another.
func grow(spans []Span, word string, changed bool) []Span {
	if k := len(spans) - 1; k >= 0 && spans[k].Changed == changed {
		spans[k].Text += word
		return spans
	}
	return append(spans, Span{word, changed})
}

// tokens splits a line into words, spaces and signs. A character of a script that does not
// separate its words is one by itself.
func tokens(line string) []string {
	var out []string
	begin, class := 0, 0
	for i, r := range line {
		now := classOf(r)
		if i > begin && (now != class || now == 0) {
			out = append(out, line[begin:i])
			begin = i
		}
		class = now
	}
	if begin < len(line) {
		out = append(out, line[begin:])
	}
	return out
}

// classOf is 1 for letters and digits, 2 for spaces, and 0 for a sign that stands alone.
func classOf(r rune) int {
	switch {
	case unicode.Is(unicode.Han, r), unicode.Is(unicode.Hiragana, r), unicode.Is(unicode.Katakana, r), unicode.Is(unicode.Thai, r):
		return 0
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return 1
	case unicode.IsSpace(r):
		return 2
	}
	return 0
}
