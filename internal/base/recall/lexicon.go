package recall

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// builtinData is the packed form of lexicon.tsv. TestLexiconIsPacked writes it.
//
//go:embed lexicon.packed
var builtinData string

// Builtin returns the program's own lexicon of software work and its everyday domains.
var Builtin = sync.OnceValue(func() *Lexicon { return unpack(builtinData, false) })

// Lexicon holds concepts: words and phrases of several languages with the same meaning. It does not change,
// so any number of indexes may share it.
type Lexicon struct {
	// terms has a meaning for each concept of a term, and longer for each beginning of one at the end of a
	// word. The key is the hash of the term's kind, and of its words or run.
	terms table
	// count is the number of concepts, longestRun the number of characters in the longest term without
	// spaces.
	count, longestRun int
	bilingual         bool // without the meanings by French terms
	// near returns the table for finding the words in single, which are terms, by a misspelt word. The
	// first search makes the table.
	near   func() *table
	single []string
	// sum returns the digest of the lexicon, which identifies it.
	sum func() string
}

// longer stands for the beginning of a longer term. Other values are meanings.
const longer posting = 0

// newMeaning returns a concept in the form of a table. An odd value comes from a French term, or from a
// concept with fewer than two others; a bilingual lexicon skips it.
func newMeaning(concept int, isOdd bool) posting {
	m := posting(concept+1) << 1 // #nosec G115 -- a line of a file
	if isOdd {
		m++
	}
	return m
}

// meaningsOf returns the concepts of a key. goesOn reports whether a longer term begins with it; known is
// false for a key of neither kind.
func (l *Lexicon) meaningsOf(key feature) (concepts []int32, goesOn, known bool) {
	list := l.terms.get(key)
	for _, m := range list {
		switch {
		case m == longer:
			goesOn = true
		case m&1 == 0 || !l.bilingual:
			concepts = append(concepts, int32(m>>1)-1) // #nosec G115 -- halved
		}
	}
	return concepts, goesOn, len(list) > 0
}

// term is a word or a phrase of a language, with its keys.
type term struct {
	language, text string
	keys           []string
}

// MaxLine bounds a line of a lexicon, in bytes.
const MaxLine = 8 << 10

// Flaw is the reason why a line of a lexicon is left out.
type Flaw int

// The flaws of a line.
const (
	NotText       Flaw = iota + 1 // it is not UTF-8
	TooLong                       // it has more than MaxLine bytes
	NoLanguage                    // a cell does not begin with the tag of a language
	NothingToFind                 // a term has only stop words, or mixes scripts
	Alone                         // there are fewer than two terms
)

// LineError is a skipped line of a lexicon.
type LineError struct {
	Line int
	Flaw Flaw
	// Text is the cell or term with the flaw, if it is of one, Language the tag of the term.
	Text, Language string
}

// ParseLexicon reads concepts, one on a line: a cell for each language, separated by tabs, with the
// language's tag and the terms, separated by bars, for example en|invoice|bill. It skips empty lines and
// lines with # in front. The errors name the skipped lines.
func ParseLexicon(tsv []byte) (*Lexicon, []LineError) {
	var concepts [][]term
	var left []LineError
	n := 0
	for line := range strings.Lines(string(tsv)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		terms, flaw := parseConcept(line)
		if flaw.Flaw != 0 {
			flaw.Line = n
			left = append(left, flaw)
			continue
		}
		concepts = append(concepts, terms)
	}
	return buildLexicon(concepts), left
}

func parseConcept(line string) (out []term, flaw LineError) {
	if !utf8.ValidString(line) {
		return nil, LineError{Flaw: NotText}
	}
	if len(line) > MaxLine {
		return nil, LineError{Flaw: TooLong}
	}
	for _, cell := range strings.Split(line, "\t") {
		words := strings.Split(cell, "|")
		tag := strings.TrimSpace(words[0])
		if len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
			return nil, LineError{Flaw: NoLanguage, Text: cell}
		}
		for _, w := range words[1:] {
			w = strings.TrimSpace(w)
			keys := keysOf(tag, w)
			if len(keys) == 0 {
				return nil, LineError{Flaw: NothingToFind, Text: w, Language: tag}
			}
			out = append(out, term{tag, w, keys})
		}
	}
	if len(out) < 2 {
		return nil, LineError{Flaw: Alone}
	}
	return out, LineError{}
}

// With returns a lexicon with the concepts of both. A term of both has the meanings of both.
func (l *Lexicon) With(more *Lexicon) *Lexicon {
	both := newLexicon(table{packed: l.terms.packed, live: maps.Clone(l.terms.live)}, slices.Clone(l.single))
	both.count, both.longestRun = l.count+more.count, max(l.longestRun, more.longestRun)
	for _, word := range more.single {
		if _, _, known := l.meaningsOf(hashOf(asWritten, word)); !known {
			both.single = append(both.single, word)
		}
	}
	for _, e := range more.terms.entries() {
		for _, m := range e.list {
			if m != longer {
				m += newMeaning(l.count, false) - newMeaning(0, false)
			}
			both.addMeaning(e.key, m)
		}
	}
	return both
}

// Concepts returns the number of concepts.
func (l *Lexicon) Concepts() int { return l.count }

// Sum returns the digest of the lexicon: with the same one the terms of a text are the same.
func (l *Lexicon) Sum() string { return l.sum() }

func newLexicon(terms table, single []string) *Lexicon {
	l := &Lexicon{terms: terms, single: single}
	l.near = sync.OnceValue(func() *table {
		near := &table{}
		for i, word := range l.single {
			near.addWord(word, uint32(i)) // #nosec G115 -- a term of a file
		}
		return near
	})
	l.sum = sync.OnceValue(func() string { return sumOf(l.pack()) })
	return l
}

func sumOf(packed []byte) string {
	sum := sha256.Sum256(packed)
	return string(sum[:])
}

func buildLexicon(concepts [][]term) *Lexicon {
	l := newLexicon(table{}, nil)
	l.count = len(concepts)
	for i, terms := range concepts {
		others := 0
		for _, t := range terms {
			if t.language != "fr" {
				others++
			}
		}
		for _, t := range terms {
			for _, key := range t.keys {
				l.addKey(key, newMeaning(i, t.language == "fr" || others < 2))
			}
		}
	}
	return l
}

// pack returns the lexicon in the form read by unpack.
func (l *Lexicon) pack() []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(l.count)), uint64(l.longestRun)) // #nosec G115 -- counts
	return appendTable(appendText(out, strings.Join(l.single, " ")), l.terms.entries())
}

func unpack(data string, bilingual bool) *Lexicon {
	r := reader{rest: data}
	count, longestRun, single := r.readNumber(), r.readNumber(), strings.Fields(r.readText())
	l := newLexicon(table{packed: r.readTable()}, single)
	l.count, l.longestRun, l.bilingual = int(count), int(longestRun), bilingual // #nosec G115 -- a file of the program
	l.sum = sync.OnceValue(func() string { return sumOf([]byte(data)) })
	return l
}

func (l *Lexicon) addKey(key string, m posting) {
	kind, words := key[:2], key[2:]
	if kind == asRun {
		l.addMeaning(hashOf(key), m)
		l.longestRun = max(l.longestRun, utf8.RuneCountInString(words))
		return
	}
	if _, _, known := l.meaningsOf(hashOf(key)); kind == asWritten && !known && canBeMisspelt(words) {
		l.single = append(l.single, words)
	}
	l.addMeaning(hashOf(key), m)
	for i := len(kind); i < len(key); i++ {
		if key[i] == ' ' {
			l.addMeaning(hashOf(key[:i]), longer)
		}
	}
}

// addMeaning adds a meaning to a key. If the even one and the odd one of a concept meet, the even one stays.
func (l *Lexicon) addMeaning(key feature, m posting) {
	list := l.terms.get(key)
	at, _ := slices.BinarySearch(list, m&^1)
	switch {
	case at == len(list) || list[at]>>1 != m>>1:
		list = slices.Insert(slices.Clone(list), at, m)
	case list[at] > m:
		list = slices.Clone(list)
		list[at] = m
	}
	l.terms.set(key, list)
}

func withOnce(list []int32, concept int32) []int32 {
	if slices.Contains(list, concept) {
		return list
	}
	return append(list, concept)
}

// The kinds of keys: whole words, stems, and a run of a script without spaces.
const (
	asWritten = "x "
	asEnglish = "e "
	asFrench  = "f "
	asRun     = "r "
)

// keysOf returns the keys of a term: as written, and by the stems. A term without a findable word has none.
func keysOf(language, text string) []string {
	keys := []string{asWritten}
	switch language {
	case "en":
		keys = append(keys, asEnglish)
	case "fr":
		keys = append(keys, asFrench, asFrench)
	}
	content := false
	all := tokens(text)
	for _, t := range all {
		if t.han {
			if len(all) > 1 || isStop(t.text) {
				return nil
			}
			return []string{asRun + t.text}
		}
		if t.joined || glue[t.text] && len(all) > 1 {
			continue
		}
		s := stemsIn(t.text, language == "en", language == "fr")
		content = content || !isStop(s.folded) && len(t.text) > 1
		stem := []string{s.folded, s.en, s.accented}
		if language == "fr" {
			stem[1] = s.fr
		}
		for i := range keys {
			if len(keys[i]) > len(asWritten) {
				keys[i] += " "
			}
			keys[i] += stem[i]
		}
	}
	if !content {
		return nil
	}
	return keys
}

// eachTerm calls f with the concepts of each term in the words of a text. No term goes across a nil word.
func (l *Lexicon) eachTerm(words []*stems, f func(from, to int, concepts []int32)) {
	for i := 0; i < len(words) && l.count > 0; i++ {
		l.eachTermAt(words, i, func(to int, concepts []int32) { f(i, to, concepts) })
	}
}

// eachTermAt calls f with the concepts of the terms beginning at one word, shorter ones first. If a term is there
// as written, terms with only the same stems do not count.
func (l *Lexicon) eachTermAt(words []*stems, i int, f func(to int, concepts []int32)) {
	if words[i] == nil || glue[words[i].folded] {
		return
	}
	keys := [4]feature{hashOf(asWritten), hashOf(asEnglish), hashOf(asFrench), hashOf(asFrench)}
	var gone [4]bool
	for to := i; to < len(words) && words[to] != nil; to++ {
		w := words[to]
		if to > i && glue[w.folded] {
			continue
		}
		var found []int32
		further, whole := false, false
		for k, stem := range [4]string{w.folded, w.en, w.fr, w.accented} {
			if gone[k] {
				continue
			}
			if to > i {
				keys[k] = keys[k].withText(" ")
			}
			keys[k] = keys[k].withText(stem)
			concepts, goesOn, known := l.meaningsOf(keys[k])
			gone[k], further = !known, further || goesOn
			for _, c := range concepts {
				if !whole || k == 0 {
					found = withOnce(found, c)
				}
			}
			whole = whole || k == 0 && len(found) > 0
		}
		if len(found) > 0 {
			f(to+1, found)
		}
		if !further {
			return
		}
	}
}

// scanRun calls f with each term in a run of a script without spaces.
func (l *Lexicon) scanRun(run string, f func(term string, concepts []int32)) {
	for at := range run {
		l.termsAt(run, at, l.longestRun, func(end int, concepts []int32) {
			if concepts != nil {
				f(run[at:end], concepts)
			}
		})
	}
}

// termsAt calls f with the end of each text that begins at a place of a run and has at most so many
// characters, and with the concepts of the text as a term; nil if it is not a term.
func (l *Lexicon) termsAt(run string, at, most int, f func(end int, concepts []int32)) {
	key := hashOf(asRun)
	for n, end := 0, at; n < most && end < len(run); n++ {
		_, size := utf8.DecodeRuneInString(run[end:])
		key = key.withText(run[end : end+size])
		end += size
		concepts, _, _ := l.meaningsOf(key)
		f(end, concepts)
	}
}

// eachSimilarWord calls f with the concepts of words with a very similar spelling.
func (l *Lexicon) eachSimilarWord(word string, f func(concepts []int32, likeness float64)) {
	l.near().eachWordAlike(word, func(id uint32, shared int) {
		if like := likeness(word, l.single[id], shared, true); like >= 0.8 {
			concepts, _, _ := l.meaningsOf(hashOf(asWritten, l.single[id]))
			f(concepts, like)
		}
	})
}

// asPrefix is the likeness of a word to a longer word.
const asPrefix = 0.6

// shortest is the least number of letters of a word to be found by a similar spelling.
const shortest = 4

// canBeMisspelt reports whether a word consists of letters only, enough of them to be misspelt.
func canBeMisspelt(word string) bool {
	n := 0
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return false
		}
		n++
	}
	return n >= shortest
}

// The numbers of groups are hashes by the method of Fowler, Noll and Vo (FNV-1a).
const (
	hashBasis = 2166136261
	hashPrime = 16777619
)

func hashRune(h uint32, r rune) uint32 { return (h ^ uint32(r)) * hashPrime } // #nosec G115 -- runes are not negative

// hashOf returns the number of a text by the same method, in more bits.
func hashOf(parts ...string) feature {
	f := feature(14695981039346656037)
	for _, p := range parts {
		f = f.withText(p)
	}
	return f
}

func (f feature) withText(text string) feature {
	for i := range len(text) {
		f = (f ^ feature(text[i])) * 1099511628211
	}
	return f
}

// eachTrigram calls f with a number for each three neighbouring letters of a word. The word's beginning and end
// count as letters.
func eachTrigram(word string, f func(uint32)) {
	n := 0
	var a, b rune = 0, ' '
	for _, r := range word + " " {
		if n++; n > 1 {
			f(hashRune(hashRune(hashRune(hashBasis, a), b), r))
		}
		a, b = b, r
	}
}

// likeness judges two spellings from 0 to 1: by the shared letters, or by the number of slips between the
// spellings if the query's word is unknown.
func likeness(query, known string, shared int, unknown bool) float64 {
	dice := 2 * float64(shared) / float64(len(query)+len(known))
	best := 0.0
	if dice >= 0.6 {
		best = dice
	}
	if !unknown {
		return best
	}
	slips := editDistance(query, known, 2)
	isLongWord := slips == 2 && len(query) >= 7
	if slips == 1 || isLongWord {
		best = max(best, 1-float64(slips)/float64(len(query)))
	}
	return best
}

// editDistance counts the letters to add, remove, change or swap with their neighbour. The result is greater
// than most if there are more.
func editDistance(a, b string, most int) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if a == "" || b == "" || most == 0 || len(a)-len(b) > most || len(b)-len(a) > most {
		return len(a) + len(b)
	}
	least := min(editDistance(a[1:], b[1:], most-1), editDistance(a[1:], b, most-1), editDistance(a, b[1:], most-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, editDistance(a[2:], b[2:], most-1))
	}
	return 1 + least
}
