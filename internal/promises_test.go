package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	named    = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)(…?)`")
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)\(`)
)

// promiseRow is a row of the tables in docs/promises.md: a promise, and the tests that hold it.
var promiseRow = regexp.MustCompile(`(?m)^\| (.+) \| (.*) \|$`)

// TestPromisesAreHeld: the page of promises names at least one test for each promise, and each of
// them is there.
func TestPromisesAreHeld(t *testing.T) {
	page, err := os.ReadFile("../docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	err = filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			tests = append(tests, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(string(page), "\n## Against whom\n")
	for _, row := range promiseRow.FindAllStringSubmatch(tables, -1) {
		if row[1] != "Promise" && !named.MatchString(row[2]) {
			t.Errorf("no test is named for: %s", row[1])
		}
	}
	promises := named.FindAllStringSubmatch(string(page), -1)
	if len(promises) < 100 {
		t.Fatalf("the page names %d tests", len(promises))
	}
	for _, m := range promises {
		name, open := m[1], m[2] != ""
		found := false
		for _, test := range tests {
			found = found || test == name || open && strings.HasPrefix(test, name)
		}
		if !found {
			t.Errorf("the page names %s, which no package has", name)
		}
	}
}
