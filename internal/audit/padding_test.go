package audit

import (
	"regexp"
	"slices"
	"testing"
)

var sentenceExpression = regexp.MustCompile(`[.!?]\s+|[。！？；]`)

// FuzzSentences compares the reader of sentences with the expression that defines them.
func FuzzSentences(f *testing.F) {
	for _, text := range []string{"", "a", "A. b", "a.b", "a.  ", "。。", "a！b？c；", "a?\t\nb", "\xff.\xff", "一。 二 3。"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := slices.Collect(sentencesOf(text)), sentenceExpression.Split(text, -1); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}
