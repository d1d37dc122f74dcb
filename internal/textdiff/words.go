package textdiff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// replaced returns the rows for lines of the old text in whose place the new one has others,
// after i and j lines. Their words are compared across the ends of lines, so that a paragraph
// with new line breaks shows the words that changed and no others.
func (g *aligner) replaced(a, b []string, i, j int) []Row {
	left, right := split(a), split(b)
	words := &aligner{to: make([]int, len(left.ids))}
	if len(a) > 0 && len(b) > 0 {
		ids := map[string]int{}
		left.ids, right.ids = numbers(ids, left.keys), numbers(ids, right.keys)
		words = align(left.ids, right.ids)
	}
	g.steps += words.steps
	pairs := left.meet(right, words.to, len(a))
	var rows []Row
	y := 0
	for x := range a {
		if pairs[x] < 0 {
			rows = append(rows, Row{Removed, i + x + 1, 0, left.spans(x, false), nil})
			continue
		}
		for ; y < pairs[x]; y++ {
			rows = append(rows, Row{Added, 0, j + y + 1, nil, right.spans(y, false)})
		}
		rows = append(rows, Row{Changed, i + x + 1, j + y + 1, left.spans(x, true), right.spans(y, true)})
		y++
	}
	for ; y < len(b); y++ {
		rows = append(rows, Row{Added, 0, j + y + 1, nil, right.spans(y, false)})
	}
	return rows
}

// side has the words of several lines.
type side struct {
	words []string
	// keys are the words as they are compared: all white space is alike.
	keys []string
	ids  []int
	// line is the line of each word, start the first word of each line and the end of the last.
	line, start []int
	kept        []bool
	// solid counts the words of each line without white space.
	solid []int
}

func split(lines []string) *side {
	s := &side{start: []int{0}, solid: make([]int, len(lines))}
	for n, line := range lines {
		for line != "" {
			word := line[:next(line)]
			key := word
			if strings.TrimSpace(word) == "" {
				key = " "
			} else {
				s.solid[n]++
			}
			s.words, s.keys, s.line = append(s.words, word), append(s.keys, key), append(s.line, n)
			line = line[len(word):]
		}
		s.start = append(s.start, len(s.words))
	}
	s.kept = make([]bool, len(s.words))
	return s
}

// meet marks the words that stay, and returns for each line on the left the line on the right
// that shares the most words with it, or -1.
func (s *side) meet(o *side, to []int, n int) []int {
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
			if y > last && (count > most || count == most && y < pairs[x]) && 3*count >= min(s.solid[x], o.solid[y]) {
				pairs[x], most = y, count
			}
		}
		last = max(last, pairs[x])
	}
	return pairs
}

// spans returns a line in parts. A line without a partner of which little stays is marked as a
// whole: its few common words are chance.
func (s *side) spans(line int, paired bool) []Span {
	var out []Span
	kept, end := 0, s.start[line+1]
	for k := s.start[line]; k < end; {
		from := k
		for ; k < end && s.kept[k] == s.kept[from]; k++ {
			if s.kept[k] && s.keys[k] != " " {
				kept++
			}
		}
		out = append(out, Span{strings.Join(s.words[from:k], ""), !s.kept[from]})
	}
	if !paired && 2*kept <= s.solid[line] {
		return whole(strings.Join(s.words[s.start[line]:s.start[line+1]], ""), true)
	}
	return out
}

// next returns the length of the first word: letters and digits, white space, one character of a
// script without spaces, or one other character, each with the marks that belong to it.
func next(text string) int {
	first, n := utf8.DecodeRuneInString(text)
	kind, joined := class(first), false
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		switch {
		case r >= utf8.RuneSelf && (unicode.In(r, unicode.M) && kind != space || r == '\u200d'), joined:
		case kind == class(r) && (kind == letter || kind == space):
		default:
			return n
		}
		joined = r == '\u200d'
		n += size
	}
	return n
}

const (
	letter = iota
	space
	single
)

func class(r rune) int {
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
