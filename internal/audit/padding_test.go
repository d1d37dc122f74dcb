package audit

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	sentenceExpression = regexp.MustCompile(`[.!?]\s+|[。！？；]`)
	bracketExpression  = regexp.MustCompile(`[(（][^()（）]{0,60}[)）]`)
)

// FuzzSentences compares the readers of sentences with the expressions that say what they read.
func FuzzSentences(f *testing.F) {
	for _, text := range []string{"", "a", "A. b", "a.b", "a.  ", "。。", "a！b？c；", "a?\t\nb", "(", "()", "((a)b)", "（a) c", "(" + strings.Repeat("x", 60) + ")", "(" + strings.Repeat("x", 61) + ")", "FR-1 (Must) ÀB_c ⅣⱯ", "\xff(a\xff)", "一(二)三 3。"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := slices.Collect(sentencesOf(text)), sentenceExpression.Split(text, -1); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		want := bracketExpression.ReplaceAllString(text, " ")
		if got := withoutBrackets(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		want = strings.Join(strings.FieldsFunc(strings.Map(unicode.ToLower, idExpression.ReplaceAllString(want, " ")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
		if got := plainWords(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}

// TestPassagesOfRubrics reads the texts of each rubric together, and one by one.
func TestPassagesOfRubrics(t *testing.T) {
	for _, st := range workflow.Default().Stages {
		r, err := embedded(st)
		if err != nil {
			t.Fatal(err)
		}
		want := map[uint64]bool{}
		for _, text := range r.spoken() {
			for _, s := range readText(text, nil).prose().sentences {
				words, han := s.passages()
				for _, key := range append(words, han...) {
					want[key] = true
				}
			}
		}
		if got := r.passages(); len(want) < 100 || !maps.Equal(got, want) {
			t.Errorf("%s: got %d passages, want %d", st.ID, len(got), len(want))
		}
	}
}
