package audit

import (
	"slices"
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

// longestPhrase returns the length of the longest phrase that words begin with.
func longestPhrase(phrases [][]string, words []*word) (n int) {
	for _, p := range phrases {
		if len(p) > n && len(p) <= len(words) && slices.EqualFunc(words[:len(p)], p, (*word).is) {
			n = len(p)
		}
	}
	return n
}

func (w *word) is(text string) bool { return w.text == text }
