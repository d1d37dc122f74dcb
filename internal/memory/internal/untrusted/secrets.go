package untrusted

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

//go:embed secrets.rules
var secretRules string

// secretRule finds credentials of one kind. The secret is the last group, or all of a match.
type secretRule struct {
	kind lang.Text
	// part is in every match of the rule; "" for a rule without one.
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

// kindOf names the finding of a rule: one of the names here, or the key or token of somebody, such as "a GitHub
// token".
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
		out = append(out, rule.findSecrets(plain)...)
	}
	if at != nil {
		for i, s := range out {
			out[i].start, out[i].end = at[s.start], at[s.end]
		}
	}
	slices.SortFunc(out, func(a, b secret) int { return a.start - b.start })
	return out
}

// findSecrets returns the credentials of a kind in a plain text.
func (r *secretRule) findSecrets(plain string) (out []secret) {
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
	return replaceSecrets(text, func(string) string { return maskedSecret })
}

// MaskLines is Mask for a text whose lines keep their numbers.
func MaskLines(text string) string {
	return replaceSecrets(text, func(secret string) string { return maskedSecret + strings.Repeat("\n", strings.Count(secret, "\n")) })
}

func replaceSecrets(text string, by func(secret string) string) string {
	var out strings.Builder
	end := 0
	for _, s := range secretsIn(text) {
		if s.end <= end {
			continue
		}
		out.WriteString(text[end:max(s.start, end)])
		out.WriteString(by(text[max(s.start, end):s.end]))
		end = s.end
	}
	return out.String() + text[end:]
}

// judges decide whether a match is a secret, by their names in secrets.rules.
var judges = map[string]func(groups []string) bool{
	"login":           isLogin,
	"random":          func(g []string) bool { return looksRandom(g[1], 16) },
	"random or login": func(g []string) bool { return looksRandom(g[1], 16) || encodesLogin(g[1]) },
	"no placeholder":  func(g []string) bool { return !isPlaceholder(g[1]) },
	"password":        func(g []string) bool { return passwordLike(g[1]) || wordLike(g[1]) },
	"assigned":        func(g []string) bool { return passwordLike(g[2]) || isAssignment(g[1]) && wordLike(g[2]) },
}

// isAssignment reports whether the text between a name and a value assigns the value, in a program's way:
// people also write a colon before a word that is not a password.
func isAssignment(between string) bool {
	return between == "=" || strings.ContainsAny(between, "=:") && strings.ContainsAny(between, `"'`)
}

// isLogin reports whether a name and a password are not an example's.
func isLogin(g []string) bool {
	isSample := slices.Contains(sampleUsers, strings.ToLower(g[1])) && slices.Contains(sampleWords, strings.ToLower(g[2]))
	return !isPlaceholder(g[2]) && !isSample
}

// encodesLogin reports whether a value is a name and a password, as the scheme Basic sends them.
func encodesLogin(v string) bool {
	login, err := base64.StdEncoding.DecodeString(v)
	return err == nil && utf8.Valid(login) && bytes.Contains(login, []byte(":"))
}

var (
	sampleUsers = []string{"", "user", "username", "usr", "login", "name", "foo", "postgres", "guest"}
	sampleWords = []string{"pass", "passwd", "password", "pwd", "secret", "token", "bar", "postgres", "guest"}
	notSecrets  = []string{"example", "placeholder", "changeme", "change-me", "redacted", "dummy", "your", "xxx", "***", "...", "…", "hidden", "masked",
		"uint32", "uint64", "sha256", "sha512", "base64", "oauth2", "hs256", "rs256", "bcrypt", "argon2", "scrypt", "pbkdf2"}
)

// isPlaceholder reports whether a value stands for another, as in ${PASSWORD} or <yours>.
func isPlaceholder(v string) bool {
	switch {
	case strings.ContainsAny(v, "<>{}()[]"), dotted.MatchString(v), strings.Trim(v, "*x•.-_#?") == "":
		return true
	case strings.ContainsAny(v[:1], "$%/~.@&*-") && !strings.ContainsAny(v[1:], "!#$%^&*"): // a variable or a path
		return true
	case v == strings.ToUpper(v) && strings.Contains(v, "_"): // the name of a constant
		return true
	}
	lower := strings.ToLower(v)
	return len(v) < 32 && slices.ContainsFunc(notSecrets, func(w string) bool { return strings.Contains(lower, w) })
}

// dotted matches code and paths, for example config.password or vault/payments/db.
var dotted = pattern.New(`^[A-Za-z_]+[0-9]{0,2}(?:(?:\.|/|::|->)[A-Za-z_-]+[0-9]{0,2})+[.:]?$`)

// passwordLike reports whether a value after the word password is one: a word of the language is
// not.
func passwordLike(v string) bool {
	v = strings.TrimRight(v, ".:!?)")
	if len(v) < 6 || isPlaceholder(v) {
		return false
	}
	letters, digits, upper, marks := countKinds(v)
	switch {
	case digits > 0 && letters+marks > 0, digits >= 6, strings.ContainsAny(v, "!@#$%^&*+=~?"):
		return true
	}
	return upper > 1 && upper < letters
}

// wordLike reports whether a value is a password without digits, if it is assigned as one.
func wordLike(v string) bool {
	letters, _, _, _ := countKinds(v)
	return letters == len(v) && len(v) > 6 && !isPlaceholder(v) && !slices.Contains(append(sayings, sampleWords...), strings.ToLower(v))
}

// sayings are about passwords.
var sayings = []string{"required", "optional", "mandatory", "missing", "invalid", "correct", "default", "disabled", "enabled", "unknown",
	"rejected", "forbidden", "generated", "encrypted", "protected", "plaintext", "password", "passwords", "undefined"}

// looksRandom reports whether a value is drawn by a machine: long, of several kinds of characters, and
// few of them often.
func looksRandom(v string, least int) bool {
	v = strings.TrimRight(v, ".:!?)=")
	letters, digits, _, _ := countKinds(v)
	if len(v) < least || isPlaceholder(v) || letters == 0 || digits == 0 {
		return false
	}
	counts := map[rune]int{}
	for _, r := range v {
		counts[r]++
	}
	bits, n := 0.0, float64(utf8.RuneCountInString(v))
	for _, c := range counts {
		bits -= float64(c) / n * math.Log2(float64(c)/n)
	}
	return bits >= 3 && digits*24 >= letters
}

func countKinds(v string) (letters, digits, upper, marks int) {
	for _, r := range v {
		switch {
		case unicode.IsUpper(r):
			upper++
			letters++
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		default:
			marks++
		}
	}
	return letters, digits, upper, marks
}
