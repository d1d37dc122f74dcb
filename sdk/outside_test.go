package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// TestOutside builds a program of another module, which uses the exported packages alone, and runs it.
func TestOutside(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("this machine has no go command")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("testdata", "outside", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": string(source),
		"go.mod":  "module example.org/outside\n\ngo 1.26.0\n",
		"go.work": "go 1.26.0\n\nuse (\n\t.\n\t" + filepath.ToSlash(root) + "\n)\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "outside.exe", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=", "GOFLAGS=", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "outside.exe")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "Which price?\nstock 5\ncalendar_next_holiday 12-25\n{Item:boxes Price:12 Until:12-25} after 5 calls\n"
	if d := diff.Diff("want", []byte(want), "got", out); d != nil {
		t.Errorf("%s", d)
	}
}
