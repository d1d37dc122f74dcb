package internal_test

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	named    = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)(…?)`")
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)\(`)
	mention  = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z][A-Za-z0-9]*\b`)
)

// goFiles returns the Go files of the project.
func goFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// declaredTests returns the names of all tests and fuzz tests.
func declaredTests(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, path := range goFiles(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(source, -1) {
			out = append(out, string(m[1]))
		}
	}
	return out
}

// promiseRow is a row of the tables in docs/promises.md: a promise, and the tests that hold it.
var promiseRow = regexp.MustCompile(`(?m)^\| (.+) \| (.*) \|$`)

// TestPromisesAreHeld: the page of promises names at least one test for each promise, and each of
// them is there.
func TestPromisesAreHeld(t *testing.T) {
	page := readPage(t, "docs/promises.md")
	tests := declaredTests(t)
	tables, _, _ := strings.Cut(page, "\n## Against whom\n")
	for _, row := range promiseRow.FindAllStringSubmatch(tables, -1) {
		if row[1] != "Promise" && !named.MatchString(row[2]) {
			t.Errorf("no test is named for: %s", row[1])
		}
	}
	promises := named.FindAllStringSubmatch(page, -1)
	if len(promises) < 100 {
		t.Fatalf("the page names %d tests", len(promises))
	}
	for _, m := range promises {
		name, open := m[1], m[2] != ""
		if !slices.ContainsFunc(tests, func(test string) bool { return test == name || open && strings.HasPrefix(test, name) }) {
			t.Errorf("the page names %s, which no package has", name)
		}
	}
}

// TestInvariantsAreHeld: each invariant in the comment of a package names at least one test, and
// each of them is there.
func TestInvariantsAreHeld(t *testing.T) {
	tests := declaredTests(t)
	seen := 0
	for _, path := range goFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range invariants(file.Doc.Text()) {
			seen++
			names := mention.FindAllString(text, -1)
			if len(names) == 0 {
				t.Errorf("%s: no test is named for: %s", path, text)
			}
			for _, name := range names {
				if !slices.Contains(tests, name) {
					t.Errorf("%s: %s is not a test of any package", path, name)
				}
			}
		}
	}
	if seen < 35 {
		t.Errorf("got %d invariants, want the 35 that packages keep at least", seen)
	}
}

// invariants returns the items below the heading Invariants of a package's comment.
func invariants(text string) []string {
	var out []string
	below := false
	var p comment.Parser
	for _, block := range p.Parse(text).Content {
		switch b := block.(type) {
		case *comment.Heading:
			below = len(b.Text) == 1 && b.Text[0] == comment.Plain("Invariants")
		case *comment.List:
			for _, item := range b.Items {
				if below {
					var printer comment.Printer
					out = append(out, string(printer.Text(&comment.Doc{Content: item.Content})))
				}
			}
		}
	}
	return out
}
