// Package recall finds short texts by their words, even if the query has another inflection, a slip of
// the keys or another spelling of an identifier, or is in another language of English, French and Chinese.
// It works in memory, calls nothing, and reads no file.
//
// An [Index] holds documents ([Doc]). A search finds a word by its stems in English and French; an
// identifier by its parts, and by all of them written together; Chinese, which writes no spaces, by the
// lexicon's terms and by pairs of characters. A concept is a line of a [Lexicon]: words and phrases of
// several languages with the same meaning. A gram is a group of three letters, or of two Chinese syllables.
//
// A query is taken apart into units: a phrase of the lexicon or a word. A unit has readings (the word, the
// stems, the concept, words spelt alike), each with a weight, and counts once for a document, by the best
// of them. The unit is as rare as the documents with any of its readings. The score is BM25 over the units,
// more for a document with the whole query, plus the cosine of the grams. Coverage, cosine and proof say
// how much of a hit to believe ([Hit]).
//
// It knows words, not meaning. Of queries new to it, among 10,146 notes, an exact word, an identifier and a
// misspelt word find their note (nDCG@5 1.00), a question in another language does so six times out of ten
// (0.60), and a paraphrase in words which no concept joins with the note's words a little less often
// (0.56); among 516 notes the figures are 0.71 and 0.63. TestQuality measures them. For an objective of
// forty words [Index.Relevant] finds 21 of 27 related notes in projects of three to eight notes and 4 of
// 157 others, and 9 of the 27 among 10,000 (TestBriefings). A dropped document leaves its words in memory,
// though they find nothing, until the index is packed.
package recall

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Doc is a text for the index.
type Doc struct {
	Key  string
	Text string
	// Extra has words beside the text, for example tags.
	Extra []string
	// Time decides if documents match equally well: the later one is first.
	Time int64
}

// Hit is a document found by a query.
type Hit struct {
	Key string
	// Score orders the hits of one query. Scores of two queries do not compare.
	Score float64
	// Coverage is the document's part of the query, from 0 to 1: each unit of the query counts by its
	// rarity, and by the quality of the match.
	Coverage float64
	// Cosine is the likeness of the spellings of both texts, from 0 to 1.
	Cosine float64
	// Proof is the common part of the query and the document, counted in words of this document alone.
	// Unlike Coverage it does not fall with the length of the query.
	Proof float64
}

// Weak reports whether the hit probably has nothing to do with the query: the document is spelt otherwise, shares
// little more with the query than one word of this document alone, and has neither most of the query nor a part
// of it in such a word. TestWeakHits has how often this is wrong.
func (h Hit) Weak() bool {
	hasMost := h.Coverage >= 0.8
	hasPart := h.Coverage >= 0.22 && h.Proof >= 0.8
	return !hasMost && !hasPart && h.Cosine <= 0.4 && h.Proof < 1.2
}

// Index holds documents and finds them. It is not safe for concurrent use while Put or Drop
// run; Search, Similar and Relevant change nothing and may run at the same time.
type Index struct {
	lexicon *Lexicon
	keys    map[string]uint32
	docs    []document
	free    []uint32
	length  float64 // of all documents
	// table has the documents of each feature; the numbers of words by each of their forms, and by the
	// groups of letters in them.
	table
	packedWords words
	words       []stems           // the words outside packedWords
	ids         map[string]uint32 // their numbers
	// known has the stems of packed words found again in newer documents.
	known map[string]*stems
}

// words are packed one after the other.
type words struct{ ends, texts string }

func (w words) len() int { return len(w.ends) / 4 }

func (w words) text(id uint32) string { return partAt(w.texts, w.ends, int(id)) }

// document is a Doc in a slot. An empty slot has a length below zero.
type document struct {
	Doc
	length float32 // in words
	norm   float32 // of the document's grams
}

// posting is a document's number, with the count of the word in the last 8 bits.
type posting uint32

func (p posting) doc() uint32    { return uint32(p >> 8) }
func (p posting) count() float64 { return float64(p & 255) }

func newPosting(doc uint32, n int) posting {
	return posting(doc<<8) | posting(min(n, 255)) // #nosec G115 -- bounded
}

// New returns an empty index with the concepts of a lexicon.
func New(l *Lexicon) *Index {
	return &Index{lexicon: l, keys: map[string]uint32{}, ids: map[string]uint32{}, known: map[string]*stems{}}
}

// Len returns the number of documents.
func (x *Index) Len() int { return len(x.keys) }

// Put adds a document, and replaces the one with the same key, if any. The cost does not grow with the
// number of documents, except for the copying of lists of numbers.
func (x *Index) Put(d Doc) {
	x.Drop(d.Key)
	slot := uint32(len(x.docs)) // #nosec G115 -- below 2^24 documents
	if n := len(x.free); n > 0 {
		slot, x.free = x.free[n-1], x.free[:n-1]
	} else {
		x.docs = append(x.docs, document{})
	}
	x.keys[d.Key] = slot
	c := x.contentsOf(d)
	sum := 0.0
	c.features.each(func(f feature, n int) {
		p := newPosting(slot, n)
		x.insert(f, p)
		if f >= gram {
			sum += dampingOf(p) * dampingOf(p)
		}
	})
	x.docs[slot] = document{Doc: d, length: float32(c.length), norm: float32(math.Sqrt(sum))}
	x.length += float64(c.length)
}

// Drop removes the document of a key. Nothing of it counts afterwards.
func (x *Index) Drop(key string) {
	slot, ok := x.keys[key]
	if !ok {
		return
	}
	x.contentsOf(x.docs[slot].Doc).features.each(func(f feature, _ int) {
		x.set(f, removePosting(x.postsWith(f), slot))
	})
	x.freeSlot(slot)
}

func (x *Index) freeSlot(slot uint32) {
	delete(x.keys, x.docs[slot].Key)
	x.length -= float64(x.docs[slot].length)
	x.docs[slot] = document{length: -1}
	x.free = append(x.free, slot)
}

// internWord returns the number of a word, a new one if the word is new, with these stems.
func (x *Index) internWord(text string, w *stems) uint32 {
	if id, ok := x.idOf(text); ok {
		return id
	}
	id := uint32(x.packedWords.len() + len(x.words)) // #nosec G115 -- below 2^32 words
	x.ids[text] = id
	x.words = append(x.words, *w)
	for _, form := range w.forms() {
		x.set(formOf(form), append(x.get(formOf(form)), posting(id)))
	}
	x.addWord(w.folded, id)
	return id
}

// formOf returns the feature of a form of words: a number beyond the other kinds of features.
func formOf(form string) feature { return hashOf(form) | 1<<63 }

// idOf returns the number of a word, if the index knows it.
func (x *Index) idOf(text string) (id uint32, ok bool) {
	if id, ok = x.ids[text]; ok || x.packedWords.len() == 0 {
		return id, ok
	}
	for _, p := range x.get(formOf(fold(text))) {
		if id := uint32(p); int(id) < x.packedWords.len() && x.packedWords.text(id) == text {
			return id, true
		}
	}
	return 0, false
}

// foldedWord returns a word of the index without marks; "" for an unknown number.
func (x *Index) foldedWord(id uint32) string {
	packed := x.packedWords.len()
	switch {
	case int(id) < packed:
		return fold(x.packedWords.text(id))
	case int(id) < packed+len(x.words):
		return x.words[int(id)-packed].folded
	}
	return ""
}

// postsWith returns the documents with a feature.
func (x *Index) postsWith(f feature) []posting {
	list := x.get(f)
	if n := len(list); n > 0 && int(list[n-1].doc()) >= len(x.docs) {
		return nil // the packed form is broken
	}
	return list
}

// postsOf returns the documents with a word, by the word's number.
func (x *Index) postsOf(id uint32) []posting { return x.postsWith(word | feature(id)) }

// insert adds a document to those with a feature.
func (x *Index) insert(f feature, p posting) {
	if list := x.live[f]; list != nil {
		*list = insertPosting(*list, p)
	} else {
		x.set(f, insertPosting(x.postsWith(f), p))
	}
}

func insertPosting(list []posting, p posting) []posting {
	if n := len(list); n == 0 || list[n-1] < p {
		return append(list, p)
	}
	at, _ := slices.BinarySearch(list, p)
	return slices.Insert(list, at, p)
}

func removePosting(list []posting, doc uint32) []posting {
	at, _ := slices.BinarySearch(list, newPosting(doc, 0))
	if at < len(list) && list[at].doc() == doc {
		return slices.Delete(list, at, at+1)
	}
	return list
}

// damping returns the weight of a gram found n times in a text.
func damping(n int) float64 { return 1 + math.Log(float64(n)) }

// dampings has the weights of all counts of a posting, because logarithms take time.
var dampings = func() (all [256]float64) {
	for n := 1; n < len(all); n++ {
		all[n] = damping(n)
	}
	return all
}()

func dampingOf(p posting) float64 { return dampings[p&255] }

// contents is a document taken apart.
type contents struct {
	features features
	length   int
}

func (x *Index) contentsOf(d Doc) (c contents) {
	x.addText(&c, d.Text)
	for _, e := range d.Extra {
		x.addText(&c, e)
	}
	return c
}

func (x *Index) takeWord(c *contents, text string, s *stems) {
	c.features = append(c.features, word|feature(x.internWord(text, s)))
}

func (c *contents) addConcepts(concepts []int32) {
	for _, one := range concepts {
		c.features = append(c.features, concept|feature(one)) // #nosec G115 -- not negative
	}
}

// addText adds the words, concepts and grams of a text.
func (x *Index) addText(c *contents, text string) {
	found := func(_, _ int, concepts []int32) { c.addConcepts(concepts) }
	var phrase []*stems
	for _, t := range tokens(text) {
		if t.han {
			phrase = append(phrase, nil)
			x.takeRun(c, t.text)
			continue
		}
		s := x.stemsOf(t.text)
		if _, ok := x.ids[t.text]; !ok && x.packedWords.len() > 0 {
			x.known[t.text] = s
		}
		if t.joined {
			x.lexicon.eachTerm([]*stems{s}, found)
		} else {
			phrase = append(phrase, s)
		}
		if !t.isFound() {
			continue
		}
		x.takeWord(c, t.text, s)
		if !t.joined {
			c.length++
			c.features = wordGrams(c.features, s.folded)
		}
	}
	x.lexicon.eachTerm(phrase, found)
}

func (x *Index) takeRun(c *contents, run string) {
	add := func(text string) { x.takeWord(c, text, x.stemsOf(text)) }
	c.features = pinyinGrams(c.features, run)
	eachBigram(run, func(pair string) {
		add(pair)
		c.length++
	})
	x.lexicon.scanRun(run, func(term string, concepts []int32) {
		if utf8.RuneCountInString(term) != 2 {
			add(term)
		}
		c.addConcepts(concepts)
	})
}

// gramsOf returns the grams of a text, as take adds them.
func gramsOf(text string) (out features) {
	for _, t := range tokens(text) {
		if t.han {
			out = pinyinGrams(out, t.text)
		} else if !t.joined && t.isFound() {
			out = wordGrams(out, fold(t.text))
		}
	}
	return out
}

// stemsOf returns the stems of a word, from the index if it has them.
func (x *Index) stemsOf(text string) *stems {
	if id, ok := x.ids[text]; ok {
		return &x.words[int(id)-x.packedWords.len()]
	}
	if s := x.known[text]; s != nil {
		return s
	}
	s := stemsOf(text)
	return &s
}
