package recall

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

//go:embed lexicon.tsv
var builtinText []byte

// Builtin returns the lexicon of software work and its everyday domains that comes with the
// program. It is read at the first call.
var Builtin = sync.OnceValue(func() *Lexicon {
	l, _ := ParseLexicon("lexicon.tsv", builtinText)
	return l
})

// Lexicon holds concepts: words and phrases of several languages that mean the same. It does
// not change, so that any number of indexes may share it.
type Lexicon struct {
	concepts [][]term
	// phrases has a node for each term and each beginning of one, by the stems of its words
	// behind the letter of their language.
	phrases map[string]node
	// runs has the terms of scripts without spaces; longestRun is in characters.
	runs       map[string][]int32
	longestRun int
	// near and single find a concept by a misspelt word.
	near   spellings
	single []spelling
}

type term struct{ language, text string }

type node struct {
	concepts []int32
	longer   bool
}

type spelling struct {
	word     string
	concepts []int32
}

// maxLine bounds a line of a lexicon.
const maxLine = 8 << 10

// ParseLexicon reads concepts, one on a line: a cell for each language, parted by tabs, each
// with the language's tag and its terms, parted by bars: en|invoice|bill. Empty lines and lines
// that begin with # are skipped. The problems name the lines that are left out, and why.
func ParseLexicon(name string, tsv []byte) (*Lexicon, []lang.Text) {
	var concepts [][]term
	var problems []lang.Text
	n := 0
	for line := range strings.Lines(string(tsv)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		terms, problem := parseConcept(line)
		if problem != nil {
			problems = append(problems, lang.T("%s:%d: %s", name, n, *problem))
			continue
		}
		concepts = append(concepts, terms)
	}
	return build(concepts), problems
}

func parseConcept(line string) ([]term, *lang.Text) {
	refuse := func(t lang.Text) ([]term, *lang.Text) { return nil, &t }
	if !utf8.ValidString(line) {
		return refuse(lang.T("the line is not UTF-8; save the file as UTF-8"))
	}
	if len(line) > maxLine {
		return refuse(lang.T("the line is longer than %d bytes; split the concept", maxLine))
	}
	var out []term
	for _, cell := range strings.Split(line, "\t") {
		words := strings.Split(cell, "|")
		tag := strings.TrimSpace(words[0])
		if len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
			return refuse(lang.T("the cell %q does not begin with a language such as en, fr or zh and a bar", cell))
		}
		for _, w := range words[1:] {
			if w = strings.TrimSpace(w); len(keyed(tag, w)) == 0 {
				return refuse(lang.T("the term %q of %q has only stop words, or mixes scripts; give a term with a word of its own", w, tag))
			}
			out = append(out, term{tag, w})
		}
	}
	if len(out) < 2 {
		return refuse(lang.T("a concept needs two terms or more, parted by | or by a tab"))
	}
	return out, nil
}

// With returns a lexicon that has the concepts of both. A term of both has the meanings of both.
func (l *Lexicon) With(more *Lexicon) *Lexicon {
	return build(append(append([][]term{}, l.concepts...), more.concepts...))
}

// Concepts returns the number of concepts.
func (l *Lexicon) Concepts() int { return len(l.concepts) }

func build(concepts [][]term) *Lexicon {
	l := &Lexicon{concepts: concepts, phrases: map[string]node{}, runs: map[string][]int32{}, near: spellings{}}
	singles := map[string]int{}
	for i, terms := range concepts {
		concept := int32(i) // #nosec G115 -- a file's lines
		for _, t := range terms {
			for _, key := range keyed(t.language, t.text) {
				if key.run {
					l.runs[key.words[0]] = with(l.runs[key.words[0]], concept)
					l.longestRun = max(l.longestRun, utf8.RuneCountInString(key.words[0]))
					continue
				}
				l.addPhrase(key.language, key.words, concept)
			}
			l.addSingle(singles, t.text, concept)
		}
	}
	return l
}

func (l *Lexicon) addPhrase(language string, words []string, concept int32) {
	path := language
	for i, w := range words {
		path += " " + w
		n := l.phrases[path]
		if i+1 < len(words) {
			n.longer = true
		} else {
			n.concepts = with(n.concepts, concept)
		}
		l.phrases[path] = n
	}
}

func (l *Lexicon) addSingle(known map[string]int, text string, concept int32) {
	w := fold(strings.ToLower(text))
	if !spelt(w) {
		return
	}
	i, ok := known[w]
	if !ok {
		i = len(l.single)
		known[w] = i
		l.single = append(l.single, spelling{word: w})
		l.near.add(w, uint32(i)) // #nosec G115 -- a file's terms
	}
	l.single[i].concepts = with(l.single[i].concepts, concept)
}

func with(list []int32, concept int32) []int32 {
	if n := len(list); n > 0 && list[n-1] == concept {
		return list
	}
	return append(list, concept)
}

// key is what a term is found by.
type key struct {
	language string
	words    []string
	run      bool
}

// keyed returns the keys of a term: as written, and by its stems. There are none for a term
// that could not be found.
func keyed(language, text string) []key {
	var exact, en, fr, accented []string
	content := false
	all := tokens(text)
	for _, t := range all {
		if t.han {
			if len(all) > 1 || stopWords()[t.text] {
				return nil
			}
			return []key{{words: []string{t.text}, run: true}}
		}
		if t.joined || glue[t.text] && len(all) > 1 {
			continue
		}
		content = content || !stopWords()[fold(t.text)] && len(t.text) > 1
		s := stemsOf(t.text)
		exact, en, fr, accented = append(exact, s.folded), append(en, s.en), append(fr, s.fr), append(accented, s.accented)
	}
	switch {
	case !content:
		return nil
	case language == "fr":
		return []key{{language: asWritten, words: exact}, {language: "f", words: fr}, {language: "f", words: accented}}
	case language == "en":
		return []key{{language: asWritten, words: exact}, {language: "e", words: en}}
	}
	return []key{{language: asWritten, words: exact}}
}

// asWritten stands for the language of keys of whole words.
const asWritten = "x"

// scan gives the concepts of each term in the words of a text. A nil entry of words separates.
func (l *Lexicon) scan(words []*stems, f func(from, to int, concepts []int32)) {
	for i := range words {
		l.from(words, i, func(to int, concepts []int32) { f(i, to, concepts) })
	}
}

// from gives the concepts of the terms that begin at one word, shorter ones first. Where a term
// is there as written, those that share only its stems do not count.
func (l *Lexicon) from(words []*stems, i int, f func(to int, concepts []int32)) {
	if words[i] == nil || glue[words[i].folded] {
		return
	}
	var room [4][96]byte
	paths := [4][]byte{append(room[0][:0], 'x'), append(room[1][:0], 'e'), append(room[2][:0], 'f'), append(room[3][:0], 'f')}
	for to := i; to < len(words) && words[to] != nil; to++ {
		w := words[to]
		if to > i && glue[w.folded] {
			continue
		}
		var found, exact []int32
		longer := false
		for k, stem := range [4]string{w.folded, w.en, w.fr, w.accented} {
			if paths[k] == nil {
				continue
			}
			paths[k] = append(append(paths[k], ' '), stem...)
			n, ok := l.phrases[string(paths[k])]
			if !ok {
				paths[k] = nil
				continue
			}
			longer = longer || n.longer
			if k == 0 {
				exact = n.concepts
			}
			for _, c := range n.concepts {
				found = withOnce(found, c)
			}
		}
		if len(exact) > 0 {
			found = exact
		}
		if len(found) > 0 {
			f(to+1, found)
		}
		if !longer {
			return
		}
	}
}

func withOnce(list []int32, concept int32) []int32 {
	for _, c := range list {
		if c == concept {
			return list
		}
	}
	return append(list, concept)
}

// scanRun gives each term in a run of a script without spaces.
func (l *Lexicon) scanRun(run string, f func(at int, term string, concepts []int32)) {
	for at := range run {
		end := at
		for n := 0; n < l.longestRun && end < len(run); n++ {
			_, size := utf8.DecodeRuneInString(run[end:])
			end += size
			if c := l.runs[run[at:end]]; c != nil {
				f(at, run[at:end], c)
			}
		}
	}
}

// misspelt gives the concepts of words with a similar spelling, and of those that begin with
// the word, which may be short for them.
func (l *Lexicon) misspelt(word string, f func(concept int32, likeness float64)) {
	l.near.find(word, func(id uint32, shared int) {
		s := l.single[id]
		like := likeness(word, s.word, shared, true)
		if like == 0 && strings.HasPrefix(s.word, word) {
			like = asPrefix
		}
		if like > 0 {
			for _, c := range s.concepts {
				f(c, like)
			}
		}
	})
}
