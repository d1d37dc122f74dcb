package recall

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lexicon.tsv
var builtinText []byte

// Builtin returns the lexicon of software work and its everyday domains that comes with the
// program. It is read at the first call.
var Builtin = sync.OnceValue(func() *Lexicon {
	l, _ := ParseLexicon(builtinText)
	return l
})

// Lexicon holds concepts: words and phrases of several languages that mean the same. It does
// not change, so that any number of indexes may share it.
type Lexicon struct {
	concepts [][]term
	// phrases has a node for each term, and for each beginning of one at the end of a word.
	phrases map[string]node
	// runs has the terms of scripts without spaces; longestRun is in characters.
	runs       map[string][]int32
	longestRun int
	// near returns the index that finds the words in single, which are terms, by a misspelt word. It is
	// made for the first word that is looked for.
	near   func() spellings
	single []string
}

// term is a word or a phrase of a language, with the keys that find it.
type term struct {
	language, text string
	keys           []string
}

type node struct {
	concepts []int32
	longer   bool
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

// LineError is a line of a lexicon that is left out.
type LineError struct {
	Line int
	Flaw Flaw
	// Text is the cell or term with the flaw, if it is of one, Language the tag of the term.
	Text, Language string
}

// ParseLexicon reads concepts, one on a line: a cell for each language, separated by tabs, with the
// language's tag and its terms, separated by bars, for example en|invoice|bill. It skips empty lines
// and lines that begin with #. The errors name the lines that are left out.
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
	return build(concepts), left
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

// With returns a lexicon that has the concepts of both. A term of both has the meanings of both.
func (l *Lexicon) With(more *Lexicon) *Lexicon {
	return build(append(append([][]term{}, l.concepts...), more.concepts...))
}

// Concepts returns the number of concepts.
func (l *Lexicon) Concepts() int { return len(l.concepts) }

func build(concepts [][]term) *Lexicon {
	l := &Lexicon{concepts: concepts, phrases: map[string]node{}, runs: map[string][]int32{}}
	l.near = sync.OnceValue(func() spellings {
		near := spellings{}
		for i, word := range l.single {
			near.add(word, uint32(i)) // #nosec G115 -- a term of a file
		}
		return near
	})
	for i, terms := range concepts {
		for _, t := range terms {
			for _, key := range t.keys {
				l.add(key, int32(i)) // #nosec G115 -- a line of a file
			}
		}
	}
	return l
}

func (l *Lexicon) add(key string, concept int32) {
	kind, words := key[:2], key[2:]
	if kind == asRun {
		l.runs[words] = withOnce(l.runs[words], concept)
		l.longestRun = max(l.longestRun, utf8.RuneCountInString(words))
		return
	}
	n, known := l.phrases[key]
	if kind == asWritten && !known && spelt(words) {
		l.single = append(l.single, words)
	}
	n.concepts = withOnce(n.concepts, concept)
	l.phrases[key] = n
	for i := len(kind); i < len(key); i++ {
		if key[i] == ' ' {
			n = l.phrases[key[:i]]
			n.longer = true
			l.phrases[key[:i]] = n
		}
	}
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

// keysOf returns the keys of a term: as written, and by its stems. A term that could not be found has
// none.
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
			if len(all) > 1 || stopWords()[t.text] {
				return nil
			}
			return []string{asRun + t.text}
		}
		if t.joined || glue[t.text] && len(all) > 1 {
			continue
		}
		s := stemsIn(t.text, language == "en", language == "fr")
		content = content || !stopWords()[s.folded] && len(t.text) > 1
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

// scan calls f with the concepts of each term in the words of a text. No term goes across a nil word.
func (l *Lexicon) scan(words []*stems, f func(from, to int, concepts []int32)) {
	for i := 0; i < len(words) && len(l.phrases) > 0; i++ {
		l.from(words, i, func(to int, concepts []int32) { f(i, to, concepts) })
	}
}

// from calls f with the concepts of the terms that begin at one word, shorter ones first. If a term is
// there as written, those that share only its stems do not count.
func (l *Lexicon) from(words []*stems, i int, f func(to int, concepts []int32)) {
	if words[i] == nil || glue[words[i].folded] {
		return
	}
	keys := [4][]byte{[]byte(asWritten), []byte(asEnglish), []byte(asFrench), []byte(asFrench)}
	for to := i; to < len(words) && words[to] != nil; to++ {
		w := words[to]
		if to > i && glue[w.folded] {
			continue
		}
		var found []int32
		longer, whole := false, false
		for k, stem := range [4]string{w.folded, w.en, w.fr, w.accented} {
			if keys[k] == nil {
				continue
			}
			if to > i {
				keys[k] = append(keys[k], ' ')
			}
			keys[k] = append(keys[k], stem...)
			n, ok := l.phrases[string(keys[k])]
			if !ok {
				keys[k] = nil
				continue
			}
			longer = longer || n.longer
			for _, c := range n.concepts {
				if !whole || k == 0 {
					found = withOnce(found, c)
				}
			}
			whole = whole || k == 0 && len(found) > 0
		}
		if len(found) > 0 {
			f(to+1, found)
		}
		if !longer {
			return
		}
	}
}

// scanRun calls f with each term in a run of a script without spaces.
func (l *Lexicon) scanRun(run string, f func(term string, concepts []int32)) {
	for at := range run {
		end := at
		for n := 0; n < l.longestRun && end < len(run); n++ {
			_, size := utf8.DecodeRuneInString(run[end:])
			end += size
			if c := l.runs[run[at:end]]; c != nil {
				f(run[at:end], c)
			}
		}
	}
}

// misspelt calls f with the concepts of words with a very similar spelling.
func (l *Lexicon) misspelt(word string, f func(concepts []int32, likeness float64)) {
	l.near().find(word, func(id uint32, shared int) {
		if like := likeness(word, l.single[id], shared, true); like >= 0.8 {
			f(l.phrases[asWritten+l.single[id]].concepts, like)
		}
	})
}

// spellings finds words by common letters: it has the words for each three neighbouring letters.
type spellings map[uint32][]uint32

// asPrefix is the likeness of a word to one that begins with it.
const asPrefix = 0.6

// shortest is the least number of letters of a word that is found by a similar spelling.
const shortest = 4

func (s spellings) add(word string, id uint32) {
	if !spelt(word) {
		return
	}
	threes(word, func(g uint32) {
		if list := s[g]; len(list) == 0 || list[len(list)-1] != id {
			s[g] = append(list, id)
		}
	})
}

// spelt reports whether a word is of letters only, and long enough to be misspelt.
func spelt(word string) bool {
	n := 0
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return false
		}
		n++
	}
	return n >= shortest
}

// find calls f with the words that share groups of three letters with this one, and their number.
func (s spellings) find(word string, f func(id uint32, shared int)) {
	var ids []uint32
	threes(word, func(g uint32) { ids = append(ids, s[g]...) })
	slices.Sort(ids)
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n] == ids[0] {
			n++
		}
		f(ids[0], n)
		ids = ids[n:]
	}
}

// The numbers of groups are hashes by the method of Fowler, Noll and Vo (FNV-1a).
const (
	hashBasis = 2166136261
	hashPrime = 16777619
)

func hash(h uint32, r rune) uint32 { return (h ^ uint32(r)) * hashPrime } // #nosec G115 -- runes are not negative

// threes calls f with a number for each three neighbouring letters of a word, whose beginning and end
// count as letters.
func threes(word string, f func(uint32)) {
	n := 0
	var a, b rune = 0, ' '
	for _, r := range word + " " {
		if n++; n > 1 {
			f(hash(hash(hash(hashBasis, a), b), r))
		}
		a, b = b, r
	}
}

// likeness judges two spellings from 0 to 1: by the letters that they share, or by the number of slips
// between them if the query's word is unknown.
func likeness(query, known string, shared int, unknown bool) float64 {
	dice := 2 * float64(shared) / float64(len(query)+len(known))
	best := 0.0
	if dice >= 0.6 {
		best = dice
	}
	if !unknown {
		return best
	}
	if slips := distance(query, known, 2); slips == 1 || slips == 2 && len(query) >= 7 {
		best = max(best, 1-float64(slips)/float64(len(query)))
	}
	return best
}

// distance counts the letters to add, remove, change or swap with their neighbour. If there are more than most,
// it is greater than that.
func distance(a, b string, most int) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if a == "" || b == "" || most == 0 || len(a)-len(b) > most || len(b)-len(a) > most {
		return len(a) + len(b)
	}
	least := min(distance(a[1:], b[1:], most-1), distance(a[1:], b, most-1), distance(a, b[1:], most-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, distance(a[2:], b[2:], most-1))
	}
	return 1 + least
}
