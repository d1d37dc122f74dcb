package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rates are counts of words per thousand words of comments, as their regular expressions find them.
// The bounds are taken from the sources of restic, age and golang.org/x/build, whose comments have .2 to .9 "what",
// .8 to 1.5 "where", 7 to 14 "if" and .6 to 1.8 examples. Prose of machines has other habits, which
// no list of phrases names. Pronouns without a noun make a sentence be read twice: those sources, and gopls and oscar, have
// at most 2.1 "its" and 13 "that".
var rates = []struct {
	word        *regexp.Regexp
	least, most float64
}{
	{regexp.MustCompile(`(?i)\bwhat\b`), 0, 1},
	{regexp.MustCompile(`(?i)\bwhere\b`), 0, 2},
	{regexp.MustCompile(`(?i)\bits\b`), 0, 4},
	{regexp.MustCompile(`(?i)\bthat\b`), 0, 16},
	{regexp.MustCompile(`(?i)\bthose\b`), 0, .6},
	{regexp.MustCompile(`(?i)\bif\b`), 6, 30},
	{regexp.MustCompile(`(?i)\bfor example\b|\be\.g\.`), .5, 10},
}

var commentWord = regexp.MustCompile(`[A-Za-z][A-Za-z']*`)

// TestRatesOfWords checks how often the comments of the program have words that translated prose
// has too many or too few of.
func TestRatesOfWords(t *testing.T) {
	words, found := 0, make([]int, len(rates))
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".."
		switch {
		case err != nil:
			return err
		case d.IsDir() && (hidden || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, comment := range file.Comments {
			text := comment.Text()
			words += len(commentWord.FindAllString(text, -1))
			for i, r := range rates {
				found[i] += len(r.word.FindAllString(text, -1))
			}
		}
		return nil
	})
	if err != nil || words < 50_000 {
		t.Fatalf("%d words of comments were found: %v", words, err)
	}
	for i, r := range rates {
		if rate := 1000 * float64(found[i]) / float64(words); rate < r.least || rate > r.most {
			t.Errorf("%s: %.2f per 1,000 words of comments, want %v to %v", r.word, rate, r.least, r.most)
		}
	}
}
