package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// alike maps letters of other scripts to those that they look like.
var alike = func() map[rune]rune {
	from, to := []rune("аеорсухіѕјԁһԛԝкмтвнαεοικνρτυχωɑɡıłøđ"), []rune("aeopcyxisjdhqwkmtbhaeoiknptuxwagilod")
	out := map[rune]rune{}
	for i, r := range from {
		out[r] = to[i]
	}
	return out
}()

// tagBlock has invisible copies of the characters of ASCII.
const tagBlock = 0xe0000

func tagCharacter(r rune) bool { return r > tagBlock && r < tagBlock+utf8.RuneSelf }

// plainText returns a text as a model reads it that is not deceived by its characters: without
// invisible ones and marks, with those of full width, of mathematics and of other scripts as the
// letters that they look like. at has the place in text of each of its bytes; nil if the text
// is plain already.
func plainText(text string) (plain string, at []int) {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text, nil
	}
	var out strings.Builder
	for i, r := range text {
		for _, p := range plainRune(r) {
			out.WriteRune(p)
			for range utf8.RuneLen(p) {
				at = append(at, i)
			}
		}
	}
	return out.String(), append(at, len(text))
}

func plainRune(r rune) string {
	switch {
	case r < utf8.RuneSelf:
		return string(r)
	case tagCharacter(r):
		return string(r - tagBlock)
	case unicode.In(r, unicode.Zs), r == '\u2028', r == '\u2029':
		return " "
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return ""
	case unicode.Is(unicode.Han, r):
		return string(r)
	}
	var out strings.Builder
	for _, d := range norm.NFKD.String(string(r)) {
		if unicode.Is(unicode.Mn, d) {
			continue
		}
		if a, ok := alike[unicode.ToLower(d)]; ok {
			d = a
		}
		out.WriteRune(d)
	}
	return out.String()
}

// wordsOf returns the words of a plain text in lower case with single spaces, the same with the ends
// of sentences as a dot, and the same without any space: people spread out the letters of a word to
// hide it.
func wordsOf(plain string) (words, sentences, joined string) {
	var out strings.Builder
	space := func() {
		if !strings.HasSuffix(out.String(), " ") {
			out.WriteByte(' ')
		}
	}
	space()
	for _, r := range strings.ToLower(plain) {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r):
			out.WriteRune(r)
			continue
		case strings.ContainsRune(".!?;:。！？；", r):
			space()
			out.WriteByte('.')
		}
		space()
	}
	sentences = out.String()
	words = strings.TrimRight(strings.ReplaceAll(sentences, ". ", ""), " ") + " "
	return words, sentences + " . ", strings.ReplaceAll(words, " ", "")
}
