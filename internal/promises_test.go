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

// TestPromisesAreHeld: the README names a test for each promise, and each of them is there.
func TestPromisesAreHeld(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
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
	promises := named.FindAllSubmatch(readme, -1)
	if len(promises) < 30 {
		t.Fatalf("the README names %d tests", len(promises))
	}
	for _, m := range promises {
		name, open := string(m[1]), len(m[2]) > 0
		found := false
		for _, test := range tests {
			found = found || test == name || open && strings.HasPrefix(test, name)
		}
		if !found {
			t.Errorf("the README names %s, which no package has", name)
		}
	}
}
