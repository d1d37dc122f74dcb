package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// altersTheSource matches commands that build a program of other source than `go install` does: flags of the
// compiler for single packages, files or modules in the place of others, and edits of files.
var altersTheSource = regexp.MustCompile(`-(gcflags|overlay|modfile|replace)\b|\bsed\b[^\n|]*(\s-i|--in-place)|\bgo mod vendor\b`)

// TestOneBuild: the scripts that build, measure and publish the program take the source and the libraries as they
// are, so that a release, its bill of materials and its figures are those of the program that `go install` builds.
func TestOneBuild(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../.ci", "../.github"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range altersTheSource.FindAllString(string(text), -1) {
				t.Errorf("%s has %q, which builds another program than go install does", path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for text, altered := range map[string]bool{
		`go build "-gcflags=github.com/jackc/...=-l"`:  true,
		`go build -modfile="$work/release.mod"`:        true,
		`go build -overlay overlay.json`:               true,
		`go mod edit -replace a=./b "$work/other.mod"`: true,
		`sed -i.bak -e 's/init/later/' draft.go`:       true,
		`sed --in-place 's/a/b/' "$module/draft.go"`:   true,
		`go build -trimpath -ldflags '-s -w'`:          false,
		`sed -n 's/^version=//p' .ci/package`:          false,
	} {
		if altersTheSource.MatchString(text) != altered {
			t.Errorf("%s: found %t, want %t", text, !altered, altered)
		}
	}
}
