package recall

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// query is a search text taken apart.
type query struct {
	units []unit
	known map[string]int // indexes of units by their name
	grams features
}

// unit is a part of a query counted once, by any reading.
type unit struct {
	// spare reports whether a document may lack the unit without a loss.
	spare    bool
	readings []reading
	// name is the same if two units mean the same.
	name string
	weak bool
}

// reading is one way for documents to have a unit, with its weight: how surely the person meant it.
type reading struct {
	posts  []posting
	weight float64
}

// Weights of the readings of a unit, from the word as written to a guess at another word.
const (
	asStem      = 0.95
	asConcept   = 0.85
	asPhrase    = 0.95 // a concept of several words
	asSpelling  = 0.9
	asPart      = 0.7
	asElsewhere = 0.4  // a number that is not behind the word of the query
	asSure      = 0.75 // the least weight of a reading which is not a guess
)

// longestQuery bounds the work of a search, in bytes.
const longestQuery = 8 << 10

func (x *Index) readQuery(text string) query {
	q := query{known: map[string]int{}}
	all := tokens(visible.Head(text, longestQuery))
	anyContent := false
	for i, t := range all {
		anyContent = anyContent || t.han || hasContent(t, i)
	}
	p := parser{lexicon: x.lexicon, unit: func(u Unit) {
		q.addUnit(x.unitOf(u))
		if u.joined != "" {
			q.addJoined(x, u.joined)
		}
	}}
	for i, t := range all {
		switch {
		case t.han:
			q.grams = pinyinGrams(q.grams, t.text)
			p.addRun(t.text)
		case t.number != "":
			q.addNumbered(x, t)
		case t.joined:
			q.addJoined(x, t.text)
		default:
			counts := i+1 < len(all) && all[i+1].number == t.text
			s, meaningful := x.stemsOf(t.text), (hasContent(t, i) || !anyContent) && !counts
			if meaningful {
				q.grams = wordGrams(q.grams, s.folded)
			}
			p.addWord(s, meaningful)
		}
	}
	p.endRow()
	return q
}

// hasContent reports whether a word has a meaning. At the beginning of a query, "comment" is the French
// "how".
func hasContent(t token, at int) bool {
	if at == 0 && t.text == "comment" {
		return false
	}
	return len(t.text) > 1 && !t.isStop()
}

// addUnit adds a unit, or its readings to the unit with the same meaning.
func (q *query) addUnit(u unit) {
	if i, ok := q.known[u.name]; ok {
		q.units[i].readings = append(q.units[i].readings, u.readings...)
		return
	}
	q.known[u.name] = len(q.units)
	q.units = append(q.units, u)
}

// addJoined adds a compound as one word, if documents have it.
func (q *query) addJoined(x *Index, text string) {
	s := x.stemsOf(text)
	u := unit{spare: true, name: "=" + s.folded}
	for _, id := range x.get(formOf(s.folded)) {
		u.addReading(x.postsOf(uint32(id)), 1)
	}
	if len(u.readings) > 0 {
		q.addUnit(u)
	}
}

// addNumbered adds a word with its number. A document with the number elsewhere has a part of it.
func (q *query) addNumbered(x *Index, t token) {
	q.grams = wordGrams(q.grams, t.number)
	u := unit{name: "=" + t.text}
	for _, one := range []struct {
		text   string
		weight float64
	}{{t.text, 1}, {t.number, asElsewhere}} {
		if id, ok := x.idOf(one.text); ok {
			u.addReading(x.postsOf(id), one.weight)
		}
	}
	q.addUnit(u)
}

// addReading adds a reading, if documents have it.
func (u *unit) addReading(posts []posting, weight float64) {
	if len(posts) > 0 {
		u.readings = append(u.readings, reading{posts, weight})
	}
}

func (u *unit) addConcepts(x *Index, concepts []int32, weight float64) {
	for _, c := range concepts {
		u.addReading(x.postsWith(concept|feature(c)), weight) // #nosec G115 -- not negative
	}
}

// unitOf returns the readings of a part of a query.
func (x *Index) unitOf(part Unit) unit {
	u := unit{name: part.Name, weak: part.Weak}
	switch {
	case part.Chinese:
		if id, ok := x.idOf(part.Text); ok {
			u.addReading(x.postsOf(id), 1)
		}
		u.addConcepts(x, part.concepts, asConcept)
		u.spare = len(u.readings) == 0 && !part.Known() && utf8.RuneCountInString(part.Text) == 1
	case part.stems != nil:
		x.readWord(&u, *part.stems, part.concepts)
	default:
		u.addConcepts(x, part.concepts, asPhrase)
		for _, w := range part.parts {
			for _, r := range x.unitOf(w).readings {
				u.addReading(r.posts, r.weight*asPart)
			}
		}
	}
	return u
}

// readWord adds the forms of a word, its concepts and similar spellings.
func (x *Index) readWord(u *unit, s stems, concepts []int32) {
	taken := map[uint32]bool{}
	for _, form := range s.forms() {
		for _, p := range x.get(formOf(form)) {
			id := uint32(p)
			if taken[id] || len(x.postsOf(id)) == 0 {
				continue
			}
			taken[id] = true
			weight := asStem
			if x.foldedWord(id) == s.folded {
				weight = 1
			}
			u.addReading(x.postsOf(id), weight)
		}
	}
	u.addConcepts(x, concepts, asConcept)
	if !canBeMisspelt(s.folded) {
		return
	}
	unknown := len(u.readings) == 0 && len(concepts) == 0
	x.eachWordAlike(s.folded, func(id uint32, shared int) {
		if taken[id] {
			return
		}
		known := x.foldedWord(id)
		if weight := asSpelling * likeness(s.folded, known, shared, unknown); weight > 0 {
			u.addReading(x.postsOf(id), weight)
		} else if strings.HasPrefix(known, s.folded) {
			u.addReading(x.postsOf(id), asPrefix)
		}
	})
	if unknown {
		x.lexicon.eachSimilarWord(s.folded, func(concepts []int32, like float64) { u.addConcepts(x, concepts, asConcept*like) })
	}
}

// idf returns the rarity of a unit in n documents.
func (x *Index) idf(n int) float64 {
	all := float64(len(x.keys))
	return math.Log(1 + (all-float64(n)+0.5)/(float64(n)+0.5))
}
