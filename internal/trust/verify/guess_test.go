package verify_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
)

// TestGuess checks the command by which a project is tested: only files at the root count, the first that fits.
func TestGuess(t *testing.T) {
	t.Parallel()
	gradle, wrapper := "./gradlew test", "gradlew"
	if runtime.GOOS == "windows" {
		gradle, wrapper = `.\gradlew.bat test`, "gradlew.bat"
	}
	npm := func(script string) string { return `{"scripts": {"build": "tsc", "test": ` + script + `}}` }
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":                 {nil, ""},
		"go":                      {map[string]string{"go.mod": "module x\n"}, "go test ./..."},
		"go in a folder":          {map[string]string{"api/go.mod": "module x\n"}, ""},
		"a folder called go.mod":  {map[string]string{"go.mod/x": ""}, ""},
		"go before npm":           {map[string]string{"go.mod": "", "package.json": npm(`"jest"`)}, "go test ./..."},
		"npm":                     {map[string]string{"package.json": npm(`"node --test"`)}, "npm test"},
		"npm, a byte order mark":  {map[string]string{"package.json": "\ufeff" + npm(`"jest"`)}, "npm test"},
		"npm, other odd scripts":  {map[string]string{"package.json": `{"scripts": {"build": 5, "test": "jest"}}`}, "npm test"},
		"npm init":                {map[string]string{"package.json": npm(`"echo \"Error: no test specified\" && exit 1"`)}, ""},
		"npm, an empty script":    {map[string]string{"package.json": npm(`" "`)}, ""},
		"npm, no text":            {map[string]string{"package.json": npm(`["jest"]`)}, ""},
		"npm, no scripts":         {map[string]string{"package.json": `{"name": "test"}`}, ""},
		"npm, a test below":       {map[string]string{"package.json": `{"config": {"scripts": {"test": "jest"}}}`}, ""},
		"npm, no JSON":            {map[string]string{"package.json": `{"scripts": {"test": "jest"`}, ""},
		"npm, too large":          {map[string]string{"package.json": npm(`"jest` + strings.Repeat(" ", 1<<20) + `"`)}, ""},
		"npm without, and python": {map[string]string{"package.json": "{}", "pyproject.toml": ""}, "pytest"},
		"pytest":                  {map[string]string{"pytest.ini": ""}, "pytest"},
		"tox":                     {map[string]string{"tox.ini": "", "Makefile": "test:\n"}, "pytest"},
		"cargo":                   {map[string]string{"Cargo.toml": "", "pom.xml": ""}, "cargo test"},
		"maven":                   {map[string]string{"pom.xml": "", "build.gradle": "", wrapper: ""}, "mvn test"},
		"gradle":                  {map[string]string{"build.gradle": "", wrapper: ""}, gradle},
		"gradle in Kotlin":        {map[string]string{"build.gradle.kts": "", wrapper: ""}, gradle},
		"gradle, no wrapper":      {map[string]string{"build.gradle": ""}, ""},
		"a wrapper alone":         {map[string]string{wrapper: ""}, ""},
		"make":                    {map[string]string{"Makefile": "all: build\n\ntest: build\n\tgo test\n"}, "make test"},
		"make, lower case":        {map[string]string{"makefile": "test:\r\n\tgo test\r\n"}, "make test"},
		"make, several targets":   {map[string]string{"Makefile": "check test::\n\tprove\n"}, "make test"},
		"make, indented":          {map[string]string{"Makefile": "ifdef X\n  test : build\nendif\n"}, "make test"},
		"make, phony alone":       {map[string]string{"Makefile": ".PHONY: test\n"}, ""},
		"make, a variable":        {map[string]string{"Makefile": "test := 1\ntest ::= 2\ntest = a:b\n"}, ""},
		"make, another target":    {map[string]string{"Makefile": "test-unit: x\ntests:\nbuild: test\n"}, ""},
		"make, a recipe":          {map[string]string{"Makefile": "all:\n\ttest : x\n"}, ""},
		"make, a comment":         {map[string]string{"Makefile": "# run test: x\n"}, ""},
		"make reads the first":    {map[string]string{"makefile": "all:\n", "Makefile": "test:\n"}, ""},
	} {
		tree := fstest.MapFS{}
		for file, text := range tt.files {
			tree[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := verify.Guess(tree); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// FuzzGuess checks that no text of a project makes another command than the known ones, and that npm's own placeholder
// makes none.
func FuzzGuess(f *testing.F) {
	f.Add("package.json", `{"scripts": {"test": "jest"}}`)
	f.Add("Makefile", "check test: build\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if name != "package.json" {
			name = "Makefile"
		}
		got := verify.Guess(fstest.MapFS{name: &fstest.MapFile{Data: []byte(text)}})
		switch {
		case got == "":
		case got == "make test" && name == "Makefile" && strings.Contains(text, "test"):
		case got == "npm test" && name == "package.json" && json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))):
		default:
			t.Errorf("%s: %q", name, got)
		}
	})
}
