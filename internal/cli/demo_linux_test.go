package cli_test

import (
	"strings"
	"testing"
	"time"
)

// TestDemoAsks has a person fill in the forms of the demo: they mistype, look at a document before they decide, and
// leave the script at the second gate.
func TestDemoAsks(t *testing.T) {
	t.Parallel()
	const prompt, thinks = "│ > ", 1200 * time.Millisecond // forms that are answered at once count as a program's
	p := newPerson(t)
	shown := p.types(t, []reply{
		{prompt, "me", thinks}, {prompt, "", 0}, // the questions
		{prompt, "7", thinks}, {prompt, "3", 0}, {prompt, "1", thinks}, // the gate of the requirements
		{prompt, "4", thinks}, // that of the architecture
	}, "bmad-mcp", "demo", "--ask")
	for _, want := range []string{
		"a number from 1 to 4, please", "FR-1 (Must, US-1) A task has a title", "Decided by you in the form.",
		"You went another way than the script, which ends here at", "architect/awaiting_confirmation.", "  .claude/specs/todo/01-product-requirements.md",
	} {
		if strings.Count(shown, want) != 1 {
			t.Errorf("the demo says %d times %q", strings.Count(shown, want), want)
		}
	}
	if strings.Count(shown, "Approve the product requirements?") != 2 {
		t.Error("after a look at the document the demo does not ask again")
	}
	if t.Failed() {
		t.Log(shown)
	}
}
