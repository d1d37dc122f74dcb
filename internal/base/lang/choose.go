package lang

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Auto is the setting for a choice by [Choose].
const Auto = "auto"

// Settings lists the valid values of a language setting.
func Settings() []string {
	out := []string{Auto}
	for _, l := range All() {
		out = append(out, string(l))
	}
	return out
}

// Choose returns the language to use: the setting's, else the language of the script in which the person
// wrote, else the locale's.
func Choose(setting, written string, locale Language) Language {
	if l, ok := Known(setting); ok {
		return l // the text need not be read
	}
	if locale == "" {
		locale = English
	}
	if able := writtenIn(written); len(able) > 0 && !slices.Contains(able, locale) {
		return able[0]
	}
	return locale
}

// Locale returns the language of the environment, by the variables of POSIX, or English if they name no
// known one.
func Locale(getenv func(string) string) Language {
	for _, variable := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(variable); value != "" {
			tag, _, _ := strings.Cut(strings.ToLower(value), "_")
			tag, _, _ = strings.Cut(tag, "-")
			tag, _, _ = strings.Cut(tag, ".")
			l, _ := Known(tag)
			return l
		}
	}
	return English
}

// quoted matches the parts of a text with another possible author.
var quoted = pattern.New("`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|https?://\\S+")

// particles are the connecting words of English sentences. They hardly occur in texts of other languages,
// unlike names and terms in Latin letters.
var particles = []string{"a", "an", "the", "of", "to", "in", "for", "and", "or", "with", "that", "is", "are", "on", "by", "from", "it", "so", "when", "should"}

// writtenIn lists the languages in whose script a text is written. There are none if it has too few
// words to tell, or if the script has no catalogue.
//
// A sentence of any language may be full of English terms. So a character of another script counts
// as three Latin words, particles count three times if there are at least two of them, and the script
// at the beginning of the text counts half as much again.
func writtenIn(text string) []Language {
	if own := quoted.ReplaceAllString(text, " "); strings.ContainsFunc(own, unicode.IsLetter) {
		text = own
	}
	latin, others := latinWords(text), 0
	for _, r := range text {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			others++
		}
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }))
	begins := func(script *unicode.RangeTable, weight int) int {
		if unicode.Is(script, first) {
			return weight + weight/2
		}
		return weight
	}
	latin = begins(unicode.Latin, latin)
	var best, ofLatin []Language
	most := 0
	for _, c := range catalogues() {
		n := 0
		for _, r := range text {
			if unicode.Is(c.script, r) {
				n += 3
			}
		}
		switch n = begins(c.script, n); {
		case c.script == unicode.Latin:
			ofLatin = append(ofLatin, c.tag)
		case n > most:
			best, most = []Language{c.tag}, n
		case n == most && n > 0:
			best = append(best, c.tag)
		}
	}
	switch {
	case most > latin && most > 2*others:
		return best
	case latin <= 2*others || latin < 3: // one word is a term
		return nil
	}
	return append([]Language{English}, ofLatin...)
}

// latinWords weighs the words in Latin letters; a single letter is a sign.
func latinWords(text string) int {
	words, built := 0, 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.Is(unicode.Latin, r) }) {
		if len(word) > 1 {
			words++
		}
		if slices.Contains(particles, strings.ToLower(word)) {
			built++
		}
	}
	if built > 1 {
		words += 2 * built
	}
	return words
}
