package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// reads lists the files with instructions for a program, which it reads unasked. A program with instructions in
// source files, such as go, has no row.
var reads = map[string][]string{
	"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"},
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
	"npm": {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"}, "bun": {"package.json"}, "npx": {"package.json"},
	"jest":   {"package.json", "jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs"},
	"vitest": {"vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"},
	"mocha":  {".mocharc.js", ".mocharc.json", ".mocharc.yml"},
	"deno":   {"deno.json", "deno.jsonc"},
	"pytest": {"conftest.py", "pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"},
	"tox":    {"tox.ini", "pyproject.toml"}, "nox": {"noxfile.py"}, "hatch": {"pyproject.toml"}, "uv": {"pyproject.toml"}, "poetry": {"pyproject.toml"},
	"cargo": {"Cargo.toml", "build.rs", ".cargo/config.toml"},
	"mvn":   {"pom.xml"}, "mvnw": {"pom.xml"}, "ant": {"build.xml"},
	"gradle":  {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
	"gradlew": {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
	"rake":    {"Rakefile"}, "rspec": {".rspec"}, "composer": {"composer.json"}, "phpunit": {"phpunit.xml", "phpunit.xml.dist"},
	"mix": {"mix.exs"}, "sbt": {"build.sbt"}, "lein": {"project.clj"},
	"cmake": {"CMakeLists.txt", "CMakePresets.json"}, "ctest": {"CMakeLists.txt"}, "meson": {"meson.build"},
	"docker": {"Dockerfile", "compose.yaml", "docker-compose.yml"}, "pre-commit": {".pre-commit-config.yaml"}, "earthly": {"Earthfile"},
}

// The bounds for one command.
const (
	maxWords   = 100
	maxFolders = 8
	maxNamed   = 400
)

// Files returns the files of a project, relative to it, that a command names or that its programs read by
// themselves, whether they exist or not. Files run by these in turn are not followed. root is the project's path,
// which a command may spell out.
func Files(tree fs.FS, root, command string) []string {
	words := commandPaths(root, command)
	folders := []string{"."}
	for _, word := range words {
		if info, err := fs.Stat(tree, word); err == nil && info.IsDir() && word != "." && !slices.Contains(folders, word) && len(folders) < maxFolders {
			folders = append(folders, word) // cd web && npm test; make -C lib; pytest tests
		}
	}
	var out []string
	add := func(name string) {
		if len(out) < maxNamed && fs.ValidPath(name) && name != "." && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, word := range words {
		for _, folder := range folders {
			add(path.Join(folder, word))
		}
	}
	for _, word := range words {
		program := path.Base(word)
		for _, end := range []string{".exe", ".cmd", ".bat"} {
			program = strings.TrimSuffix(program, end)
		}
		for _, file := range reads[program] {
			for _, folder := range folders {
				add(path.Join(folder, file))
			}
		}
		if strings.Contains(word, ".") && !strings.Contains(word, "/") { // python -m tools.check
			add(strings.ReplaceAll(word, ".", "/") + ".py")
			add(strings.ReplaceAll(word, ".", "/") + "/__main__.py")
		}
	}
	return out
}

// commandPaths returns the possible paths in a command, relative to the project: the words and their parts after
// an equals sign, without quotes.
func commandPaths(root, command string) []string {
	for _, here := range []string{"$PWD/", "${PWD}/", "$(pwd)/", "%CD%\\"} {
		command = strings.ReplaceAll(command, here, "")
	}
	if root != "" {
		command = strings.ReplaceAll(command, root+string(filepath.Separator), "")
	}
	isQuote := func(r rune) bool { return strings.ContainsRune("\"'`", r) }
	parts := strings.FieldsFunc(command, isQuote) // a name with blanks is quoted
	parts = append(parts, strings.FieldsFunc(command, func(r rune) bool { return isQuote(r) || strings.ContainsRune(" \t\n\r;|&()<>=,{}", r) })...)
	var out []string
	for _, word := range parts {
		word = path.Clean(filepath.ToSlash(strings.TrimPrefix(word, "@")))
		if word != "." && !slices.Contains(out, word) && len(out) < maxWords {
			out = append(out, word)
		}
	}
	return out
}

const (
	// maxPart is the largest file, in bytes, of which only a part may count.
	maxPart = 4 << 20
	// maxHashed bounds the hashed part of a file; a longer one counts by size and time too.
	maxHashed = 256 << 20
)

// Fingerprint returns a hash of a file named in a command, "" if there is none. Of package.json only the scripts
// count. A link differs from a file with the same content, since the target can be replaced unnoticed.
func Fingerprint(tree fs.FS, name string) string {
	info, err := fs.Lstat(tree, name)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := fs.ReadLink(tree, name)
		if err != nil {
			return ""
		}
		_, _ = fmt.Fprintf(sum, "link to %q\n", target)
		if info, err = fs.Stat(tree, name); err != nil || !info.Mode().IsRegular() {
			if err == nil && info.IsDir() {
				return ""
			}
			return hex.EncodeToString(sum.Sum(nil)) // outside the project, if it cannot be read
		}
	}
	switch {
	case info.IsDir():
		return ""
	case !info.Mode().IsRegular(): // a pipe would block
		_, _ = fmt.Fprintf(sum, "mode %v\n", info.Mode())
		return hex.EncodeToString(sum.Sum(nil))
	}
	if err := hashFile(sum, tree, name, info); err != nil {
		_, _ = fmt.Fprintf(sum, "cannot be read: %d %d\n", info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func hashFile(sum io.Writer, tree fs.FS, name string, info fs.FileInfo) (err error) {
	if path.Base(name) == "package.json" && info.Size() <= maxPart {
		data, err := durable.ReadFile(tree, name, maxPart)
		if err != nil {
			return err
		}
		_, err = sum.Write(npmScripts(data))
		return err
	}
	f, err := tree.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(sum, io.LimitReader(f, maxHashed))
	if err == nil && n == maxHashed {
		_, err = fmt.Fprintf(sum, "%d %d\n", info.Size(), info.ModTime().UnixNano())
	}
	return err
}

// npmScripts returns the commands in a package.json; all of it if it is invalid.
func npmScripts(data []byte) []byte {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(data, &pkg) != nil {
		return data
	}
	part, err := json.Marshal(pkg.Scripts)
	if err != nil {
		return data
	}
	return part
}
