package memory

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

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// secretRule finds credentials of one kind. The secret is the last group, or all of a match.
type secretRule struct {
	kind    lang.Text
	matches *pattern.Pattern
	// judge decides by the groups of a match; nil takes each.
	judge func(groups []string) bool
	// part is in every text that matches; "" for a rule without one.
	part string
}

//go:embed secrets.tsv
var secretFormats string

// secretRules are the general ones, and behind them those of the table.
var secretRules = sync.OnceValue(func() []secretRule {
	rules := slices.Clone(generalRules)
	for line := range strings.Lines(secretFormats) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) == 3 {
			rules = append(rules, secretRule{kindOf(cells[0]), pattern.New(cells[2]), nil, cells[1]})
		}
	}
	return rules
})

// kindOf is what a line of the table finds, such as "a GitHub token".
func kindOf(cell string) lang.Text {
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

// generalRules know a credential by what stands around it.
var generalRules = []secretRule{
	{lang.T("a private key"), pattern.New(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-[^-])*(?:-----END [A-Z0-9 ]*-----)?`), nil, "PRIVATE KEY"},
	{lang.T("a private key"), pattern.New(`PuTTY-User-Key-File-[0-9][\s\S]*`), nil, "PuTTY-User"},
	{lang.T("a JSON Web Token"), pattern.New(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}`), nil, "eyJ"},
	{lang.T("an address with a password"), pattern.New(`\b[A-Za-z][A-Za-z0-9+.-]*://([^\s/@:"'<>]*):([^\s/@"']+)@[^\s/]`), isLogin, "://"},
	{lang.T("an authorization header"), pattern.New(`(?i)\b(?:bearer|basic|token)\s+["']?([A-Za-z0-9._~+/-]{16,}=*)`), func(g []string) bool { return random(g[1], 16) || encodesLogin(g[1]) }, ""},
	{lang.T("a cookie"), pattern.New(`(?i)\bcookie["']?\s*[:=]\s*["']?[^\s=;"']+=([^\s;"']{16,})`), func(g []string) bool { return random(g[1], 16) }, ""},
	{lang.T("a password"), pattern.New(`(?i)\b(?:curl|wget|xh|https?)\b[^\n]*?\s(?:-u|-U|--user|--proxy-user|-a|--auth)[\s=]*["']?([^\s:"']+):([^\s"']+)`), isLogin, ""},
	{lang.T("a password"), pattern.New(`(?i)\b(?:mysql|mariadb)\w*\b[^\n]*?\s-p["']?([^\s"']{3,})`), func(g []string) bool { return !placeholder(g[1]) }, ""},
	{lang.T("a password"), pattern.New(`(?i)\b(?:sshpass|redis-cli|mongo\w*|(?:docker|podman|helm registry|az|oc|skopeo|npm) login|ldap\w+|sqlcmd|smbclient|rabbitmqadmin)\b[^\n]*?\s-(?:p|P|a|w)[\s=]*["']?([^\s"']{4,})`), func(g []string) bool {
		return passwordLike(g[1]) || wordLike(g[1])
	}, ""},
	{lang.T("a password"), pattern.New(`(?i)(?:pass(?:word|wd|phrase|code)?|pwd|密码|密碼|口令|mot de passe)["'\x60]?(\s*(?:[:=]|=>|:=)\s*["'\x60]?|\s+(?:(?:is|was|est)\s+)?["'\x60]?|\s*是\s*)([^\s"'\x60,;，。；]{6,})`), func(g []string) bool {
		return passwordLike(g[2]) || (g[1] == "=" || strings.ContainsAny(g[1], "=:") && strings.ContainsAny(g[1], `"'`)) && wordLike(g[2])
	}, ""},
	{lang.T("a secret"), pattern.New(`(?i)(?:secret|token|(?:api|access|private|account|encryption|signing|master|licen[cs]e|service|shared|webhook|jwt|hmac|deploy|storage|client|admin|root|ssh|app(?:lication)?)[_ -]?key|credentials?|auth|signature|\bsig|密钥|密鑰|令牌)["'\x60]?(?:\s*(?:[:=]|=>|:=)\s*|\s+is\s+|\s*是\s*)["'\x60]?([^\s"'\x60,;，。；]{16,})`), func(g []string) bool { return random(g[1], 16) }, ""},
}

// isLogin reports whether a name and a password are not those of an example.
func isLogin(g []string) bool {
	return !placeholder(g[2]) && (!slices.Contains(sampleUsers, strings.ToLower(g[1])) || !slices.Contains(sampleWords, strings.ToLower(g[2])))
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

// placeholder reports whether a value stands for another, as in ${PASSWORD} or <yours>.
func placeholder(v string) bool {
	lower := strings.ToLower(v)
	return strings.ContainsAny(v, "<>{}()[]") || strings.ContainsAny(v[:1], "$%/~.@&*-") && !strings.ContainsAny(v[1:], "!#$%^&*") ||
		len(v) < 32 && slices.ContainsFunc(notSecrets, func(w string) bool { return strings.Contains(lower, w) }) ||
		strings.Trim(v, "*x•.-_#?") == "" || v == strings.ToUpper(v) && strings.Contains(v, "_") || dotted.MatchString(v)
}

// dotted matches code and paths, such as config.password or vault/payments/db.
var dotted = pattern.New(`^[A-Za-z_]+[0-9]{0,2}(?:(?:\.|/|::|->)[A-Za-z_-]+[0-9]{0,2})+[.:]?$`)

// passwordLike reports whether a value after the word password is one: a word of the language is
// not.
func passwordLike(v string) bool {
	v = strings.TrimRight(v, ".:!?)")
	if len(v) < 6 || placeholder(v) {
		return false
	}
	letters, digits, upper, marks := kinds(v)
	return digits > 0 && letters+marks > 0 || letters == 0 && digits >= 6 || strings.ContainsAny(v, "!@#$%^&*+=~?") || letters > 0 && upper > 1 && upper < letters
}

// wordLike reports whether a value is a password without digits, where it is assigned as one.
func wordLike(v string) bool {
	letters, _, _, _ := kinds(v)
	return letters == len(v) && len(v) > 6 && !placeholder(v) && !slices.Contains(append(sayings, sampleWords...), strings.ToLower(v))
}

// sayings are about passwords.
var sayings = []string{"required", "optional", "mandatory", "missing", "invalid", "correct", "default", "disabled", "enabled", "unknown", "rejected", "forbidden", "generated", "encrypted", "protected", "plaintext", "password", "passwords", "undefined"}

// random reports whether a value is drawn by a machine: long, of several kinds of characters, and
// few of them often.
func random(v string, least int) bool {
	v = strings.TrimRight(v, ".:!?)=")
	letters, digits, _, _ := kinds(v)
	if len(v) < least || placeholder(v) || letters == 0 || digits == 0 {
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

func kinds(v string) (letters, digits, upper, marks int) {
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

// secret is a credential in a text, by its bytes there.
type secret struct {
	kind       lang.Text
	start, end int
}

// secretsIn finds the credentials in a text.
func secretsIn(text string) []secret {
	plain, at := plainText(text)
	place := func(i int) int {
		if at == nil {
			return i
		}
		return at[i]
	}
	var out []secret
	for _, rule := range secretRules() {
		if !strings.Contains(plain, rule.part) || !rule.matches.MatchString(plain) {
			continue
		}
		for _, m := range rule.matches.FindAllStringSubmatchIndex(plain, -1) {
			groups := make([]string, len(m)/2)
			for g := range groups {
				if m[2*g] >= 0 {
					groups[g] = plain[m[2*g]:m[2*g+1]]
				}
			}
			if rule.judge == nil || rule.judge(groups) {
				out = append(out, secret{rule.kind, place(m[len(m)-2]), place(m[len(m)-1])})
			}
		}
	}
	slices.SortFunc(out, func(a, b secret) int { return a.start - b.start })
	return out
}

// noSecrets refuses a text with a credential. It names the kind and the place, never the value.
func noSecrets(field, text string) error {
	found := secretsIn(text)
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	return fault.New(fault.InvalidArgument, "there seems to be %v in %s, at character %d", first.kind, field, utf8.RuneCountInString(text[:first.start])+1).
		WithHint("notes are committed with the repository: name the place where it is kept, such as ${DB_PASSWORD}, instead of its value")
}

// maskedSecret stands for a credential in what is shown.
const maskedSecret = "[masked]"

// mask returns a text without the credentials in it.
func mask(text string) string {
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
