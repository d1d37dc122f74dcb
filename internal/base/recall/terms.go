package recall

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Term is a word of a text as a number for an index elsewhere, the same wherever the lexicon is: the English stem of a
// word, a pair of Chinese characters, or a concept of words that are terms of their own.
type Term uint64

const conceptBit = 1 // of the terms that are concepts

// IsConcept reports whether the term is a concept.
func (t Term) IsConcept() bool { return t&conceptBit != 0 }

const (
	// maxKnown bounds the remembered identifiers, maxRemembered the length of each, in bytes.
	maxKnown, maxRemembered = 1 << 13, 48
	// longestIdentifier bounds an identifier, in bytes: a longer one is encoded data.
	longestIdentifier = 200
)

// Terms takes texts apart as an [Index] does, but one identifier at a time. It remembers identifiers, so that many texts
// take little time. It is not safe for concurrent use.
type Terms struct {
	lexicon *Lexicon
	known   map[string][]Term
}

// NewTerms returns the terms by a lexicon.
func NewTerms(l *Lexicon) *Terms { return &Terms{lexicon: l, known: map[string][]Term{}} }

// Each calls f with the terms of a text and the place of the identifier: the parts, the whole, and the concepts.
func (t *Terms) Each(text string, f func(at int, one Term)) {
	for end := 0; end < len(text); end++ {
		at, plain := end, true
		for end < len(text) && inIdentifier(text[end]) {
			plain = plain && text[end] < utf8.RuneSelf
			end++
		}
		isData := plain && end-at > longestIdentifier
		if end-at < 2 || isData {
			continue
		}
		for _, one := range t.identifierTerms(text[at:end]) {
			f(at, one)
		}
	}
}

// inIdentifier reports whether a byte belongs to an identifier, or to a character beyond ASCII.
func inIdentifier(b byte) bool {
	isLetter := 'a' <= b|' ' && b|' ' <= 'z'
	isDigit := '0' <= b && b <= '9'
	return isLetter || isDigit || b == '_' || b >= utf8.RuneSelf
}

func (t *Terms) identifierTerms(text string) []Term {
	found, ok := t.known[text]
	if ok {
		return found
	}
	found = t.takeApart(text)
	if len(t.known) >= maxKnown {
		clear(t.known)
	}
	if len(text) <= maxRemembered {
		t.known[strings.Clone(text)] = found // the whole text would stay in memory
	}
	return found
}

func (t *Terms) takeApart(text string) []Term {
	out := make([]Term, 0, 8)
	addWord := func(word string) { out = append(out, Term(hashOf(word))&^conceptBit) }
	addConcepts := func(concepts []int32) {
		for _, one := range concepts {
			out = append(out, Term(hashOf("concept ", strconv.Itoa(int(one))))|conceptBit)
		}
	}
	var row []*stems
	for _, one := range tokens(text) {
		if one.han {
			row = append(row, nil)
			eachBigram(one.text, addWord)
			t.lexicon.scanRun(one.text, func(_ string, concepts []int32) { addConcepts(concepts) })
			continue
		}
		s := stemsIn(one.text, !one.joined, false)
		if !one.joined {
			row = append(row, &s)
		}
		if one.isFound() && len(one.text) > 1 {
			addWord(s.en)
		}
	}
	t.lexicon.eachTerm(row, func(_, _ int, concepts []int32) { addConcepts(concepts) })
	return slices.Clone(out)
}
