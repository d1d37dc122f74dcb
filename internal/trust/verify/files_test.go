package verify_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
)

// project makes a project with the named files, and returns it open.
func project(t *testing.T, files ...string) *durable.Dir {
	t.Helper()
	root := t.TempDir()
	for _, name := range files {
		put(t, filepath.Join(root, filepath.FromSlash(name)), "content of "+name)
	}
	dir, err := durable.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	dir := project(t, "check.sh", "a b.sh", "Makefile", "package.json", "pyproject.toml", "tests/conftest.py", "web/package.json", "web/run.js",
		"scripts/x", "tools/check.py", "Cargo.toml", "gradlew", "build.gradle", "main.go", "lib/Makefile", "cmd.txt", ".env")
	for command, want := range map[string]string{
		"sh check.sh":                         "check.sh",
		"sh  ./check.sh --all":                "check.sh",
		"sh scripts/../check.sh":              "check.sh",
		"bash -c 'sh check.sh'":               "check.sh",
		`bash -c "sh check.sh && true"`:       "check.sh",
		"./check.sh|tee log":                  "check.sh",
		"sh<check.sh":                         "check.sh",
		"$(cat cmd.txt)":                      "cmd.txt",
		"`cat cmd.txt`":                       "cmd.txt",
		"ENV=.env sh $PWD/check.sh":           ".env check.sh",
		"run --script=check.sh":               "check.sh",
		"curl -d @check.sh x":                 "check.sh",
		"sh " + dir.Join("check.sh"):          "check.sh",
		"make":                                "Makefile",
		"make -C lib test":                    "Makefile lib/Makefile",
		"/usr/bin/make check":                 "Makefile",
		"npm test":                            "package.json",
		"cd web && npm test":                  "package.json web/package.json",
		"npm --prefix web test":               "package.json web/package.json",
		"cd web; node run.js":                 "web/run.js",
		"python -m pytest":                    "pyproject.toml",
		"pytest tests -x":                     "tests/conftest.py pyproject.toml",
		"python3 -m tools.check":              "tools/check.py",
		"./gradlew test":                      "gradlew build.gradle",
		"cargo test --workspace":              "Cargo.toml",
		"go test ./...":                       "",
		"go vet ./... && go test -race ./...": "",
		"go run main.go":                      "main.go",
		"./scripts/x --flag":                  "scripts/x",
		"scripts/x":                           "scripts/x",
		"scripts/y":                           "",
		"true":                                "",
		"sh ../other/check.sh":                "",
		"sh /etc/passwd":                      "",
		"":                                    "",
		"sh 'a b.sh'":                         "a b.sh",
	} {
		var got []string
		for _, name := range verify.Files(dir.Tree(), dir.Path(), command) {
			if verify.Fingerprint(dir.Tree(), name) != "" {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if got := verify.Files(dir.Tree(), "", strings.Repeat("a b/c web lib tests scripts tools ", 50)+strings.Repeat("x y ", 5000)); len(got) > 400 {
		t.Errorf("%d files out of one command", len(got))
	}
	if got := verify.Files(dir.Tree(), "", "sh gone.sh"); !slices.Contains(got, "gone.sh") {
		t.Errorf("a file that may come is not named: %q", got)
	}
}

func TestFingerprint(t *testing.T) {
	dir := project(t, "check.sh", "package.json", "other.sh", "folder/x")
	of := func(name string) string { return verify.Fingerprint(dir.Tree(), name) }
	before := of("check.sh")
	if len(before) != 64 || of("gone.sh") != "" || of("folder") != "" || of("other.sh") == before {
		t.Errorf("%q %q %q", before, of("gone.sh"), of("folder"))
	}
	put(t, dir.Join("check.sh"), "changed")
	changed := of("check.sh")
	if changed == before {
		t.Error("a change does not show")
	}
	put(t, dir.Join("package.json"), `{"version":"1","scripts":{"test":"jest","build":"tsc"}}`)
	whole := of("package.json")
	put(t, dir.Join("package.json"), "{\"scripts\": {\"build\": \"tsc\", \"test\": \"jest\"},\n \"version\": \"2\"}")
	if of("package.json") != whole {
		t.Error("of package.json more than the scripts counts")
	}
	put(t, dir.Join("package.json"), `{"version":"2","scripts":{"test":"true","build":"tsc"}}`)
	if of("package.json") == whole {
		t.Error("a changed script of package.json does not show")
	}
	put(t, dir.Join("package.json"), `{"scripts": 1`)
	if broken := of("package.json"); broken == whole || broken == "" {
		t.Errorf("%q", broken)
	}

	outside := filepath.Join(t.TempDir(), "check.sh")
	put(t, outside, "changed")
	for name, target := range map[string]string{"to another": "other.sh", "out of the project": outside, "to nothing": "nothing"} {
		if err := os.Remove(dir.Join("check.sh")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, dir.Join("check.sh")); err != nil {
			t.Skip(err)
		}
		if got := of("check.sh"); got == changed || got == "" || got == of("other.sh") {
			t.Errorf("a link %s counts as the file: %q", name, got)
		}
	}
}
