package recall_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

func termsOf(text string) (words, concepts []recall.Term) {
	recall.NewTerms(recall.Builtin()).Each(text, func(_ int, one recall.Term) {
		if one.IsConcept() {
			concepts = append(concepts, one)
		} else {
			words = append(words, one)
		}
	})
	return words, concepts
}

// TestTerms: texts share a word if one has it in another form or in an identifier, and a concept if they mean the same.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		name, a, b     string
		words, concept bool
	}{
		{"inflections", "retries", "retry", true, true},
		{"spellings of an identifier", "getUserById", "get_user_by_id", true, true},
		{"a part of an identifier", "maxUploadSize", "the uploads", true, true},
		{"an acronym", "HTTPServer", "server", true, true},
		{"a meaning in another language", "重试", "retryCount", false, true},
		{"a run of characters", "磁盘已满", "磁盘", true, true},
		{"accents", "café", "CAFE", true, false},
		{"stop words", "what is the", "is the what", false, false},
		{"one letter", "i", "i", false, false},
		{"other words", "invoice", "socket", false, false},
		{"encoded data", strings.Repeat("a", 300), strings.Repeat("a", 300), false, false},
		{"a long text beyond ASCII", strings.Repeat("数据库", 200), "数据库", true, true},
		{"stray bytes", "retry\xff\xfe", "retry", true, true},
		{"nothing", "", " \n\t", false, false},
	} {
		share := func(a, b []recall.Term) bool {
			return slices.ContainsFunc(a, func(one recall.Term) bool { return slices.Contains(b, one) })
		}
		aWords, aConcepts := termsOf(c.a)
		bWords, bConcepts := termsOf(c.b)
		if got := share(aWords, bWords); got != c.words {
			t.Errorf("%s: they share a word: %v", c.name, got)
		}
		if got := share(aConcepts, bConcepts); got != c.concept && c.concept {
			t.Errorf("%s: they share a concept: %v", c.name, got)
		}
	}
}

// TestTermsAreRemembered: the terms of a text do not depend on the texts before, however many there were.
func TestTermsAreRemembered(t *testing.T) {
	collect := func(terms *recall.Terms, text string) (out []recall.Term, places []int) {
		terms.Each(text, func(at int, one recall.Term) { out, places = append(out, one), append(places, at) })
		return out, places
	}
	const text = "func parseRetryDelay(h http.Header) // 重试"
	terms := recall.NewTerms(recall.Builtin())
	want, places := collect(terms, text)
	for i := range 20_000 {
		collect(terms, strings.Repeat("x", i%40)+strings.Repeat("y", i/500))
	}
	if got, _ := collect(terms, text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if first := places[0]; first != strings.Index(text, "func") || places[len(places)-1] != strings.Index(text, "重试") {
		t.Errorf("the places are %v", places)
	}
}
