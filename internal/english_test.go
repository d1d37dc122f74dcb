package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// readByPeople matches the files whose text is checked.
var readByPeople = regexp.MustCompile(`\.go$|^README\.md$|^(prompts|docs)/.*\.md$`)

// phrase is a line of testdata/english.txt.
type phrase struct {
	bad    *regexp.Regexp
	better string
	// fine matches text that only looks like the phrase; nil for none.
	fine *regexp.Regexp
}

func readPhrases(t *testing.T) []phrase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "english.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []phrase
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) < 2 || len(columns) > 3 {
			t.Fatalf("english.txt:%d: got %d columns, want 2 or 3", n+1, len(columns))
		}
		p := phrase{bad: regexp.MustCompile("(?i)" + columns[0]), better: columns[1]}
		if len(columns) == 3 {
			p.fine = regexp.MustCompile("(?i)" + columns[2])
		}
		out = append(out, p)
	}
	return out
}

// unidiomatic returns the phrases of a text, each with the advice about it.
func unidiomatic(phrases []phrase, text string) []string {
	var out []string
	text = strings.Join(strings.Fields(text), " ")
	for _, p := range phrases {
		for _, found := range p.bad.FindAllString(text, -1) {
			if p.fine == nil || !p.fine.MatchString(found) {
				out = append(out, fmt.Sprintf("%q: write %s", found, p.better))
			}
		}
	}
	return out
}

// passage is a text that people read, with its line.
type passage struct {
	line int
	text string
}

// passages returns the comments and the texts of a Go file, or a Markdown file's paragraphs.
func passages(t *testing.T, path string) []passage {
	t.Helper()
	var out []passage
	if !strings.HasSuffix(path, ".go") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for paragraph := range strings.SplitSeq(string(data), "\n\n") {
			out = append(out, passage{line, paragraph})
			line += strings.Count(paragraph, "\n") + 2
		}
		return out
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		out = append(out, passage{set.Position(group.Pos()).Line, group.Text()})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, passage{set.Position(lit.Pos()).Line, text})
			}
		}
		return true
	})
	return out
}

// TestEnglish refuses phrases that a native technical writer would not use, in comments,
// messages, prompts and the documentation.
func TestEnglish(t *testing.T) {
	phrases := readPhrases(t)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		case !readByPeople.MatchString(name) || strings.HasPrefix(name, "docs/reference/"): // made of texts that are checked, or for models
			return nil
		}
		for _, p := range passages(t, path) {
			for _, finding := range unidiomatic(phrases, p.text) {
				t.Errorf("%s:%d: %s", name, p.line, finding)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEnglishIsSeen plants phrases, and good sentences beside them.
func TestEnglishIsSeen(t *testing.T) {
	phrases := readPhrases(t)
	for text, want := range map[string]int{
		"the name is no path":                        1,
		"%q is no address":                           1,
		"there is no path":                           0,
		"it is no longer there":                      0,
		"it is not a path":                           0,
		"Source is a place where was looked":         1,
		"mend the file, and the others go on":        1,
		"the amendment was recommended":              0,
		"a decision is due":                          1,
		"for whoever\n// reads it":                   1,
		"the name of a stage that there is not":      1,
		"the pattern is dear":                        1,
		"a hook that tells of it":                    1,
		"an error says what is wrong with the text":  2,
		"an error names the mistake":                 0,
		"the project's goes before the person's":     1,
		"the project's takes precedence over a home": 0,
		"Kill: what it had written is there":         1,
		"What is your name?":                         0,
		"which is the person's to say":               1,
		"an object is taken for an example":          1,
		"take it away, and begin anew":               2,
		"continue from the run as it stands":         1,
		"says what came of the command":              2,
		"the run stands at stage 2":                  1,
		"log tells whether it was changed":           1,
	} {
		if got := unidiomatic(phrases, strings.ReplaceAll(text, "// ", "")); len(got) != want {
			t.Errorf("%q: got %q, want %d findings", text, got, want)
		}
	}
}
