package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

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
