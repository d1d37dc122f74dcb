package audit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of alphabets with what the checks ask of it, found out once for a document that
// may have it a hundred times.
type word struct {
	text string // in lower case
	// sum is a hash of the text, stem what its forms share.
	sum  uint64
	stem string
	// spoken are the languages that it is a small word of, follow the small English words that
	// stand behind it.
	spoken []string
	follow map[string]bool
	// times is how often the document has it, common whether English texts do.
	times  int
	common bool
	// foreign is true of another alphabet than the Latin one, mashed of what fingers type that
	// rest on the keys.
	foreign, mashed bool
	// filler is what it is in the classes of filler.
	filler []fillerWord
}

// vocabulary has the words of a document, and those of each run as it is written.
type vocabulary struct {
	words map[string]*word
	runs  map[string][]*word
}

func newVocabulary() vocabulary {
	return vocabulary{words: map[string]*word{}, runs: map[string][]*word{}}
}

// word returns the word for what is written.
func (v vocabulary) word(written string) *word {
	text := strings.ReplaceAll(strings.ToLower(written), "’", "'")
	w := v.words[text]
	if w == nil {
		l := lists()
		first, _ := utf8.DecodeRuneInString(text)
		st := stem(text)
		w = &word{
			text: text, sum: hash(seed, text), stem: st, common: l.common[st], spoken: l.spoken[text], follow: l.follow[text],
			foreign: !unicode.Is(unicode.Latin, first), mashed: mash(text), filler: l.fillerOf[text],
		}
		v.words[text] = w
	}
	return w
}

// begins reports whether words begin with those of a phrase.
func begins(words []*word, phrase []string) bool {
	if len(phrase) > len(words) {
		return false
	}
	for i, text := range phrase {
		if words[i].text != text {
			return false
		}
	}
	return true
}

// isHan reports whether a character is a Chinese one; most are seen to be none at once.
func isHan(r rune) bool { return r >= 0x2E80 && unicode.Is(unicode.Han, r) }

// seed and hash are FNV-1a over words with an end mark each, mix and mixRune a step of it over a
// hash or a character.
const seed uint64 = 14695981039346656037

func hash(h uint64, w string) uint64 {
	for i := 0; i < len(w); i++ {
		h = mix(h, uint64(w[i]))
	}
	return mix(h, 0xff)
}

func mix(h, by uint64) uint64 { return (h ^ by) * 1099511628211 }

func mixRune(h uint64, c rune) uint64 { return mix(h, uint64(c)) } //nolint:gosec // no character is negative

// rows are the rows of keyboards.
var rows = []string{"qwertyuiop", "asdfghjkl", "zxcvbnm", "poiuytrewq", "lkjhgfdsa", "mnbvcxz", "azertyuiop", "qsdfghjklm"}

// mash reports whether a word is what fingers type that rest on the keys.
func mash(w string) bool {
	if len(w) < 4 {
		return false
	}
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	vowels := strings.Count(w, "a") + strings.Count(w, "e") + strings.Count(w, "i") + strings.Count(w, "o") + strings.Count(w, "u") + strings.Count(w, "y")
	if vowels == 0 {
		return len(w) > 4
	}
	for i := 0; i+4 <= len(w); i++ {
		for _, r := range rows {
			if len(w) <= 6 && strings.Contains(r, w[i:i+4]) && !keyWords[w] {
				return true
			}
		}
	}
	// Six letters without a vowel between them stand in no word.
	run := 0
	for i := 0; i < len(w); i++ {
		if strings.IndexByte("aeiouy", w[i]) >= 0 {
			run = 0
			continue
		}
		if run++; run >= 6 {
			return true
		}
	}
	return false
}

// keyWords are words whose letters lie side by side.
var keyWords = map[string]bool{"were": true, "power": true, "tree": true, "rewrite": true, "pour": true, "property": true, "poi": true}
