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

// address is a pattern of rules of one form.
type address struct {
	form    string
	matches *pattern.Pattern
}

// addresses has the rules that follow each other and are of one form in one pattern: a pattern that has
// too much to tell apart forgets its states, and is slow.
var addresses = sync.OnceValue(func() (out []address) {
	var together []string
	rules := readRules(suspiciousRules)
	for i, rule := range rules {
		together = append(together, expressionOf(rule))
		if i+1 == len(rules) || rules[i+1][0] != rule[0] {
			out = append(out, address{rule[0], pattern.New(either(together))})
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

// either returns the expression of all rules. Those between spaces share them, so that a pattern has less to
// tell apart.
func either(rules []string) string {
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

// encoded is a long text that nobody can read.
var encoded = pattern.New(`[A-Za-z0-9+/_-]{200}`)

// Suspicious reports whether a text addresses the model that reads it, or hides its content.
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
		letters, digits, upper, _ := kinds(run)
		if digits > 0 && upper > 0 && upper < letters {
			return true
		}
	}
	return false
}
