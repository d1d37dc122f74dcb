package audit

import (
	"strings"
)

// word is a word of alphabets with the facts that checks ask for, found once for a document that
// may have it a hundred times.
type word struct {
	text string // in lower case
	// spoken are the languages that it is a small word of.
	spoken []string
	// times is how often the document has it.
	times int
	// filler are its entries in the classes of filler.
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

// word returns the word of a spelling.
func (v vocabulary) word(written string) *word {
	text := strings.ReplaceAll(strings.ToLower(written), "’", "'")
	w := v.words[text]
	if w == nil {
		l := lists()
		w = &word{text: text, spoken: l.spoken[text], filler: l.fillerOf[text]}
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
