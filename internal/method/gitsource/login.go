package gitsource

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// login is the part of an address before the @. It leaves the process only as a header in the
// environment of git.
type login struct{ user, password string }

// hiddenLogin is a login in a Spec, behind a function: printing a struct with a Spec does not call String,
// and so shows a memory address.
type hiddenLogin struct{ open func() *login }

func hideLogin(l login) *hiddenLogin { return &hiddenLogin{func() *login { return &l }} }

// login returns the credentials, or nil.
func (s Spec) login() *login {
	if s.sealed == nil {
		return nil
	}
	return s.sealed.open()
}

// header returns the header for git to send.
func (l *login) header() string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(l.user+":"+l.password))
}

// hidden replaces a secret.
const hidden = "***"

// short is a user name short enough to occur in other words.
var short = pattern.New(`^\w{1,3}$`)

var (
	// others are credentials from the person's own settings of git.
	others = pattern.New(`(?i)(https?://)[^/@\s]+@`)
	// sent is a header as a server or a trace repeats it.
	sent = pattern.New(`(?i)(authorization:\s*(?:(?:basic|bearer)\s+)?)\S+`)
)

// withoutCredentials removes credentials from git's messages, in all the forms in which a server or a
// helper may repeat them. l may be nil.
func (l *login) withoutCredentials(text string) string {
	text = others.ReplaceAllString(text, "${1}"+hidden+"@")
	text = sent.ReplaceAllString(text, "${1}"+hidden)
	if l == nil {
		return text
	}
	secrets := []string{l.user + ":" + l.password, l.password}
	var forms []string
	for _, secret := range secrets {
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if secret != "" {
				forms = append(forms, regexp.QuoteMeta(coding.EncodeToString([]byte(secret)))+"=*")
			}
		}
	}
	if short.MatchString(l.user) {
		forms = append(forms, `\b`+l.user+`\b`)
	} else {
		secrets = append(secrets, l.user)
	}
	for _, secret := range secrets {
		if secret != "" {
			forms = append(forms, encodedPattern(secret))
		}
	}
	// The longest first: the remainder of a partly replaced secret would reveal it.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return regexp.MustCompile("(?i)(?:"+strings.Join(forms, "|")+")").ReplaceAllString(text, hidden)
}

// encodedPattern returns an expression for a text, any part of which may be percent-encoded.
func encodedPattern(text string) string {
	var out strings.Builder
	for _, r := range text {
		out.WriteString("(?:" + regexp.QuoteMeta(string(r)) + "|")
		for _, b := range []byte(string(r)) {
			fmt.Fprintf(&out, "%%%02x", b)
		}
		if r == ' ' {
			out.WriteString(`|\+`)
		}
		out.WriteString(")")
	}
	return out.String()
}

// maxProblem bounds how much of git's message is shown, in runes.
const maxProblem = 400

// noise is unhelpful lines of git's output: advice and progress.
var noise = pattern.New(`^(?:hint:|From |Cloning into|Please make sure you have the correct access|and the repository exists|$)`)

// level is git's mark before an important line.
var level = pattern.New(`^(?:fatal|error|ERROR|remote): +`)

// cleanLine returns git's output as one line for people, without credentials and without control
// characters.
func (l *login) cleanLine(text string) string {
	var said []string
	for part := range strings.Lines(l.withoutCredentials(text)) {
		part = strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, part)
		part = strings.Join(strings.Fields(part), " ")
		if noise.MatchString(part) {
			continue
		}
		if part = level.ReplaceAllString(part, ""); part != "" && !slices.Contains(said, part) {
			said = append(said, part)
		}
	}
	// Again: a secret may have been split over lines.
	return visible.Fit(l.withoutCredentials(strings.ReplaceAll(strings.Join(said, "; "), ":; ", ": ")), maxProblem)
}
