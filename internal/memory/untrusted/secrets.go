package untrusted

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

//go:embed secrets.rules
var secretRules string

// secretRule finds credentials of one kind. The secret is the last group, or all of a match.
type secretRule struct {
	kind lang.Text
	// part is in every text that matches; "" for a rule without one.
	part    string
	matches *pattern.Pattern
	// judge decides by the groups of a match; nil takes each.
	judge func(groups []string) bool
}

var secrets = sync.OnceValue(func() (out []secretRule) {
	for _, rule := range readRules(secretRules) {
		out = append(out, newSecretRule(rule))
	}
	return out
})

func newSecretRule(columns []string) secretRule {
	rule := secretRule{kind: kindOf(columns[0]), part: columns[1], matches: pattern.New(columns[2])}
	if len(columns) > 3 {
		rule.judge = judges[columns[3]]
	}
	return rule
}

// kindOf names the finding of a rule: one of those named here, or the key or token of somebody, such as "a
// GitHub token".
func kindOf(cell string) lang.Text {
	for _, kind := range []lang.Text{
		lang.T("a private key"), lang.T("a JSON Web Token"), lang.T("an address with a password"),
		lang.T("an authorization header"), lang.T("a cookie"), lang.T("a password"), lang.T("a secret"),
	} {
		if kind.String() == cell {
			return kind
		}
	}
	article, rest, _ := strings.Cut(cell, " ")
	of, isKey := strings.CutSuffix(rest, " key")
	of = strings.TrimSuffix(of, " token")
	switch {
	case isKey && article == "an":
		return lang.T("an %s key", of)
	case isKey:
		return lang.T("a %s key", of)
	case article == "an":
		return lang.T("an %s token", of)
	}
	return lang.T("a %s token", of)
}

// secret is a credential in a text, by its bytes there.
type secret struct {
	kind       lang.Text
	start, end int
}

// secretsIn finds the credentials in a text.
func secretsIn(text string) []secret {
	plain, at := plainText(text)
	var out []secret
	for _, rule := range secrets() {
		out = append(out, rule.find(plain)...)
	}
	if at != nil {
		for i, s := range out {
			out[i].start, out[i].end = at[s.start], at[s.end]
		}
	}
	slices.SortFunc(out, func(a, b secret) int { return a.start - b.start })
	return out
}

// find returns the credentials of a kind in a plain text.
func (r *secretRule) find(plain string) (out []secret) {
	if !strings.Contains(plain, r.part) || !r.matches.MatchString(plain) {
		return nil
	}
	for _, m := range r.matches.FindAllStringSubmatchIndex(plain, -1) {
		groups := make([]string, len(m)/2)
		for g := range groups {
			if m[2*g] >= 0 {
				groups[g] = plain[m[2*g]:m[2*g+1]]
			}
		}
		if r.judge == nil || r.judge(groups) {
			out = append(out, secret{r.kind, m[len(m)-2], m[len(m)-1]})
		}
	}
	return out
}

// Check refuses a text with a credential. It names the kind and the place, never the value.
func Check(field, text string) error {
	found := secretsIn(text)
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	return fault.New(fault.InvalidArgument, "there seems to be %v in %s, at character %d", first.kind, field, utf8.RuneCountInString(text[:first.start])+1).
		WithHint("notes are committed with the repository: name the place where it is kept, such as ${DB_PASSWORD}, instead of its value")
}

// maskedSecret stands for a credential in shown texts.
const maskedSecret = "[masked]"

// Mask returns a text without the credentials in it.
func Mask(text string) string {
	var out strings.Builder
	end := 0
	for _, s := range secretsIn(text) {
		if s.end <= end {
			continue
		}
		out.WriteString(text[end:max(s.start, end)])
		out.WriteString(maskedSecret)
		end = s.end
	}
	return out.String() + text[end:]
}
