package untrusted

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// exampled is a rule with the texts below it.
type exampled struct {
	columns        []string
	matches, fails []string
}

// examples reads the rules of a file as readRules does, with their examples.
func examples(t *testing.T, file string) (out []exampled) {
	t.Helper()
	rules := readRules(file)
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t+ "):
			last := &out[len(out)-1]
			last.matches = append(last.matches, line[3:])
		case strings.HasPrefix(line, "\t- "):
			last := &out[len(out)-1]
			last.fails = append(last.fails, line[3:])
		case strings.HasPrefix(line, "#"), !strings.Contains(line, "\t"):
		default:
			out = append(out, exampled{columns: rules[len(out)]})
		}
	}
	for _, rule := range rules {
		if name := unknownList.FindString(strings.Join(rule, " ")); name != "" {
			t.Errorf("%q names a list %s, which there is not", rule, name)
		}
	}
	if len(out) != len(rules) || len(out) < 10 {
		t.Fatalf("%d rules have lines, %d are read", len(out), len(rules))
	}
	return out
}

// unknownList is the name of a list that no line has defined.
var unknownList = regexp.MustCompile(`\{[a-z]+\}`)

// drawn is the random part of an example.
var drawn = regexp.MustCompile(`\{(\w+):(\d+)\}`)

// alphabets are those of the random parts.
var alphabets = map[string]string{
	"num": "0123456789", "hex": "0123456789abcdef", "low": "0123456789abcdefghijkmnpqrstuvwxyz", "up": "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ",
	"word": "abcdefghijkmnpqrstuvwxyz0123456789ABCDEFGHJKLMNPQRSTUVWXYZ", "age": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}

// draw fills an example with characters, or with one part of them.
func draw(t *testing.T, example string, part int) string {
	t.Helper()
	return drawn.ReplaceAllStringFunc(example, func(s string) string {
		m := drawn.FindStringSubmatch(s)
		n, err := strconv.Atoi(m[2])
		if err != nil || alphabets[m[1]] == "" {
			t.Fatalf("%q is nothing to draw", s)
		}
		var out strings.Builder
		for i := range n / part {
			out.WriteByte(alphabets[m[1]][(i*i+3*i+7)%len(alphabets[m[1]])])
		}
		return out.String()
	})
}

// TestSecretRules: each rule finds its examples, and no text that is nearly one.
func TestSecretRules(t *testing.T) {
	t.Parallel()
	for _, e := range examples(t, secretRules) {
		rule := newSecretRule(e.columns)
		found := func(text string) bool { return len(rule.findSecrets(text)) > 0 }
		if len(e.columns) > 3 && rule.judge == nil {
			t.Errorf("%q names no judge", e.columns)
		}
		for _, text := range e.matches {
			if whole := draw(t, text, 1); !found(whole) {
				t.Errorf("%q does not find %q", e.columns, whole)
			}
			if short := draw(t, text, 2); drawn.MatchString(text) && len(e.fails) == 0 {
				e.fails = []string{short}
			}
		}
		for _, text := range e.fails {
			if text = draw(t, text, 1); found(text) {
				t.Errorf("%q finds %q", e.columns, text)
			}
		}
		if len(e.matches) == 0 || len(e.fails) == 0 {
			t.Errorf("%q has no example, or no near miss", e.columns)
		}
	}
}

// TestSuspiciousRules: each rule matches its examples, and no text that is nearly one; nor does any other
// rule match that.
func TestSuspiciousRules(t *testing.T) {
	t.Parallel()
	for _, e := range examples(t, suspiciousRules) {
		rule := pattern.New(expressionOf(e.columns))
		matches := func(text string) bool {
			plain, _ := plainText(text)
			words, sentences, joined := wordsOf(plain)
			form, known := map[string]string{inJoined: joined, inWords: words, inSentences: sentences, inText: strings.ToLower(plain)}[e.columns[0]]
			if !known {
				t.Errorf("%q is not a form", e.columns[0])
			}
			return rule.MatchString(form)
		}
		for _, text := range e.matches {
			if !matches(text) {
				t.Errorf("%q does not match %q", e.columns, text)
			}
		}
		for _, text := range e.fails {
			if matches(text) || Suspicious(text) {
				t.Errorf("%q matches %q, or another rule does", e.columns, text)
			}
		}
		if len(e.matches) == 0 || len(e.fails) == 0 {
			t.Errorf("%q has no example, or no near miss", e.columns)
		}
	}
}

const note = "Compare webhook signatures with hmac.Equal in internal/webhook/verify.go: comparing with == leaks timing. The previous review asked for it twice; the fix is in commit 8f4e2c1d, and case 42 of the table test holds it. "

func BenchmarkSuspicious(b *testing.B) {
	text := strings.Repeat(note, 3)
	for b.Loop() {
		if Suspicious(text) {
			b.Fatal("the note is about the work")
		}
	}
}

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat(note, 3)
	for b.Loop() {
		if Mask(text) != text {
			b.Fatal("the note has no secret")
		}
	}
}
