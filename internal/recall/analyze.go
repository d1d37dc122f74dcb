package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gosimple/unidecode"
	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// longest is the number of bytes of a word after which the rest is left out: keys and
// checksums are not found by their ends.
const longest = 64

// token is a word of a text, in small letters.
type token struct {
	text string
	// han marks a run of a script without spaces, which has more than one word.
	han bool
	// joined marks the parts of a compound as one word; it follows them.
	joined bool
	// compound numbers the compounds of a text from 1; 0 is a word by itself.
	compound int
}

// tokens takes a text apart. An identifier, a path or a compound gives its parts, and then
// what is written together in one: getUserById, get_user_by_id and get-user-by-id are the same.
func tokens(text string) []token {
	s := scanner{text: []rune(norm.NFC.String(width.Fold.String(strings.ToValidUTF8(text, " "))))}
	for s.at < len(s.text) {
		switch r := s.text[s.at]; {
		case unspaced(r):
			s.run()
		case inWord(r):
			s.word()
		default:
			s.at++
		}
	}
	return s.out
}

type scanner struct {
	text      []rune
	at        int
	compounds int
	out       []token
}

// run takes a run of characters of a script without spaces.
func (s *scanner) run() {
	start := s.at
	for s.at < len(s.text) && unspaced(s.text[s.at]) {
		s.at++
	}
	s.out = append(s.out, token{text: simplified(s.text[start:s.at]), han: true})
}

// word takes a word with everything that is joined to it without a space.
func (s *scanner) word() {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		r := s.text[s.at]
		if inWord(r) {
			continue
		}
		if !strings.ContainsRune(joiners, r) || s.at+1 == len(s.text) || !inWord(s.text[s.at+1]) {
			break
		}
	}
	whole := s.text[start:s.at]
	parts := 0
	var ends []token
	for _, path := range strings.FieldsFunc(string(whole), func(r rune) bool { return strings.ContainsRune(`/\:`, r) }) {
		inPath := 0
		for _, segment := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(joiners, r) }) {
			humps := camel(segment)
			for _, part := range humps {
				s.out = append(s.out, token{text: clipped(part, longest), compound: s.compounds + 1})
			}
			if len(humps) > 1 {
				ends = append(ends, joined(segment))
			}
			inPath += len(humps)
		}
		if inPath > 1 {
			ends = append(ends, joined(path))
		}
		parts += inPath
	}
	if parts < 2 {
		s.out[len(s.out)-1].compound = 0
		return
	}
	s.compounds++
	for i, t := range append(ends, joined(string(whole))) {
		if t.compound = s.compounds; len(t.text) < longest && (i == 0 || t.text != s.out[len(s.out)-1].text) {
			s.out = append(s.out, t)
		}
	}
}

const joiners = `_-./\:@`

// joined returns a compound without what joins it; between digits a point stays.
func joined(compound string) token {
	var b strings.Builder
	var before rune
	for _, r := range compound {
		switch {
		case !strings.ContainsRune(joiners, r):
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsDigit(before):
			b.WriteByte('.')
		}
		before = r
	}
	return token{text: clipped(b.String(), longest), joined: true}
}

// camel splits userId and HTTPServer at their humps.
func camel(s string) []string {
	r := []rune(s)
	var out []string
	start := 0
	for i := 1; i < len(r); i++ {
		if unicode.IsUpper(r[i]) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) && i-start > 0 {
			out = append(out, strings.ToLower(string(r[start:i])))
			start = i
		}
	}
	return append(out, strings.ToLower(string(r[start:])))
}

func clipped(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unspaced(r)
}

func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// fold removes the marks of letters, and writes ligatures in full.
func fold(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return s
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'œ':
			b.WriteString("oe")
		case r == 'æ':
			b.WriteString("ae")
		case r == 'ß':
			b.WriteString("ss")
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// stems are the forms under which a word is found: without its marks, and its stems in English
// and French, the latter of the word with and without its marks.
type stems struct{ folded, en, fr, accented string }

func stemsOf(text string) stems {
	s := stems{folded: fold(text)}
	s.en, s.fr, s.accented = s.folded, s.folded, s.folded
	if stopWords()[s.folded] || strings.ContainsFunc(text, func(r rune) bool { return !unicode.Is(unicode.Latin, r) }) {
		return s
	}
	s.en = english.Stem(s.folded, true)
	s.fr = fold(french.Stem(s.folded, true))
	s.accented = s.fr
	if s.folded != text {
		s.accented = fold(french.Stem(text, true))
	}
	return s
}

// forms returns the stems without repetition.
func (s stems) forms() []string {
	out := make([]string, 0, 4)
	for _, f := range []string{s.folded, s.en, s.fr, s.accented} {
		known := false
		for _, o := range out {
			known = known || o == f
		}
		if !known {
			out = append(out, f)
		}
	}
	return out
}

// eachBigram gives each pair of neighbours of a run; one character alone gives itself.
func eachBigram(run string, f func(string)) {
	_, size := utf8.DecodeRuneInString(run)
	if size == len(run) {
		f(run)
		return
	}
	for at := 0; at < len(run); {
		_, first := utf8.DecodeRuneInString(run[at:])
		_, second := utf8.DecodeRuneInString(run[at+first:])
		if second == 0 {
			return
		}
		f(run[at : at+first+second])
		at += first
	}
}

// hash is that of Fowler, Noll and Vo.
const (
	hashBasis = 2166136261
	hashPrime = 16777619
)

func hashed(h uint32, r rune) uint32 { return (h ^ uint32(r)) * hashPrime } // #nosec G115 -- runes are not negative

// grams are numbers of parts of a text; each counts as often as it is there.
type grams []uint32

// wordGrams adds a number for each three and four neighbouring letters of a word, whose
// beginning and end count as letters.
func wordGrams(to grams, word string) grams {
	letters := append(append(make([]rune, 0, len(word)+2), ' '), []rune(word)...)
	letters = append(letters, ' ')
	for i := range letters {
		h := uint32(hashBasis)
		for n := 0; n < 4 && i+n < len(letters); n++ {
			if h = hashed(h, letters[i+n]); n >= 2 {
				to = append(to, h)
			}
		}
	}
	return to
}

// pinyinGrams adds a number for each two neighbouring syllables of a run, so that characters
// that sound alike, and both ways to write one, are the same.
func pinyinGrams(to grams, run string) grams {
	before, n := uint32(0), 0
	for _, r := range run {
		h := uint32(hashBasis)
		for _, l := range strings.TrimSpace(unidecode.Unidecode(string(r))) {
			h = hashed(h, l)
		}
		if n++; n > 1 {
			to = append(to, before*hashPrime^h)
		}
		before = h
	}
	if n == 1 {
		to = append(to, before)
	}
	return to
}

// each gives every gram once, with its count, always in the same order: sums of fractions depend
// on it.
func (g grams) each(f func(gram uint32, n int)) {
	slices.Sort(g)
	for i := 0; i < len(g); {
		end := i + 1
		for end < len(g) && g[end] == g[i] {
			end++
		}
		f(g[i], end-i)
		i = end
	}
}
