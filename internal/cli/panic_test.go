package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

// broken is an output of which the first use is a bug.
type broken struct {
	text bytes.Buffer
	used bool
}

func (b *broken) Write(p []byte) (int, error) {
	if !b.used {
		b.used = true
		var none []int
		return none[len(p)], nil
	}
	return b.text.Write(p)
}

// TestPanicInACommand: a panic is reported as a bug, with the stack, and has an exit code of its own.
func TestPanicInACommand(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"help"}, {"status", "--json"}, {"status", "--all"}, {"workflow", "show"}} {
		var out broken
		var errOut bytes.Buffer
		code := cli.Main(append(args, "--cwd", "."), strings.NewReader(""), &out, &errOut)
		said := errOut.String() + out.text.String()
		if code != 7 {
			t.Errorf("%v: exit code %d\n%s", args, code, said)
		}
		for _, want := range []string{"index out of range", "goroutine", "panic_test.go", "this is a bug in bmad-mcp", "status"} {
			if !strings.Contains(said, want) {
				t.Errorf("%v does not say %q:\n%s", args, want, said)
			}
		}
		if strings.Contains(said, "nothing was changed") || strings.Contains(said, "free space") {
			t.Errorf("%v promises what it cannot know:\n%s", args, said)
		}
	}
}
