package untrusted

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

//go:embed suspicious.rules
var suspiciousRules string

// forms are those of a text that rules read, as wordsOf and plainText make them.
const (
	inJoined    = "joined"
	inWords     = "words"
	inSentences = "sentences"
	inText      = "text"
)

// addresses has the rules of each form in one pattern.
var addresses = sync.OnceValue(func() map[string]*pattern.Pattern {
	rules := map[string][]string{}
	for _, rule := range readRules(suspiciousRules) {
		rules[rule[0]] = append(rules[rule[0]], addressed(rule))
	}
	out := map[string]*pattern.Pattern{}
	for form, all := range rules {
		out[form] = pattern.New(strings.Join(all, "|"))
	}
	return out
})

// addressed is the expression of a rule.
func addressed(rule []string) string {
	if rule[0] == inText {
		return rule[1]
	}
	return strings.ReplaceAll(rule[1], "_", " ")
}

// encoded is a long text that nobody can read.
var encoded = pattern.New(`[A-Za-z0-9+/_-]{200}`)

// Suspicious reports whether a text addresses the model that reads it, or hides what it says.
func Suspicious(text string) bool {
	if strings.ContainsFunc(text, tagCharacter) {
		return true
	}
	plain, _ := plainText(text)
	words, sentences, joined := wordsOf(plain)
	in := addresses()
	if in[inJoined].MatchString(joined) || in[inSentences].MatchString(sentences) || in[inWords].MatchString(words) || in[inText].MatchString(strings.ToLower(plain)) {
		return true
	}
	solid := strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(plain)
	for _, run := range encoded.FindAllString(solid, -1) {
		letters, digits, upper, _ := kinds(run)
		if digits > 0 && upper > 0 && upper < letters {
			return true
		}
	}
	return false
}
