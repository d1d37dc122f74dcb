package trust_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func typedGate(project string) trust.TypedGate {
	return trust.TypedGate{
		Project: project, SessionID: "00000001-0000-4000-8000-000000000000", Stage: workflow.PO, Revision: 2,
		SHA256: workflow.Hash([]byte("draft")), Action: workflow.ActionConfirm, Decision: workflow.DecisionApprove,
	}
}

func putTyped(t *testing.T, f trust.UserState, typed trust.Typed) {
	t.Helper()
	if err := f.PutTyped(typed); err != nil {
		t.Fatal(err)
	}
}

func TestTypedIsForOneGate(t *testing.T) {
	f, here := folder(t), t.TempDir()
	gate := typedGate(here)
	take := func(g trust.TypedGate, needsWords bool, now time.Time) bool {
		t.Helper()
		_, ok, err := f.TakeTyped(t.Context(), g, needsWords, now)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if take(gate, false, at) {
		t.Error("taken before anything was typed")
	}
	putTyped(t, f, trust.Typed{TypedGate: gate, At: at})
	for name, change := range map[string]func(*trust.TypedGate){
		"another project":  func(g *trust.TypedGate) { g.Project = t.TempDir() },
		"another session":  func(g *trust.TypedGate) { g.SessionID = "00000002-0000-4000-8000-000000000000" },
		"another stage":    func(g *trust.TypedGate) { g.Stage = workflow.Architect },
		"another revision": func(g *trust.TypedGate) { g.Revision++ },
		"another draft":    func(g *trust.TypedGate) { g.SHA256 = workflow.Hash([]byte("other")) },
		"no draft":         func(g *trust.TypedGate) { g.SHA256 = "" },
		"another action":   func(g *trust.TypedGate) { g.Action = workflow.ActionApprove },
		"another decision": func(g *trust.TypedGate) { g.Decision = workflow.DecisionChanges },
	} {
		g := gate
		change(&g)
		if take(g, false, at) {
			t.Errorf("%s took it", name)
		}
	}
	if take(gate, true, at) {
		t.Error("one without words was taken where words are needed")
	}
	if take(gate, false, at.Add(trust.TypedFor)) || take(gate, false, at.Add(-time.Minute)) {
		t.Error("one of another time was taken")
	}
	gate.Project = here + "/./" // however it is spelled
	if !take(gate, false, at.Add(trust.TypedFor-time.Second)) || take(gate, false, at) {
		t.Error("it is not good for exactly once")
	}

	// Blank words are none.
	putTyped(t, f, trust.Typed{TypedGate: gate, Words: " \n", At: at})
	if take(gate, true, at) {
		t.Error("one with blank words was taken where words are needed")
	}

	// The last one counts, and has its words.
	putTyped(t, f, trust.Typed{TypedGate: gate, Words: "first", At: at})
	putTyped(t, f, trust.Typed{TypedGate: gate, Words: "second", At: at})
	if words, ok, err := f.TakeTyped(t.Context(), gate, true, at); !ok || words != "second" || err != nil {
		t.Errorf("%q, %v, %v", words, ok, err)
	}
	left, err := os.ReadDir(filepath.Join(string(f), "typed"))
	if len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestTypedIsTakenOnce by whoever comes first.
func TestTypedIsTakenOnce(t *testing.T) {
	f, here := folder(t), t.TempDir()
	for range 20 {
		putTyped(t, f, trust.Typed{TypedGate: typedGate(here), At: at})
		var got atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, ok, err := f.TakeTyped(t.Context(), typedGate(here), false, at); ok && err == nil {
					got.Add(1)
				}
			})
		}
		wg.Wait()
		if got.Load() != 1 {
			t.Fatalf("%d callers got it", got.Load())
		}
	}
}

func TestBrokenTypedCountsForNothing(t *testing.T) {
	f, here := folder(t), t.TempDir()
	putTyped(t, f, trust.Typed{TypedGate: typedGate(here), At: at})
	entries, err := os.ReadDir(filepath.Join(string(f), "typed"))
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	name := filepath.Join(string(f), "typed", entries[0].Name())
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
	for _, text := range []string{"", "{", "[]", `{"project":"` + here + `"}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := f.TakeTyped(t.Context(), typedGate(here), false, at); ok || err != nil {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
	}
}
