package verify

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// maxBuildFile bounds the files read for a guess.
const maxBuildFile = 1 << 20

// Guess returns the command by which a project is usually tested, by the files at the root of tree; "" if they name none.
func Guess(tree fs.FS) string {
	has := func(name string) bool {
		info, err := fs.Stat(tree, name)
		return err == nil && info.Mode().IsRegular()
	}
	read := func(name string) []byte {
		data, err := durable.ReadFile(tree, name, maxBuildFile)
		if err != nil {
			return nil // it says nothing
		}
		return data
	}
	switch {
	case has("go.mod"):
		return "go test ./..."
	case hasNpmTest(read("package.json")):
		return "npm test"
	case has("pyproject.toml"), has("pytest.ini"), has("tox.ini"):
		return "pytest"
	case has("Cargo.toml"):
		return "cargo test"
	case has("pom.xml"):
		return "mvn test"
	case has(wrapper) && (has("build.gradle") || has("build.gradle.kts")):
		return gradleTest
	}
	for _, name := range reads["make"] {
		if has(name) { // make reads only the first
			if hasTestTarget(string(read(name))) {
				return "make test"
			}
			break
		}
	}
	return ""
}

// hasNpmTest reports whether a package.json has a test script other than the one npm init writes.
func hasNpmTest(data []byte) bool {
	var pkg struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &pkg) != nil {
		return false
	}
	script, _ := pkg.Scripts["test"].(string)
	return strings.TrimSpace(script) != "" && !strings.Contains(script, "no test specified")
}

// hasTestTarget reports whether a makefile has a rule for the target test.
func hasTestTarget(text string) bool {
	for line := range strings.Lines(text) {
		targets, rest, isRule := strings.Cut(line, ":")
		assigns := strings.HasPrefix(strings.TrimLeft(rest, ":"), "=") || strings.ContainsAny(targets, "=#")
		isRecipe := strings.HasPrefix(line, "\t")
		if isRule && !assigns && !isRecipe && slices.Contains(strings.Fields(targets), "test") {
			return true
		}
	}
	return false
}
