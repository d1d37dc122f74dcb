package untrusted

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

//go:embed suspicious.rules
var suspiciousRules string

// forms are the forms of a text for rules, made by wordsOf and plainText.
const (
	inJoined    = "joined"
	inWords     = "words"
	inSentences = "sentences"
	inText      = "text"
)

// address is a pattern of rules of one form.
type address struct {
	form    string
	matches *pattern.Pattern
}

// addresses joins consecutive rules of one form to a pattern: a pattern with too much to tell apart forgets its
// states, and is slow.
var addresses = sync.OnceValue(func() (out []address) {
	var together []string
	rules := readRules(suspiciousRules)
	for i, rule := range rules {
		together = append(together, expressionOf(rule))
		if i+1 == len(rules) || rules[i+1][0] != rule[0] {
			out = append(out, address{rule[0], pattern.New(joinRules(together))})
			together = nil
		}
	}
	return out
})

// expressionOf returns the expression of a rule.
func expressionOf(rule []string) string {
	if rule[0] == inText {
		return rule[1]
	}
	return strings.ReplaceAll(rule[1], "_", " ")
}

// joinRules returns the expression of all rules. Rules between spaces share the spaces, so that a pattern has
// less to tell apart.
func joinRules(rules []string) string {
	var between, others []string
	for _, rule := range rules {
		if strings.HasPrefix(rule, " ") && strings.HasSuffix(rule, " ") {
			between = append(between, strings.TrimSuffix(rule[1:], " "))
		} else {
			others = append(others, rule)
		}
	}
	if len(between) > 0 {
		others = append(others, " (?:"+strings.Join(between, "|")+") ")
	}
	return strings.Join(others, "|")
}

// encoded is a long text unreadable for people.
var encoded = pattern.New(`[A-Za-z0-9+/_-]{200}`)

// Suspicious reports whether a text addresses the model reading it, or hides content.
func Suspicious(text string) bool {
	if strings.ContainsFunc(text, tagCharacter) {
		return true
	}
	plain, _ := plainText(text)
	words, sentences, joined := wordsOf(plain)
	forms := map[string]string{inJoined: joined, inWords: words, inSentences: sentences, inText: strings.ToLower(plain)}
	for _, a := range addresses() {
		if a.matches.MatchString(forms[a.form]) {
			return true
		}
	}
	solid := strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(plain)
	for _, run := range encoded.FindAllString(solid, -1) {
		letters, digits, upper, _ := countKinds(run)
		if digits > 0 && upper > 0 && upper < letters {
			return true
		}
	}
	return false
}

// alike maps letters of other scripts to the letters they look like.
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

// plainText returns a text as read by a model not deceived by characters: without invisible ones and marks,
// with characters of full width, of mathematics and of other scripts as the letters they look like. at has the
// place in text of each of the bytes; nil if the text is plain already.
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
