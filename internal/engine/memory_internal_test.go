package engine

import (
	"fmt"
	"testing"
)

// TestForgottenCallersAreOnTheSafeSide checks that a caller whom the memory has forgotten may have
// seen another document, and was not told of any revision.
func TestForgottenCallersAreOnTheSafeSide(t *testing.T) {
	const limit = 10
	m := newMemory(limit)
	of := func(key string) caller { return caller{m, key} }
	of("first").noteShown(3)
	if of("first").couldKnow(3, m.count.Load()) {
		t.Error("a call knows what was told when it came in")
	}
	call := m.count.Add(1)
	if c := of("first"); c.showedOther(3) || !c.showedOther(4) || !c.couldKnow(3, call) || c.couldKnow(4, call) {
		t.Error("the first caller is not remembered")
	}
	if c := of("stranger"); c.showedOther(3) || c.couldKnow(3, call) {
		t.Error("a stranger was shown something")
	}
	for n := range 3 * limit {
		of(fmt.Sprint(n)).noteShown(1)
	}
	if c := of("first"); !c.showedOther(3) || !c.showedOther(4) || c.couldKnow(3, m.count.Add(1)) {
		t.Error("a forgotten caller counts as one who has seen the document")
	}
	of("first").noteShown(4)
	of("first").noteShown(3) // overtaken by the reply before
	if c := of("first"); c.showedOther(4) || !c.showedOther(3) {
		t.Error("who is shown the document again is not remembered")
	}
}
