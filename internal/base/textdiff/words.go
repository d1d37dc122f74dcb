package textdiff

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// replacedRows returns the rows for lines of the old text replaced in the new one, after i and j lines. It
// compares their words across the ends of lines, so a paragraph with new line breaks shows only the changed
// words.
func (g *aligner) replacedRows(a, b []string, i, j int) []Row {
	left, right := splitWords(a), splitWords(b)
	words := &aligner{to: make([]int, len(left.ids))}
	if len(a) > 0 && len(b) > 0 {
		ids := map[string]int{}
		left.ids, right.ids = numberItems(ids, left.keys), numberItems(ids, right.keys)
		words = align(left.ids, right.ids)
	}
	g.steps += words.steps
	pairs := left.matchLines(right, words.to, len(a))
	var rows []Row
	y := 0
	for x := range a {
		if pairs[x] < 0 {
			rows = append(rows, Row{Removed, i + x + 1, 0, left.spansOf(x, false), nil})
			continue
		}
		for ; y < pairs[x]; y++ {
			rows = append(rows, Row{Added, 0, j + y + 1, nil, right.spansOf(y, false)})
		}
		rows = append(rows, Row{Changed, i + x + 1, j + y + 1, left.spansOf(x, true), right.spansOf(y, true)})
		y++
	}
	for ; y < len(b); y++ {
		rows = append(rows, Row{Added, 0, j + y + 1, nil, right.spansOf(y, false)})
	}
	return rows
}

// side has the words of several lines.
type side struct {
	lines, words []string
	// keys are the words in the form in which they are compared: all white space is alike.
	keys []string
	ids  []int
	// line is the line of each word, start the first word of each line and the end of the last.
	line, start []int
	kept        []bool
	// solid counts the words of each line without white space.
	solid []int
}

func splitWords(lines []string) *side {
	s := &side{lines: lines, start: []int{0}, solid: make([]int, len(lines))}
	for n, line := range lines {
		for _, word := range Tokens(line) {
			key := word
			if strings.TrimSpace(word) == "" {
				key = " "
			} else {
				s.solid[n]++
			}
			s.words, s.keys, s.line = append(s.words, word), append(s.keys, key), append(s.line, n)
		}
		s.start = append(s.start, len(s.words))
	}
	s.kept = make([]bool, len(s.words))
	return s
}

// matchLines marks the common words, and returns for each line on the left the line on the right with the most
// words in common, or -1.
func (s *side) matchLines(o *side, to []int, n int) []int {
	shared := make([]map[int]int, n)
	for x, y := range to {
		if y < 0 {
			continue
		}
		s.kept[x], o.kept[y] = true, true
		if s.keys[x] == " " {
			continue
		}
		at := s.line[x]
		if shared[at] == nil {
			shared[at] = map[int]int{}
		}
		shared[at][o.line[y]]++
	}
	pairs := make([]int, n)
	last := -1
	for x := range pairs {
		pairs[x] = -1
		most := 0
		for y, count := range shared[x] {
			if y <= last || 3*count < min(s.solid[x], o.solid[y]) {
				continue
			}
			if count > most || count == most && y < pairs[x] {
				pairs[x], most = y, count
			}
		}
		last = max(last, pairs[x])
	}
	return pairs
}

// spansOf returns a line in parts. A line without a partner is marked as a whole if few words stay, because
// these are common by chance.
func (s *side) spansOf(line int, paired bool) []Span {
	text, end := s.lines[line], s.start[line+1]
	var out []Span
	kept, from, to := 0, 0, 0
	for k := s.start[line]; k < end; k++ {
		if s.kept[k] && s.keys[k] != " " {
			kept++
		}
		to += len(s.words[k])
		if k+1 == end || s.kept[k+1] != s.kept[k] {
			out = append(out, Span{text[from:to], !s.kept[k]})
			from = to
		}
	}
	if !paired && 2*kept <= s.solid[line] {
		return wholeLine(text, true)
	}
	return out
}

// nextWord returns the length of the first word: letters and digits, white space, one character of a script
// without spaces, or one other character, each with the following combining marks.
func nextWord(text string) int {
	first, n := utf8.DecodeRuneInString(text)
	kind, isJoined := classOf(first), false
	hasLength := kind == letter || kind == space
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		isMark := r >= utf8.RuneSelf && kind != space && unicode.In(r, unicode.M)
		switch {
		case isMark, isJoined, r == '\u200d':
		case hasLength && kind == classOf(r):
		default:
			return n
		}
		isJoined = r == '\u200d'
		n += size
	}
	return n
}

const (
	letter = iota
	space
	single
)

func classOf(r rune) int {
	switch {
	case 'a' <= r && r <= 'z': // most are
		return letter
	case r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		return single
	case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
		return letter
	case unicode.IsSpace(r):
		return space
	}
	return single
}

// Tokens cuts a text into words, signs, and white space.
func Tokens(text string) []string {
	var out []string
	for text != "" {
		n := nextWord(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// IsWord reports whether a token is a word.
func IsWord(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// Words returns the words of a text, without white space and signs.
func Words(text string) []string {
	return slices.DeleteFunc(Tokens(text), func(token string) bool { return !IsWord(token) })
}

// Common returns for each item of a sequence the place of the same item in another one, in the same order, or -1.
func Common(before, after []string) []int {
	ids := map[string]int{}
	return align(numberItems(ids, before), numberItems(ids, after)).to
}

// CountCommon counts the items that two lists have in common, in any order.
func CountCommon(a, b []string) int {
	left := make(map[string]int, len(a))
	for _, item := range a {
		left[item]++
	}
	n := 0
	for _, item := range b {
		if left[item] > 0 {
			left[item]--
			n++
		}
	}
	return n
}
