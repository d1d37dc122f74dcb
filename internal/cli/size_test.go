package cli_test

import (
	"bytes"
	"os"
	"testing"
)

// TestNoTemplates: the program executes no template. Templates call methods by name, for which the linker
// has to keep every exported method of the program: 7 MB.
func TestNoTemplates(t *testing.T) {
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The program of this test has all of bmad-mcp, and the names of the functions that are linked, for the
	// traces of panics.
	program, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	linked := func(function string) bool { return bytes.Contains(program, []byte(function+"\x00")) }
	if !linked("github.com/bmad-mcp/bmad-mcp/internal/web.New") {
		t.Fatal("the program does not name its functions")
	}
	for _, function := range []string{"text/template.(*Template).Execute", "html/template.(*Template).Execute"} {
		if linked(function) {
			t.Errorf("%s is linked: go tool nm -size -sort size shows what it brings along", function)
		}
	}
}
