package lang

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Auto is the setting that leaves the language to [Choose].
const Auto = "auto"

// Settings lists the valid values of a setting that names a language.
func Settings() []string {
	out := []string{Auto}
	for _, l := range All() {
		out = append(out, string(l))
	}
	return out
}

// Choose returns the language to speak: the one that the setting names, else that of the
// script in which the person wrote, else that of the locale.
func Choose(setting, written string, locale Language) Language {
	if l, ok := Known(setting); ok {
		return l
	}
	if able := writtenIn(written); len(able) > 0 && !slices.Contains(able, locale) {
		return able[0]
	}
	return locale
}

// Locale returns the language of the environment, by the variables of POSIX, and English where
// it names none that is known.
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

// quoted are the parts of a text that its author may have taken from elsewhere.
var quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|https?://\\S+")

// particles are the words that an English sentence is built with. Names and terms in Latin
// letters stand in texts of every language, these hardly do.
var particles = []string{"a", "an", "the", "of", "to", "in", "for", "and", "or", "with", "that", "is", "are", "on", "by", "from", "it", "so", "when", "should"}

// writtenIn lists the languages in whose script most of a text is written; none where it has no
// words, or those of a script without a catalogue. A particle counts three times; so does
// nothing else, since a sentence of any language may be full of English terms.
func writtenIn(text string) []Language {
	text = quoted.ReplaceAllString(text, " ")
	latin := 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.Is(unicode.Latin, r) }) {
		latin++
		if slices.Contains(particles, strings.ToLower(word)) {
			latin += 2
		}
	}
	best, most, others := []Language(nil), 0, 0
	for _, c := range catalogues() {
		if n := 2 * lettersOf(text, c.script); c.script != unicode.Latin && n > most {
			best, most = []Language{c.tag}, n
		} else if n == most && n > 0 {
			best = append(best, c.tag)
		}
	}
	for _, r := range text {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			others++
		}
	}
	switch {
	case most >= latin && most > others:
		return best
	case latin <= 2*others || latin == 0:
		return nil
	}
	out := []Language{English}
	for _, c := range catalogues() {
		if c.script == unicode.Latin {
			out = append(out, c.tag)
		}
	}
	return out
}

func lettersOf(text string, script *unicode.RangeTable) int {
	n := 0
	for _, r := range text {
		if unicode.Is(script, r) {
			n++
		}
	}
	return n
}
