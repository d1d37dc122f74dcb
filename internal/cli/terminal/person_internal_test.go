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

// TestKeysKeepTheirMeaning checks that a key is the same decision at each gate, and that the choices are shown
// again once the document has pushed them off the screen.
func TestKeysKeepTheirMeaning(t *testing.T) {
	yes := gate.Choice{Decision: workflow.DecisionApprove, Label: "Approve"}
	no := gate.Choice{Decision: workflow.DecisionChanges, Label: "Change"}
	run := gate.Choice{Decision: workflow.DecisionApprove, Label: "Approve and run", Offer: &workflow.Offer{Command: "make"}}
	risk := gate.Choice{Decision: workflow.DecisionOverride, Label: "Accept the risk"}
	done := gate.Choice{Decision: workflow.DecisionChanges, Label: "It is done", Reason: true}
	without := gate.Choice{Decision: workflow.DecisionApprove, Label: "Go on without it", Reason: true}
	leave := gate.Choice{Decision: workflow.DecisionCancel, Label: "Cancel this run"}
	for _, tt := range []struct {
		choices []gate.Choice
		keys    string
	}{{[]gate.Choice{yes, run, no}, "arc"}, {[]gate.Choice{no, risk}, "co"}, {[]gate.Choice{done, without}, "do"}, {[]gate.Choice{leave}, "y"}} {
		for i, choice := range tt.choices {
			shown, out := newScreen(t, lang.English)
			key := string(tt.keys[i])
			p := &Person{t: shown, Out: out, lines: bufio.NewReader(strings.NewReader("v\n?\n" + key + "\n"))}
			a, err := p.Ask(context.Background(), gate.Question{Language: lang.English, Draft: "po.md", Document: "# P\n", Choices: tt.choices})
			if err != nil || a.Decision != choice.Decision || a.Offer != choice.Offer {
				t.Errorf("%s: %+v, %v, want %s", key, a, err, choice.Label)
			}
			if n := strings.Count(out.String(), "  "+key+"  "+choice.Label+"\n"); n != 3 {
				t.Errorf("%s: the choices are shown %d times, want once a question:\n%s", key, n, out)
			}
		}
	}
}
