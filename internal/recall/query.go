package recall

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// query is a search text taken apart.
type query struct {
	units []unit
	known map[string]int // indexes of units by their name
	grams grams
}

// unit is a part of a query that counts once, by any of its readings.
type unit struct {
	// spare is true if the unit does not count against a document that lacks it.
	spare    bool
	readings []reading
	// name is the same if two units mean the same.
	name string
	weak bool
}

// reading is one way in which documents have a unit, with its weight: how surely it was meant.
type reading struct {
	posts  []posting
	weight float64
}

// Weights of the readings of a unit, from the word as written to a guess at another word.
const (
	asStem     = 0.95
	asConcept  = 0.85
	asPhrase   = 0.95 // a concept of several words
	asSpelling = 0.9
	asPart     = 0.7
	asSure     = 0.75 // the least weight of a reading that is not a guess
)

// longestQuery bounds the work of a search, in bytes.
const longestQuery = 8 << 10

func (x *Index) query(text string) query {
	q := query{known: map[string]int{}}
	all := tokens(clip(text, longestQuery))
	anyContent := false
	for i, t := range all {
		anyContent = anyContent || t.han || x.content(t, i)
	}
	var phrase []word
	for i, t := range all {
		switch {
		case t.han:
			q.addPhrase(x, phrase)
			phrase = nil
			q.grams = pinyinGrams(q.grams, t.text)
			q.addRun(x, t.text)
		case t.joined:
			q.addJoined(x, t.text)
		default:
			w := word{stems: *x.stems(t.text)}
			if !x.content(t, i) && anyContent {
				w.posts = []posting{}
			} else {
				q.grams = wordGrams(q.grams, w.folded)
			}
			phrase = append(phrase, w)
		}
	}
	q.addPhrase(x, phrase)
	return q
}

// content reports whether a word says something. At the beginning of a query, "comment" is the French
// "how".
func (x *Index) content(t token, at int) bool {
	if at == 0 && t.text == "comment" {
		return false
	}
	return len(t.text) > 1 && !stopWords()[fold(t.text)]
}

// addPhrase adds the units of words in a row, the longest terms of the lexicon first.
func (q *query) addPhrase(x *Index, words []word) {
	row := make([]*stems, len(words))
	for i := range words {
		row[i] = &words[i].stems
	}
	for i := 0; i < len(words); {
		end, concepts := i+1, []int32(nil)
		x.lexicon.from(row, i, func(to int, found []int32) { end, concepts = to, found })
		skipped := words[i].posts != nil
		if end > i+1 {
			u := unit{name: nameOf(concepts, "")}
			u.topics(x, concepts, asPhrase)
			for _, w := range words[i:end] {
				if w.posts == nil {
					part := x.word(w.stems, x.lexicon.conceptsOf(&w.stems))
					for _, r := range part.readings {
						u.readings = append(u.readings, reading{r.posts, r.weight * asPart})
					}
				}
			}
			q.add(u)
		} else if !skipped {
			q.add(x.word(words[i].stems, concepts))
		}
		if i+1 < len(words) && end == i+1 && !skipped {
			q.addJoined(x, words[i].folded+words[i+1].folded)
		}
		i = end
	}
}

// add adds a unit, or its readings to the unit that means the same.
func (q *query) add(u unit) {
	if i, ok := q.known[u.name]; ok {
		q.units[i].readings = append(q.units[i].readings, u.readings...)
		return
	}
	q.known[u.name] = len(q.units)
	q.units = append(q.units, u)
}

func nameOf(concepts []int32, word string) string {
	if len(concepts) == 0 {
		return word
	}
	return fmt.Sprint(concepts)
}

func (l *Lexicon) conceptsOf(s *stems) (out []int32) {
	l.from([]*stems{s}, 0, func(_ int, found []int32) { out = found })
	return out
}

// addJoined adds a compound as one word, if documents have it.
func (q *query) addJoined(x *Index, text string) {
	s := x.stems(text)
	u := unit{spare: true, name: "=" + s.folded}
	for _, id := range x.forms[s.folded] {
		if posts := x.words[id].posts; len(posts) > 0 {
			u.readings = append(u.readings, reading{posts, 1})
		}
	}
	if len(u.readings) > 0 {
		q.add(u)
	}
}

func (u *unit) topics(x *Index, concepts []int32, weight float64) {
	for _, c := range concepts {
		if posts := x.topics[c]; len(posts) > 0 {
			u.readings = append(u.readings, reading{posts, weight})
		}
	}
}

// word returns the unit of a word, with its forms, its concepts and similar spellings.
func (x *Index) word(s stems, concepts []int32) unit {
	u := unit{name: nameOf(concepts, s.en), weak: weakWords()[s.folded] || weakWords()[s.en] || weakWords()[s.fr]}
	taken := map[uint32]bool{}
	for _, form := range s.forms() {
		for _, id := range x.forms[form] {
			if taken[id] || len(x.words[id].posts) == 0 {
				continue
			}
			taken[id] = true
			weight := asStem
			if x.words[id].folded == s.folded {
				weight = 1
			}
			u.readings = append(u.readings, reading{x.words[id].posts, weight})
		}
	}
	u.topics(x, concepts, asConcept)
	if !spelt(s.folded) {
		return u
	}
	unknown := len(u.readings) == 0 && len(concepts) == 0
	x.near.find(s.folded, func(id uint32, shared int) {
		w := &x.words[id]
		if taken[id] || len(w.posts) == 0 {
			return
		}
		if weight := asSpelling * likeness(s.folded, w.folded, shared, unknown); weight > 0 {
			u.readings = append(u.readings, reading{w.posts, weight})
		} else if strings.HasPrefix(w.folded, s.folded) {
			u.readings = append(u.readings, reading{w.posts, asPrefix})
		}
	})
	if unknown {
		x.lexicon.misspelt(s.folded, func(concepts []int32, like float64) { u.topics(x, concepts, asConcept*like) })
	}
	return u
}

// addRun adds the units of a run of a script without spaces: the longest terms of the lexicon,
// and the pairs of characters of the rest.
func (q *query) addRun(x *Index, run string) {
	x.lexicon.splitRun(run, func(term string, concepts []int32) {
		u := unit{name: nameOf(concepts, ""), weak: weakWords()[term]}
		if id, ok := x.ids[term]; ok {
			u.readings = append(u.readings, reading{x.words[id].posts, 1})
		}
		u.topics(x, concepts, asConcept)
		q.add(u)
	}, func(rest string) {
		eachBigram(rest, func(pair string) {
			u := unit{name: pair, weak: weakWords()[pair]}
			if id, ok := x.ids[pair]; ok && len(x.words[id].posts) > 0 {
				u.readings = []reading{{x.words[id].posts, 1}}
			}
			u.spare = utf8.RuneCountInString(pair) == 1 && len(u.readings) == 0
			q.add(u)
		})
	})
}

// splitRun calls term with the longest terms of the lexicon in a run of a script without spaces, and rest
// with the parts between them and stop words that are not empty, in their order.
func (l *Lexicon) splitRun(run string, term func(text string, concepts []int32), rest func(string)) {
	between := func(part string) {
		if part != "" {
			rest(part)
		}
	}
	from := 0
	for at := 0; at < len(run); {
		end, concepts := l.longestTerm(run, at)
		if end == at {
			_, size := utf8.DecodeRuneInString(run[at:])
			at += size
			continue
		}
		between(run[from:at])
		if concepts != nil {
			term(run[at:end], concepts)
		}
		at, from = end, end
	}
	between(run[from:])
}

// longestTerm returns the end of the longest term or stop word at a place of a run, and the
// concepts of the term.
func (l *Lexicon) longestTerm(run string, at int) (int, []int32) {
	end, best, concepts := at, at, []int32(nil)
	for n := 0; n < max(l.longestRun, 4) && end < len(run); n++ {
		_, size := utf8.DecodeRuneInString(run[end:])
		end += size
		if c := l.runs[run[at:end]]; c != nil {
			best, concepts = end, c
		} else if stopWords()[run[at:end]] {
			best, concepts = end, nil
		}
	}
	return best, concepts
}

// idf returns the rarity of a unit that n documents have.
func (x *Index) idf(n int) float64 {
	all := float64(len(x.keys))
	return math.Log(1 + (all-float64(n)+0.5)/(float64(n)+0.5))
}
