package pattern

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// agree compares all results of a pattern for a text with those of the expression alone.
func agree(t *testing.T, bare *regexp.Regexp, p *Pattern, s string) {
	t.Helper()
	if got, want := p.MatchString(s), bare.MatchString(s); got != want {
		t.Fatalf("%q on %q: got %v, want %v", bare, s, got, want)
	}
	upper := func(s string) string { return "<" + strings.ToUpper(s) + ">" }
	for name, pair := range map[string][2]any{
		"FindString":                 {p.FindString(s), bare.FindString(s)},
		"FindStringIndex":            {p.FindStringIndex(s), bare.FindStringIndex(s)},
		"FindStringSubmatch":         {p.FindStringSubmatch(s), bare.FindStringSubmatch(s)},
		"FindStringSubmatchIndex":    {p.FindStringSubmatchIndex(s), bare.FindStringSubmatchIndex(s)},
		"FindAllString":              {p.FindAllString(s, -1), bare.FindAllString(s, -1)},
		"FindAllStringIndex":         {p.FindAllStringIndex(s, 2), bare.FindAllStringIndex(s, 2)},
		"FindAllStringSubmatch":      {p.FindAllStringSubmatch(s, 1), bare.FindAllStringSubmatch(s, 1)},
		"FindAllStringSubmatchIndex": {p.FindAllStringSubmatchIndex(s, -1), bare.FindAllStringSubmatchIndex(s, -1)},
		"ReplaceAllString":           {p.ReplaceAllString(s, "<$0>"), bare.ReplaceAllString(s, "<$0>")},
		"ReplaceAllStringFunc":       {p.ReplaceAllStringFunc(s, upper), bare.ReplaceAllStringFunc(s, upper)},
		"Split":                      {p.Split(s, -1), bare.Split(s, -1)},
		"Split into none":            {p.Split(s, 0), bare.Split(s, 0)},
		"Split into two":             {p.Split(s, 2), bare.Split(s, 2)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s of %q on %q: got %q, want %q", name, bare, s, pair[0], pair[1])
		}
	}
}

// expressions have every kind of instruction and condition.
var expressions = []string{
	``, `a`, `^`, `$`, `^$`, `a|b`, `^a|b`, `a$|b`, `(?m)^a$`, `(?m)$`, `\b`, `\B`, `\ba`, `a\b`, `a\Bb`, `\bab\b`, `(?i)k`, `(?i)straße`, `(?i)ſ`, `[^a]`, `[^\n]`, `.`, `(?s).`, `(?s)^.{3}$`, `.{2,5}b`,
	`a*`, `a+?b`, `(a|ab)(c|bcd)`, `(?:a{2}){1,3}`, `(?i)\b(?:given|when)\b.*\bthen\b`, `\p{Han}{2}`, `[^\p{Han}A-Za-z]x`, `[一二三]、|待`, `\x{10FFFF}`, `[\x{10000}-\x{10FFFF}]`, `\z`, `\Aa\z`, `[[:word:]]+-[[:digit:]]`,
	`(?:^|[|(]\s*)\d[\d,. ]*\s+[a-z]{3,}`, `(?m)^(?:\s*\n)+`, `a(?:b|$)`, `(?:)`, `x(?:^|y)`, `\bé`, `(?i)[à-ý]\b`, `[^\x00-\x{10FFFF}]`, `a||b`, `(?U)a+`, `\Q.*\E`, `\x{FFFD}`,
}

var texts = []string{
	"", "a", "b", "ab", "aab", "abcd", "\n", "a\n", "\na", "a\nb\n", "K", "k", "ſtrasse STRASSE straße", " given x when y then z", "Given WHEN thenx", "中文 待 三、二", "中x", "é", "É a", "\xff", "a\xffb", "\xe4\xb8", "😀", "\U0010FFFF", "12,5 days", "| 3 tasks", "a-1", ".*", "xy", "aaaa", "AA", "\uFFFD", "日 \n日本\n", "_a_", "a b", "\r\n", "aaaaab",
}

func TestAgrees(t *testing.T) {
	for _, source := range expressions {
		bare, p := regexp.MustCompile(source), New(source)
		for _, s := range texts {
			agree(t, bare, p, s)
			agree(t, bare, p, strings.Repeat(s, 9)+"q")
		}
	}
}

func FuzzAgrees(f *testing.F) {
	for i, source := range expressions {
		f.Add(source, texts[i%len(texts)])
	}
	f.Fuzz(func(t *testing.T, source, s string) {
		bare, err := regexp.Compile(source)
		if err != nil || len(source) > 100 || len(s) > 4000 {
			t.Skip()
		}
		agree(t, bare, New(source), s)
	})
}

// TestBounded checks that the automaton stays small, and right, on texts that lead to ever new states.
func TestBounded(t *testing.T) {
	source := `(?:a|b)*a(?:a|b){14}c`
	bare, p := regexp.MustCompile(source), New(source)
	n := uint64(1)
	for range 40 {
		var s strings.Builder
		for range 3000 {
			n = n*6364136223846793005 + 1442695040888963407
			s.WriteByte("ab"[n>>40&1])
		}
		agree(t, bare, p, s.String())
		agree(t, bare, p, s.String()+"c")
		if a := p.toAutomaton(); a.size > 2*maxSize {
			t.Fatalf("the states take %d bytes", a.size)
		}
	}
	if _, known := p.toAutomaton().match(strings.Repeat("ab", 10)); !known {
		t.Error("a short text is not read by the automaton")
	}
}

// TestNoMatchNoPlaces checks that the expression of package regexp is only made for a match.
func TestNoMatchNoPlaces(t *testing.T) {
	p := New(`a|b`)
	if p.FindString("xy") != "" || !p.MatchString("xb") || p.places != nil {
		t.Error("a text is read wrongly, or an expression is made for it")
	}
	if p.FindString("xb") != "b" || p.places == nil {
		t.Error("the place of a match is not found")
	}
}

func TestManyAtOnce(t *testing.T) {
	p := New(`(?i)\b(?:given|when)\b.{0,9}\bthen\b`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, s := range slices.Concat(texts, []string{strings.Repeat("then ", 1000)}, texts) {
				if got, want := p.MatchString("given "+s+" then"), regexp.MustCompile(p.source).MatchString("given "+s+" then"); got != want {
					t.Errorf("%q: got %v, want %v", s, got, want)
				}
			}
		})
	}
	all.Wait()
}
