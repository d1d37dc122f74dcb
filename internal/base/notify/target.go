package notify

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// form is the form in which a server takes notices.
type form string

// The forms. Each but the first is a word before the address.
const (
	webhook form = "webhook"
	ntfy    form = "ntfy"
	slack   form = "slack"
)

// Target is the place for notices. The zero Target is none.
type Target struct {
	// command is a program with its arguments; else address is one to post to, in a form, with a secret.
	command []string
	form    form
	address *url.URL
	secret  string
}

// IsNone reports whether nobody is told.
func (t Target) IsNone() bool { return len(t.command) == 0 && t.address == nil }

// String names the target without its secrets: an address has one in its path, a command may have one in any argument.
func (t Target) String() string {
	switch {
	case len(t.command) > 1:
		return t.command[0] + " …"
	case len(t.command) == 1:
		return t.command[0]
	case t.address == nil:
		return ""
	}
	name := t.address.Scheme + "://" + t.address.Host + "/…"
	if t.form != webhook {
		name = string(t.form) + " " + name
	}
	return name
}

// textArgument is the argument of a command in place of which it gets the notice in words.
const textArgument = "{text}"

// minSecret and maxSecret bound the key of a webhook, in bytes, as Standard Webhooks do.
const (
	minSecret    = 24
	maxSecret    = 64
	secretPrefix = "whsec_"
)

// Parse reads a target: the words of a list are a command with its arguments; a single text is an address with the secret of
// a webhook, the name of a service with the address there, or a program without arguments. No error repeats a secret.
func Parse(values []string) (Target, error) {
	line := strings.Join(values[:min(len(values), 1)], "")
	words := strings.Fields(line)
	switch {
	case len(values) > 1:
		return parseCommand(values)
	case len(words) == 0, slices.Contains([]string{"off", "false"}, line):
		return Target{}, nil
	case slices.Contains([]string{string(ntfy), string(slack)}, words[0]):
		return parseService(form(words[0]), words[1:])
	case strings.Contains(words[0], "://"):
		return parseWebhook(words)
	case len(words) > 1:
		return Target{}, lang.Errorf(`notify: a command is a list, such as [notify-send, "{text}"]`)
	}
	return parseCommand(words)
}

func parseCommand(words []string) (Target, error) {
	program, rest := words[0], words[1:]
	if below, isHome := strings.CutPrefix(program, "~/"); isHome {
		home, err := os.UserHomeDir()
		if err != nil {
			return Target{}, lang.Errorf("notify: the home folder is not known: %w", err)
		}
		program = filepath.Join(home, below)
	}
	switch {
	case strings.TrimSpace(program) == "":
		return Target{}, lang.Errorf("notify: the command has no program")
	case strings.Contains(program, "://"):
		return Target{}, lang.Errorf("notify: an address stands in one line with its secret, without brackets")
	case strings.ContainsAny(program, `/\`) && !filepath.IsAbs(program):
		return Target{}, lang.Errorf("notify: the program is a path inside some project; write /… or ~/…, or a name on the PATH")
	case slices.ContainsFunc(words, func(w string) bool { return strings.ContainsRune(w, 0) }):
		return Target{}, lang.Errorf("notify: the command has a character that no argument can have")
	case slices.ContainsFunc(rest, func(w string) bool { return strings.Contains(w, textArgument) && w != textArgument }):
		return Target{}, lang.Errorf("notify: %s is an argument by itself", textArgument)
	}
	return Target{command: append([]string{program}, rest...)}, nil
}

func parseService(f form, words []string) (Target, error) {
	t := Target{form: f}
	if len(words) == 2 && f == ntfy {
		t.secret, words = words[1], words[:1]
	}
	if len(words) != 1 || !t.setAddress(words[0]) || t.address.Path == "" || t.address.Path == "/" || !isHeader(t.secret) {
		if f == slack {
			return Target{}, lang.Errorf("notify: write slack and the address of an incoming webhook, such as slack https://hooks.slack.com/services/…")
		}
		return Target{}, lang.Errorf("notify: write ntfy and the address of a topic, such as ntfy https://ntfy.sh/my-topic, and a token behind it if the topic takes one")
	}
	return t, nil
}

func parseWebhook(words []string) (Target, error) {
	t := Target{form: webhook}
	if !t.setAddress(words[0]) {
		return Target{}, lang.Errorf("notify: the address is not one of a webhook, such as https://host/path (without a name and password, and without #)")
	}
	if len(words) == 2 {
		encoded, isSecret := strings.CutPrefix(words[1], secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		isLong := len(key) >= minSecret && len(key) <= maxSecret
		if isSecret && err == nil && isLong {
			t.secret = string(key)
			return t, nil
		}
	}
	return Target{}, lang.Errorf("notify: a webhook has its secret behind the address, %s and 24 to 64 bytes in base64; make one by: openssl rand -base64 32", secretPrefix)
}

// setAddress sets the address, and reports whether it is one.
func (t *Target) setAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	t.address = u
	return true
}

// isHeader reports whether a word can stand in a header.
func isHeader(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' })
}
