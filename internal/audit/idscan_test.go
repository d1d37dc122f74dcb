package audit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// idExpression is what an id is.
var idExpression = regexp.MustCompile(`\b(?:(S\d{1,3})[-.](\d{1,4})|(US|FR|NFR|AC|BG|TR|R|T|Q|SEC|PERF)[-_]?(\d{1,4}(?:\.\d{1,4}){0,2}))(?:[a-z]\b|\b)|(?:^|[^\p{Han}A-Za-z])(?:功能需求|需求)[ -]?(\d{1,4}(?:\.\d{1,4}){0,2})`)

// sameIDs compares the ids that are read in a text with the matches of the expression.
func sameIDs(t *testing.T, text string) {
	t.Helper()
	found := anyID.all(text)
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
		id := found[i].in(text)
		prefix := group(1) + group(3)
		if prefix == "" {
			prefix = "FR"
		}
		if found[i].from != m[0] || found[i].to != m[1] || id.prefix != prefix || !slices.Equal(id.number, numbers(group(2)+group(4)+group(5))) {
			t.Errorf("%q: got %+v %v, want %v", text, found[i], id, m)
		}
	}
	if got, want := anyID.blank(text), idExpression.ReplaceAllString(text, " "); got != want {
		t.Errorf("%q: got %q, want %q", text, got, want)
	}
	if got, want := anyID.MatchString(text), idExpression.MatchString(text); got != want {
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

// TestIDsOfTheCorpus reads every line of every document that the tests of the project have.
func TestIDsOfTheCorpus(t *testing.T) {
	n := 0
	for _, folder := range []string{"../../testdata/audit/*/*.md", "../../testdata/filler/*.md", "../../testdata/filler/*/*.md", "../../testdata/submissions/*/*", "testdata/*/*.md", "../score/testdata/*/*"} {
		files, err := filepath.Glob(filepath.FromSlash(folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				continue // a folder
			}
			sameIDs(t, string(data))
			n++
		}
	}
	if n < 100 {
		t.Errorf("only %d documents were found", n)
	}
}
