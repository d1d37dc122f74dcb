package audit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// idExpression matches an id.
var idExpression = regexp.MustCompile(`\b(?:(S\d{1,3})[-.](\d{1,4})|(US|FR|NFR|AC|BG|TR|R|T|Q|SEC|PERF)[-_]?(\d{1,4}(?:\.\d{1,4}){0,2}))(?:[a-z]\b|\b)|(?:^|[^\p{Han}A-Za-z])(?:功能需求|需求)[ -]?(\d{1,4}(?:\.\d{1,4}){0,2})`)

// sameIDs compares the ids that are read in a text with the matches of the expression.
func sameIDs(t *testing.T, text string) {
	t.Helper()
	found := slices.Collect(idsIn(text))
	want := idExpression.FindAllStringSubmatchIndex(text, -1)
	if len(found) != len(want) {
		t.Fatalf("%q: got %v, want %v", text, found, want)
	}
	for i, m := range want {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		id := found[i]
		prefix := group(1) + group(3)
		if prefix == "" {
			prefix = "FR"
		}
		if id.from != m[0] || id.to != m[1] || id.prefix != prefix || !slices.Equal(id.id().number, parseNumber(group(2)+group(4)+group(5))) {
			t.Errorf("%q: got %+v, want %v", text, id, m)
		}
	}
	if got, want := blankIDs(text), idExpression.ReplaceAllString(text, " "); got != want {
		t.Errorf("%q: got %q, want %q", text, got, want)
	}
	if got, want := hasID(text), idExpression.MatchString(text); got != want {
		t.Errorf("%q: got %v, want %v", text, got, want)
	}
}

func FuzzIDs(f *testing.F) {
	for _, text := range []string{
		"", "FR-1", "FR1", "FR_1", "FR-12345", "FR-1.2.3.4", "FR-1.23456", "AC-1.1x5", "AC-1a b", "AC-1ab", "AC-1A", "S1-1", "S1.4b", "S1234-1", "S1-12345", "S-1", "SEC-1", "XFR-1", "FR-", "_FR-1", "é FR-1é",
		"需求 3", "功能需求3.1.2.4", "需求-12345", "新需求 3", "a需求 3", "，需求 3需求 4", "FR-1需求2", "需求 1、需求 2", "\xff需求 1", "\n需求1", "需求", "Q1 T2 TR-3 R4",
	} {
		f.Add(text)
	}
	f.Fuzz(sameIDs)
}

func TestIDsOfTheCorpus(t *testing.T) { eachDocument(t, func(text string) { sameIDs(t, text) }) }

// TestPhrasesOfTheCorpus compares the pattern of the phrases of each rubric with the names that
// package markdown matches.
func TestPhrasesOfTheCorpus(t *testing.T) {
	lists := [][]string{nil, {"", "=whole", "a b", "c++", "中文", "x"}}
	for _, st := range workflow.Default().Stages {
		if !st.Audited() {
			continue
		}
		r, err := loadBuiltin(st)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.checks {
			if c.Kind == "phrases" {
				lists = append(lists, c.Words)
			}
		}
	}
	if len(lists) < 3 {
		t.Fatal("no rubric has phrases")
	}
	compare := func(line string, words []string) {
		if got, want := phrasePattern(words).MatchString(line), markdown.MatchesName(line, lowerAll(words)); got != want {
			t.Errorf("%q of %q: got %v, want %v", line, words, got, want)
		}
	}
	for _, words := range lists {
		for _, line := range append([]string{"", "whole", "a whole", "xa b", "a b", "a b_", "c++", "ac++", "c++x", "(c++)", "的中文字", "éx", "xé"}, lowerAll(words)...) {
			compare(line, words)
			compare("_"+line, words)
			compare(line+" .", words)
		}
	}
	eachDocument(t, func(text string) {
		for line := range strings.Lines(strings.ToLower(strings.ToValidUTF8(text, "\uFFFD"))) {
			for _, words := range lists {
				compare(line, words)
			}
		}
	})
}

// eachDocument reads every document that the tests of the project have.
func eachDocument(t *testing.T, read func(text string)) {
	t.Helper()
	n := 0
	for _, folder := range []string{"../../../testdata/audit/*/*.md", "../../../testdata/filler/*.md", "../../../testdata/filler/*/*.md", "../../../testdata/submissions/*/*", "testdata/*/*.md", "../score/testdata/*/*"} {
		files, err := filepath.Glob(filepath.FromSlash(folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				continue // a folder
			}
			read(string(data))
			n++
		}
	}
	if n < 100 {
		t.Errorf("only %d documents were found", n)
	}
}
