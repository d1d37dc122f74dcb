package sdk_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "github.com/mark3labs/mcp-go/server"
	"github.com/rogpeppe/go-internal/diff"

	_ "github.com/bmad-mcp/bmad-mcp/sdk/toolserver"
)

// TestOutside builds a program of another module, which uses the exported packages alone, and runs it. The other
// module has the requirements and checksums of this one, and this file imports the packages that the program uses, so
// that the go command needs no module that building these tests has not fetched.
func TestOutside(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("this machine has no go command")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, source := range map[string]string{
		"main.go": filepath.Join("testdata", "outside", "main.go"),
		"go.mod":  filepath.Join(root, "go.mod"),
		"go.sum":  filepath.Join(root, "go.sum"),
	} {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			text = outsideModule(t, text, root)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "outside.exe", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
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

// outsideModule returns the go.mod of a module that requires this one, in the folder root, and what this one requires.
func outsideModule(t *testing.T, own []byte, root string) []byte {
	t.Helper()
	const module = "github.com/bmad-mcp/bmad-mcp"
	requirements, found := bytes.CutPrefix(own, []byte("module "+module+"\n"))
	if !found {
		t.Fatalf("go.mod does not begin with module %s", module)
	}
	return fmt.Appendf([]byte("module example.org/outside\n"), "%s\nrequire %s v0.0.0\n\nreplace %s => %q\n",
		requirements, module, module, filepath.ToSlash(root))
}
