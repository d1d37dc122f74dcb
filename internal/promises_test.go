package internal_test

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
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

// declaredTests returns the source of the files that have each test and fuzz test, by its name.
func declaredTests(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, path := range goFiles(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(source, -1) {
			out[string(m[1])] += string(source)
		}
	}
	return out
}

// promiseRow is a row of the tables in docs/promises.md: a promise, and the tests that hold it.
var promiseRow = regexp.MustCompile(`(?m)^\| (.+) \| (.*) \|$`)

var (
	inCode = regexp.MustCompile("`[^`]*`")
	number = regexp.MustCompile(`\b\d[\d,_]*\d\b`)
	marks  = strings.NewReplacer(",", "", "_", "")
)

// numbersOf returns the numbers of two digits or more in a text, outside of code.
func numbersOf(text string) []string {
	var out []string
	for _, n := range number.FindAllString(inCode.ReplaceAllString(text, ""), -1) {
		out = append(out, marks.Replace(n))
	}
	return out
}

// TestPromisesAreHeld: the page of promises names at least one test for each promise. A number in a promise stands in the
// files of these tests, too. A test that any page names is there.
func TestPromisesAreHeld(t *testing.T) {
	page := readPage(t, "docs/promises.md")
	tests := declaredTests(t)
	tables, _, _ := strings.Cut(page, "\n## Against whom\n")
	seen := 0
	for _, row := range promiseRow.FindAllStringSubmatch(tables, -1) {
		if row[1] != "Promise" && !named.MatchString(row[2]) {
			t.Errorf("no test is named for: %s", row[1])
		}
		var held []string
		for _, m := range named.FindAllStringSubmatch(row[2], -1) {
			held = append(held, numbersOf(tests[m[1]])...)
		}
		for _, n := range numbersOf(row[1]) {
			seen++
			if !slices.Contains(held, n) {
				t.Errorf("no test has the number %s: %s", n, row[1])
			}
		}
	}
	if seen < 4 {
		t.Errorf("got %d numbers in promises, want the 4 of the page at least", seen)
	}
	if names := named.FindAllString(page, -1); len(names) < 100 {
		t.Fatalf("the page names %d tests", len(names))
	}
	for _, name := range userPages(t) {
		for _, m := range named.FindAllStringSubmatch(readPage(t, name), -1) {
			isIt := func(test string) bool { return test == m[1] || m[2] != "" && strings.HasPrefix(test, m[1]) }
			if !slices.ContainsFunc(slices.Collect(maps.Keys(tests)), isIt) {
				t.Errorf("%s names %s, which no package has", name, m[1])
			}
		}
	}
}

// measured finds results of measurements. Limits are in kB, MiB and seconds.
var measured = regexp.MustCompile(`\d ?(ms|µs|毫秒)\b|\d (个 )?tokens?\b|\b(one|two|[0-9]+) cores\b|[单双两四八] ?个?核|nDCG`)

// TestMeasurementsAreOnOnePage: they go stale where nobody repeats them. The comparison has those of other programs beside
// its date, and the requirements have figures that were asked for.
func TestMeasurementsAreOnOnePage(t *testing.T) {
	for _, name := range userPages(t) {
		page := strings.Replace(name, ".zh.", ".", 1)
		if slices.Contains([]string{"docs/figures.md", "docs/compare.md", "docs/seeds.md"}, page) {
			continue
		}
		for _, found := range measured.FindAllString(codeBlock.ReplaceAllString(readPage(t, name), ""), -1) {
			t.Errorf("%s has the measurement %q, which belongs to docs/figures.md", name, found)
		}
	}
	for text, want := range map[string]bool{"takes 9 ms": true, "about 8,400 tokens": true, "在双核机器上": true, "20 kB, at most 8 MiB in 10 minutes, `took_ms`": false} {
		if got := measured.MatchString(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
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
				if tests[name] == "" {
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
