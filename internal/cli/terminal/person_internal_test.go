package terminal

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestPersonReadsTheTextOfTheQuestion checks that the view of a draft is the text that the answer is for, and not
// what its file holds by then.
func TestPersonReadsTheTextOfTheQuestion(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "po.md"), []byte("# Exchanged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for document, want := range map[string]string{"# Scored\n": "Scored", "": "The text that was scored is gone: po.md"} {
		shown, out := newScreen(t, lang.English)
		p := &Person{t: shown, Out: out, lines: bufio.NewReader(strings.NewReader("v\na\n"))}
		a, err := p.Ask(context.Background(), gate.Question{
			Language: lang.English, Cwd: dir, Draft: "po.md", Document: document, Choices: []gate.Choice{{Decision: workflow.DecisionApprove, Label: "Approve"}},
		})
		if got := out.String(); err != nil || a.Decision != workflow.DecisionApprove || !strings.Contains(got, want) || strings.Contains(got, "Exchanged") {
			t.Errorf("%v, %v, and they read:\n%s", a, err, got)
		}
	}
}
