package recall

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Words is the lexicon without concepts, which costs nothing to read: it compares texts by the stems
// of their words and by the pairs of their Chinese characters.
var Words = buildLexicon(nil)

// Bilingual returns the built-in lexicon in English and Chinese alone.
var Bilingual = sync.OnceValue(func() *Lexicon { return unpack(builtinData, true) })

// Unit is a meaningful part of a text: a word, a phrase of the lexicon, or a pair of Chinese characters.
type Unit struct {
	// Name is the same if two units mean the same.
	Name string
	// Text is the unit as it is written.
	Text string
	// Weak marks a word of any task of a software project.
	Weak bool
	// Chinese marks a unit of Chinese characters.
	Chinese bool

	stems    *stems // of a word
	concepts []int32
	parts    []Unit // the meaningful words of a phrase
	joined   string // a word together with the one behind it
}

// Known reports whether the unit has a concept, by which it is found in another language.
func (u Unit) Known() bool { return len(u.concepts) > 0 }

// Units returns the units of a text, each once: the longest phrases of the lexicon, and the words
// and pairs of characters between them. One character alone may be anything.
func (l *Lexicon) Units(text string) (out []Unit) {
	seen := map[string]bool{}
	p := parser{lexicon: l, unit: func(u Unit) {
		alone := u.Chinese && !u.Known() && utf8.RuneCountInString(u.Text) == 1
		if !alone && !seen[u.Name] {
			seen[u.Name] = true
			out = append(out, u)
		}
	}}
	for _, t := range tokens(text) {
		switch {
		case t.han:
			p.addRun(t.text)
		case !t.joined:
			s := stemsIn(t.text, true, false)
			p.addWord(&s, isMeaningful(&s))
		}
	}
	p.endRow()
	return out
}

// parser takes a text apart into units.
type parser struct {
	lexicon    *Lexicon
	unit       func(Unit)
	row        []*stems // the words since the last run of characters
	meaningful []bool   // for each of them, whether it is meaningful
}

// addWord adds the next word of a row.
func (p *parser) addWord(s *stems, meaningful bool) {
	p.row, p.meaningful = append(p.row, s), append(p.meaningful, meaningful)
}

// endRow finds the units of the words of a row, the longest terms of the lexicon first.
func (p *parser) endRow() {
	for i := 0; i < len(p.row); {
		end, concepts := i+1, []int32(nil)
		p.lexicon.eachTermAt(p.row, i, func(to int, found []int32) { end, concepts = to, found })
		switch {
		case end > i+1:
			phrase := Unit{Name: nameOf(concepts, ""), concepts: concepts}
			for at, s := range p.row[i:end] {
				phrase.Text = strings.TrimSpace(phrase.Text + " " + s.folded)
				if p.meaningful[i+at] {
					phrase.parts = append(phrase.parts, wordUnit(s, p.lexicon.conceptsOf(s)))
				}
			}
			p.unit(phrase)
		case p.meaningful[i]:
			u := wordUnit(p.row[i], concepts)
			if end < len(p.row) {
				u.joined = u.Text + p.row[end].folded
			}
			p.unit(u)
		}
		i = end
	}
	p.row, p.meaningful = nil, nil
}

func wordUnit(s *stems, concepts []int32) Unit {
	weak := isWeak(s.folded) || isWeak(s.en) || isWeak(s.fr)
	return Unit{Name: nameOf(concepts, s.en), Text: s.folded, Weak: weak, stems: s, concepts: concepts}
}

func nameOf(concepts []int32, word string) string {
	if len(concepts) == 0 {
		return word
	}
	return fmt.Sprint(concepts)
}

func (l *Lexicon) conceptsOf(s *stems) (out []int32) {
	l.eachTermAt([]*stems{s}, 0, func(_ int, found []int32) { out = found })
	return out
}

// addRun finds the units of a run of a script without spaces: the longest terms of the lexicon in it, and the
// pairs of characters between them and stop words.
func (p *parser) addRun(run string) {
	p.endRow()
	from := 0
	for at := 0; at < len(run); {
		end, concepts := p.lexicon.longestTerm(run, at)
		if end == at {
			_, size := utf8.DecodeRuneInString(run[at:])
			at += size
			continue
		}
		p.addPairs(run[from:at])
		if term := run[at:end]; concepts != nil {
			p.unit(Unit{Name: nameOf(concepts, ""), Text: term, concepts: concepts, Weak: isWeak(term), Chinese: true})
		}
		at, from = end, end
	}
	p.addPairs(run[from:])
}

func (p *parser) addPairs(part string) {
	eachBigram(part, func(pair string) { p.unit(Unit{Name: pair, Text: pair, Weak: isWeak(pair), Chinese: true}) })
}

// longestTerm returns the end of the longest term or stop word at a place of a run, and the
// concepts of the term.
func (l *Lexicon) longestTerm(run string, at int) (int, []int32) {
	best, concepts := at, []int32(nil)
	l.termsAt(run, at, max(l.longestRun, 4), func(end int, found []int32) {
		if found != nil || isStop(run[at:end]) {
			best, concepts = end, found
		}
	})
	return best, concepts
}

// Counts has the number of occurrences of each word and concept in a text.
type Counts struct {
	// Words is the length of the text, without meaningless words.
	Words    int
	keys     map[string]int
	concepts map[int32]int
}

// Weights of the ways to find a unit, beside the unit's own words.
const (
	byConcept = 0.85
	byParts   = 0.5 // the words of a phrase, apart
)

// Of returns the number of occurrences of a unit in the text. A concept counts a little less than the word.
func (c *Counts) Of(u Unit) float64 {
	n := 0.0
	switch {
	case u.stems != nil:
		n = float64(max(c.keys[u.stems.folded], c.keys[u.stems.en]))
	case u.Chinese && !u.Known():
		n = float64(c.keys[u.Text])
	}
	for _, concept := range u.concepts {
		n = max(n, byConcept*float64(c.concepts[concept]))
	}
	parts := 0.0
	for _, part := range u.parts {
		parts += byParts * c.Of(part) / float64(len(u.parts))
	}
	return max(n, parts)
}

// Count reads a text in English or Chinese, or in another language of the Latin alphabet by the English
// stems of the words.
func (l *Lexicon) Count(text string) *Counts {
	c := &Counts{keys: map[string]int{}, concepts: map[int32]int{}}
	known := map[string]*stems{}
	var row []*stems
	for _, t := range tokens(text) {
		if t.han {
			row = append(row, nil)
			eachBigram(t.text, func(pair string) { c.keys[pair]++; c.Words++ })
			l.scanRun(t.text, func(_ string, concepts []int32) { c.addConcepts(concepts) })
			continue
		}
		s := known[t.text]
		if s == nil {
			made := stemsIn(t.text, true, false)
			s, known[t.text] = &made, &made
		}
		if t.joined {
			l.eachTerm([]*stems{s}, func(_, _ int, concepts []int32) { c.addConcepts(concepts) })
			continue
		}
		row = append(row, s)
		if isMeaningful(s) {
			c.Words++
			c.keys[s.folded]++
			if s.en != s.folded {
				c.keys[s.en]++
			}
		}
	}
	l.eachTerm(row, func(from, to int, concepts []int32) {
		if to > from+1 || isMeaningful(row[from]) {
			c.addConcepts(concepts)
		}
	})
	return c
}

func (c *Counts) addConcepts(concepts []int32) {
	for _, concept := range concepts {
		c.concepts[concept]++
	}
}

// isMeaningful reports whether a word has a meaning for a subject, unlike a mere figure.
func isMeaningful(s *stems) bool {
	return len(s.folded) > 1 && !isStop(s.folded) && strings.Trim(s.folded, "0123456789") != ""
}
