package recall

import (
	_ "embed"
	"strings"
	"sync"
)

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

// glue are the stop words that do not count in a term, for example in rate of change and taux du change.
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

func simplify(run []rune) string {
	return strings.Map(func(r rune) rune {
		if s, ok := traditional()[r]; ok {
			return s
		}
		return r
	}, string(run))
}
