package recall

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Words is the lexicon without concepts, which costs nothing to read: it compares texts by the stems
// of their words and by the pairs of their Chinese characters.
var Words = build(nil)

// Bilingual returns the built-in lexicon in English and Chinese alone, which takes a third of the
// time to read.
var Bilingual = sync.OnceValue(func() *Lexicon {
	var concepts [][]term
	for line := range strings.Lines(string(builtinText)) {
		cells := slices.DeleteFunc(strings.Split(strings.TrimSpace(line), "\t"), func(cell string) bool { return strings.HasPrefix(cell, "fr|") })
		if terms, flaw := parseConcept(strings.Join(cells, "\t")); flaw.Flaw == 0 {
			concepts = append(concepts, terms)
		}
	}
	return build(concepts)
})

// Unit is a part of a text that says something: a word, a phrase of the lexicon, or a pair of
// Chinese characters.
type Unit struct {
	// Name is the same if two units mean the same.
	Name string
	// Text is the unit as it is written.
	Text string
	// Weak marks a word that any task of a software project has.
	Weak bool
	// Chinese marks a unit of Chinese characters.
	Chinese bool

	keys     []string
	concepts []int32
	parts    []Unit // of a phrase
}

// Known reports whether the unit has a concept, by which it is found in another language.
func (u Unit) Known() bool { return len(u.concepts) > 0 }

// Counts has the number of times that a text has each word and concept.
type Counts struct {
	// Words is the length of the text, without the words that say nothing.
	Words    int
	keys     map[string]int
	concepts map[int32]int
}

// Weights of the ways to find a unit, beside its own words.
const (
	byConcept = 0.85
	byParts   = 0.5 // the words of a phrase, apart
)

// Of returns the number of times that the text has a unit. A concept counts a little less than the word.
func (c *Counts) Of(u Unit) float64 {
	n := 0.0
	for _, key := range u.keys {
		n = max(n, float64(c.keys[key]))
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

// Count reads a text in English or Chinese, or in another language of the Latin alphabet by the
// English stems of its words.
func (l *Lexicon) Count(text string) *Counts {
	c := &Counts{keys: map[string]int{}, concepts: map[int32]int{}}
	known := map[string]*stems{}
	var row []*stems
	for _, t := range tokens(text) {
		if t.han {
			row = append(row, nil)
			eachBigram(t.text, func(pair string) { c.keys[pair]++; c.Words++ })
			l.scanRun(t.text, func(_ int, _ string, concepts []int32) { c.add(concepts) })
			continue
		}
		s := known[t.text]
		if s == nil {
			made := stemsIn(t.text, true, false)
			s, known[t.text] = &made, &made
		}
		if t.joined {
			l.scan([]*stems{s}, func(_, _ int, concepts []int32) { c.add(concepts) })
			continue
		}
		row = append(row, s)
		if says(s) {
			c.Words++
			c.keys[s.folded]++
			if s.en != s.folded {
				c.keys[s.en]++
			}
		}
	}
	l.scan(row, func(from, to int, concepts []int32) {
		if to > from+1 || says(row[from]) {
			c.add(concepts)
		}
	})
	return c
}

func (c *Counts) add(concepts []int32) {
	for _, concept := range concepts {
		c.concepts[concept]++
	}
}

// says reports whether a word says something of a subject, which a mere figure does not.
func says(s *stems) bool {
	return len(s.folded) > 1 && !stopWords()[s.folded] && strings.Trim(s.folded, "0123456789") != ""
}

// Units returns the units of a text, each once: the longest phrases of the lexicon, and the words
// and pairs of characters between them.
func (l *Lexicon) Units(text string) []Unit {
	r := unitReader{lexicon: l, seen: map[string]bool{}}
	for _, t := range tokens(text) {
		switch {
		case t.han:
			r.endRow()
			r.run(t.text)
		case !t.joined:
			s := stemsIn(t.text, true, false)
			r.row = append(r.row, &s)
		}
	}
	r.endRow()
	return r.out
}

type unitReader struct {
	lexicon *Lexicon
	row     []*stems // words since the last run of characters
	seen    map[string]bool
	out     []Unit
}

func (r *unitReader) add(u Unit) {
	if len(u.concepts) > 0 {
		u.Name = nameOf(u.concepts, "")
	}
	if !r.seen[u.Name] {
		r.seen[u.Name] = true
		r.out = append(r.out, u)
	}
}

// endRow adds the units of the words of a row.
func (r *unitReader) endRow() {
	for i := 0; i < len(r.row); {
		end, concepts := i+1, []int32(nil)
		r.lexicon.from(r.row, i, func(to int, found []int32) { end, concepts = to, found })
		switch {
		case end > i+1:
			phrase := Unit{concepts: concepts}
			for _, s := range r.row[i:end] {
				phrase.Text = strings.TrimSpace(phrase.Text + " " + s.folded)
				if says(s) {
					phrase.parts = append(phrase.parts, r.word(s))
				}
			}
			r.add(phrase)
		case says(r.row[i]):
			r.add(r.word(r.row[i]))
		}
		i = end
	}
	r.row = nil
}

func (r *unitReader) word(s *stems) Unit {
	return Unit{
		Name: s.en, Text: s.folded, keys: []string{s.folded, s.en}, concepts: r.lexicon.conceptsOf(s), Weak: weakWords()[s.folded] || weakWords()[s.en],
	}
}

// run adds the units of a run of a script without spaces.
func (r *unitReader) run(run string) {
	r.lexicon.splitRun(run, func(term string, concepts []int32) {
		r.add(Unit{Text: term, concepts: concepts, Weak: weakWords()[term], Chinese: true})
	}, func(rest string) {
		if utf8.RuneCountInString(rest) > 1 { // one character alone may be anything
			eachBigram(rest, func(pair string) {
				r.add(Unit{Name: pair, Text: pair, keys: []string{pair}, Weak: weakWords()[pair], Chinese: true})
			})
		}
	})
}
