package internal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// requirementRow is a row of testdata/requirements.md: number, requirement, status, tests.
var (
	requirementRow = regexp.MustCompile(`^\| ([A-Z])(\d+) \| (.+?) \| (.+?) \| (.*?) \|$`)
	namedTest      = regexp.MustCompile(`^([a-z/]+)\.((?:Test|Fuzz)[A-Z]\w*)(?:/([a-z0-9_-]+))?$`)
)

// requirements are the groups of the table with how many each has.
var requirements = map[string]int{"W": 47, "M": 49, "P": 18, "C": 36}

// TestRequirements: each requirement that the program was built for is in the table once, is met as
// asked or says how and why not, and names tests that exist, and that can fail: a benchmark only reports.
func TestRequirements(t *testing.T) {
	table, err := os.ReadFile("testdata/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| No.") {
			continue
		}
		m := requirementRow.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a row: %s", line)
			continue
		}
		id := m[1] + m[2]
		if n, _ := strconv.Atoi(m[2]); n < 1 || n > requirements[m[1]] || m[2] != strconv.Itoa(n) {
			t.Errorf("%s is not a number of the table", id)
		}
		if seen[id] {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
		if how, why, _ := strings.Cut(m[4], ": "); m[4] != "as asked" && (how != "different" || len(strings.Fields(why)) < 4) {
			t.Errorf("%s: the status %q is neither \"as asked\" nor \"different: \" with how and why", id, m[4])
		}
		held(t, id, m[5])
	}
	for group, n := range requirements {
		for i := 1; i <= n; i++ {
			if id := group + strconv.Itoa(i); !seen[id] {
				t.Errorf("%s is missing", id)
			}
		}
	}
}

// held checks the tests that a row names.
func held(t *testing.T, id, tests string) {
	t.Helper()
	if strings.TrimSpace(tests) == "" {
		t.Errorf("%s names no test", id)
		return
	}
	for name := range strings.SplitSeq(tests, ", ") {
		m := namedTest.FindStringSubmatch(name)
		if m == nil {
			t.Errorf("%s: %q is not the name of a test", id, name)
			continue
		}
		if err := declares(findRoom(t, m[1]), m[2]); err != nil {
			t.Errorf("%s: %s: %v", id, name, err)
		}
		script := map[string]string{"TestScripts": "../testdata/script/" + m[3] + ".txtar", "TestTranscripts": "../testdata/mcp/" + m[3] + ".requests"}[m[2]]
		if _, err := os.Stat(script); m[3] != "" && err != nil {
			t.Errorf("%s: %s: %v", id, name, err)
		}
	}
}

// declares returns an error if no test file of a folder has a function.
func declares(folder, function string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(source), "\nfunc "+function+"(") {
			return nil
		}
	}
	return errors.Join(fs.ErrNotExist, errors.New("no such function in the package"))
}
