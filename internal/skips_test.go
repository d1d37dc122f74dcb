package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSkipsExist: .ci/skips allows to skip only steps of .ci/run and tests that exist, each under a reason, so
// that the list does not allow more than it has to.
func TestSkipsExist(t *testing.T) {
	list, err := os.ReadFile("../.ci/skips")
	if err != nil {
		t.Fatal(err)
	}
	for problem := range wrongSkips(string(list)) {
		t.Error(problem)
	}
	got := wrongSkips("  internal/trust TestChild\na reason\n  step race nothing\n  internal/trust TestChil *laces TestNone*\n")
	for _, want := range []string{"internal/trust TestChild has no reason", "step nothing", "internal/trust TestChil", "internal/trust TestNone*"} {
		if !got[want] {
			t.Errorf("got %v, want %s in it", got, want)
		}
	}
	if len(got) != 4 {
		t.Errorf("got %v, want 4 problems", got)
	}
}

// wrongSkips returns the names in a list of skips that name nothing, or have no reason.
func wrongSkips(list string) map[string]bool {
	out := map[string]bool{}
	reason := ""
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#") || len(fields) == 0:
		case !strings.HasPrefix(line, "  "):
			reason = line
		default:
			for _, name := range fields[1:] {
				if !skips(fields[0], name) {
					out[fields[0]+" "+name] = true
				}
				if reason == "" {
					out[fields[0]+" "+name+" has no reason"] = true
				}
			}
		}
	}
	return out
}

// skips reports whether .ci/run has a step, or the tests of a package one, that can be skipped under
// a name.
func skips(pkg, name string) bool {
	files, pattern := []string{"../.ci/run"}, "skips? "+name+`\b`
	if pkg != "step" {
		files, _ = filepath.Glob("../" + pkg + "/*_test.go")
		pattern = `(?m)^func ` + strings.ReplaceAll(name, "*", `\w*`) + `\(t`
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err == nil && regexp.MustCompile(pattern).Match(source) {
			return true
		}
	}
	return false
}
