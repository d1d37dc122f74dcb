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
