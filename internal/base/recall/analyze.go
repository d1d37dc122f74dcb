package recall

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/gosimple/unidecode"
	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// longest is the greatest length of a word in bytes. The rest is left out, for example of a key or
// checksum, which nobody looks up by the end.
const longest = 64

// token is a word of a text, in small letters.
type token struct {
	text string
	// han marks a run of a script without spaces, which has more than one word.
	han bool
	// joined marks a whole compound, which follows its parts, or a word with the number behind it.
	joined bool
	// number is the number joined to a word.
	number string
	// name marks a word in capitals.
	name bool
}

// isFound reports whether documents are found by the word.
func (t token) isFound() bool { return !t.isStop() && (len(t.text) > 1 || isCount(t.text)) }

// isStop reports whether the word has no meaning. A word in capitals is a name: IT, GET.
func (t token) isStop() bool { return !t.name && isStop(fold(t.text)) }

// tokens takes a text apart. An identifier, a path or a compound gives its parts, and then the whole
// as one word: getUserById, get_user_by_id and get-user-by-id are the same, and so are sprint 4 and sprint-4.
func tokens(text string) (out []token) {
	all := []rune(norm.NFC.String(width.Fold.String(strings.ToValidUTF8(text, " "))))
	in := func(at int, is func(rune) bool) bool { return at < len(all) && is(all[at]) }
	joins := func(at int) bool { return in(at, isJoiner) && in(at+1, inWord) }
	for at, wordEnd := 0, 0; at < len(all); {
		end := at + 1
		switch {
		case isUnspaced(all[at]):
			for in(end, isUnspaced) {
				end++
			}
			out = append(out, token{text: Simplified(string(all[at:end])), han: true})
			wordEnd = end
		case inWord(all[at]):
			for in(end, inWord) || joins(end) {
				end++
			}
			whole, before := string(all[at:end]), len(out)
			out = appendWord(out, whole)
			if before > 0 && isCount(whole) && strings.Trim(string(all[wordEnd:at]), " #") == "" {
				out = appendNumbered(out, out[before-1], joinParts(whole))
			}
			wordEnd = end
		}
		at = end
	}
	return out
}

// isCount reports whether a word tells things of one name apart: a number, or one letter.
func isCount(word string) bool {
	return strings.Trim(word, "0123456789.") == "" ||
		utf8.RuneCountInString(word) == 1 && !isStop(word)
}

// appendNumbered adds a word with the number behind it, the last two characters of a run.
func appendNumbered(out []token, before token, number string) []token {
	text := before.text
	if r := []rune(text); before.han && len(r) > 2 {
		text = string(r[len(r)-2:])
	}
	if isStop(text) || isCount(text) || len(text)+len(number) > longest {
		return out
	}
	return append(out, token{text: text + number, joined: true, number: number})
}

// appendWord adds a word with all text joined to it without a space.
func appendWord(out []token, whole string) []token {
	first := len(out)
	var wholes []string
	for _, segment := range strings.FieldsFunc(whole, isJoiner) {
		humps := splitCamel(segment)
		name := len(segment) > 1 && segment == strings.ToUpper(segment) && segment != strings.ToLower(segment)
		for _, part := range humps {
			out = append(out, token{text: visible.Head(part, longest), name: name})
		}
		if len(humps) > 1 {
			wholes = append(wholes, joinParts(segment))
		}
	}
	if len(out)-first < 2 {
		return out
	}
	if all := joinParts(whole); !slices.Contains(wholes, all) {
		wholes = append(wholes, all)
	}
	for _, w := range wholes {
		if len(w) < longest {
			out = append(out, token{text: w, joined: true})
		}
	}
	return out
}

func isJoiner(r rune) bool { return strings.ContainsRune(`_-./\:@`, r) }

// joinParts returns a compound as one word. Between digits it keeps a point.
func joinParts(compound string) string {
	var b strings.Builder
	var before rune
	for _, r := range compound {
		switch {
		case !isJoiner(r):
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsDigit(before):
			b.WriteByte('.')
		}
		before = r
	}
	return b.String()
}

// splitCamel splits userId and HTTPServer at their humps. 2FA and E2E have none.
func splitCamel(s string) []string {
	if !strings.ContainsFunc(s, unicode.IsLower) {
		return []string{strings.ToLower(s)}
	}
	r := []rune(s)
	var out []string
	start := 0
	for i := 1; i < len(r); i++ {
		if !unicode.IsUpper(r[i]) || i == start {
			continue
		}
		behindAcronym := i+1 < len(r) && unicode.IsLower(r[i+1])
		if behindAcronym || !unicode.IsUpper(r[i-1]) {
			out = append(out, strings.ToLower(string(r[start:i])))
			start = i
		}
	}
	return append(out, strings.ToLower(string(r[start:])))
}

func inWord(r rune) bool {
	if isUnspaced(r) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isUnspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// fold removes the marks of letters, and writes ligatures in full.
func fold(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
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

// stems are the forms under which a word is found: the word without marks, the English stem, and the French
// stems with and without marks.
type stems struct{ folded, en, fr, accented string }

func stemsOf(text string) stems { return stemsIn(text, true, true) }

// stemsIn returns the stems of a word in English if en, and in French if fr.
func stemsIn(text string, en, fr bool) stems {
	folded := fold(text)
	s := stems{folded, folded, folded, folded}
	if isStop(folded) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.Is(unicode.Latin, r) }) {
		return s
	}
	if en {
		s.en = english.Stem(folded, true)
	}
	if fr {
		s.fr = fold(french.Stem(folded, true))
		s.accented = s.fr
	}
	if fr && folded != text {
		s.accented = fold(french.Stem(text, true))
	}
	return s
}

// forms returns the stems without repetition.
func (s stems) forms() []string {
	out := []string{s.folded, s.en, s.fr, s.accented}
	slices.Sort(out)
	return slices.Compact(out)
}

// eachBigram calls f with each pair of neighbours of a run, or with the run if it has one character.
func eachBigram(run string, f func(string)) {
	r := []rune(run)
	if len(r) == 1 {
		f(run)
	}
	for i := 1; i < len(r); i++ {
		f(string(r[i-1 : i+1]))
	}
}

// feature is a word of the index, a concept of the lexicon, or a gram, by a number of its kind.
type feature uint64

const (
	word feature = iota << 32
	concept
	gram
	spelling // of words of an index or a lexicon
)

// features are the features of a text, with repetitions.
type features []feature

// wordGrams adds the groups of three letters of a word.
func wordGrams(to features, word string) features {
	eachTrigram(word, func(g uint32) { to = append(to, gram|feature(g)) })
	return to
}

// pinyinGrams adds a number for each two neighbouring syllables of a run, so characters with a similar
// sound are the same, and so are both ways to write one.
func pinyinGrams(to features, run string) features {
	before, n := uint32(0), 0
	for _, r := range run {
		h := uint32(hashBasis)
		for _, l := range strings.TrimSpace(unidecode.Unidecode(string(r))) {
			h = hashRune(h, l)
		}
		if n++; n > 1 {
			to = append(to, gram|feature(before*hashPrime^h))
		}
		before = h
	}
	if n == 1 {
		to = append(to, gram|feature(before))
	}
	return to
}

// each calls f with every feature once, and the feature's count. The order is always the same, because sums
// of fractions depend on it.
func (all features) each(f func(one feature, n int)) {
	slices.Sort(all)
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end] == all[i] {
			end++
		}
		f(all[i], end-i)
		i = end
	}
}

//go:embed stop.txt
var stopText string

//go:embed traditional.txt
var traditionalText string

// stopWords are left out of texts and queries. weakWords prove little, because any task of a software
// project has them.
var (
	stopWords = sync.OnceValue(func() map[string]bool { return readWords(false) })
	weakWords = sync.OnceValue(func() map[string]bool { return readWords(true) })
)

func readWords(weak bool) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(stopText) {
		words, isWeak := strings.CutPrefix(line, "weak: ")
		if isWeak == weak && !strings.HasPrefix(line, "#") {
			for _, w := range strings.Fields(words) {
				out[w] = true
			}
		}
	}
	return out
}

func isStop(word string) bool { return stopWords()[word] }

func isWeak(word string) bool { return weakWords()[word] }

// glue are the stop words without weight in a term, for example in rate of change and taux du change.
var glue = map[string]bool{"a": true, "an": true, "the": true, "of": true, "to": true, "for": true, "and": true, "de": true, "du": true,
	"des": true, "d": true, "la": true, "le": true, "les": true, "l": true, "au": true, "aux": true, "un": true, "une": true, "en": true, "et": true, "s": true}

// traditional has the simplified form of characters.
var traditional = sync.OnceValue(func() map[rune]rune {
	out := map[rune]rune{}
	for _, pair := range strings.Fields(traditionalText) {
		if r := []rune(pair); len(r) == 2 {
			out[r[0]] = r[1]
		}
	}
	return out
})

// Simplified returns a text with its Chinese in simplified characters.
func Simplified(text string) string {
	simple := traditional()
	return strings.Map(func(r rune) rune {
		if r < 0x2e80 {
			return r
		}
		return cmp.Or(simple[r], r)
	}, text)
}
