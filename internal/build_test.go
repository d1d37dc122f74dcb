package internal_test

import (
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

// askedFor lists the libraries that the program was asked to be made with.
var askedFor = []string{"github.com/mark3labs/mcp-go", "github.com/google/uuid", "github.com/gosimple/slug", "github.com/looplab/fsm"}

// TestLibrariesAskedFor: each library that was asked for is a direct dependency, which code of the program imports.
func TestLibrariesAskedFor(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var imported []string
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported = append(imported, strings.Trim(spec.Path.Value, `"`))
		}
	}
	for _, library := range askedFor {
		requirement := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(library) + ` v\S+ // (.+)$`).FindSubmatch(list)
		if requirement == nil || string(requirement[1]) == "indirect" {
			t.Errorf("go.mod does not require %s directly, with its reason", library)
		}
		if !slices.ContainsFunc(imported, func(path string) bool { return path == library || strings.HasPrefix(path, library+"/") }) {
			t.Errorf("no code of the program imports %s", library)
		}
	}
}
