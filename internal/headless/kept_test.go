package headless_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// TestPaidAnswerIsKept checks that an answer is on disk before it is handed in: what ends the run there, a kill too,
// costs no second call.
func TestPaidAnswerIsKept(t *testing.T) {
	b := newBench(t, map[string][]act{"po": {{text: scoredDocument(95)}}})
	moved := filepath.Join(b.dir, filepath.FromSlash(store.MovedFile))
	b.worker.acts["po"][0].meanwhile = func() { // from here on the store takes no change
		if err := os.WriteFile(moved, []byte("postgres://x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.options.Gates = headless.Stop
	if _, err := headless.New(b.options).Start(ctx, "Build a to-do list", ""); err == nil || !strings.Contains(err.Error(), "were moved to the store") {
		t.Fatalf("the answer was handed in: %v", err)
	}
	if kept := b.read("run.json"); !strings.Contains(kept, `"answer"`) || !strings.Contains(kept, "to-do") {
		t.Errorf("the answer that was paid for is not in run.json:\n%s", kept)
	}
	if err := os.Remove(moved); err != nil {
		t.Fatal(err)
	}
	b.at(b.resume("build-a-to-do-list"), headless.Person, "po/awaiting_confirmation") // by the only act that there is
	if rec := b.session().Record("po"); rec.Iteration != 1 || *rec.Score != 95 {
		t.Errorf("%d rounds, score %g", rec.Iteration, *rec.Score)
	}
}

// TestAnswerIsForItsPoint checks that an answer which was kept for a point that has passed is not handed in for the
// next round.
func TestAnswerIsForItsPoint(t *testing.T) {
	b := newBench(t, map[string][]act{"po": {{text: scoredDocument(95)}, {text: scoredDocument(97)}}})
	b.worker.acts["po"][0].meanwhile = func() { b.do(submitRequest("po", scoredDocument(50))) }
	if _, err := headless.New(b.options).Start(ctx, "Build a to-do list", ""); err == nil {
		t.Fatal("an answer was handed in for a point that had passed")
	}
	b.options.Gates = headless.Stop
	b.at(b.resume("build-a-to-do-list"), headless.Person, "po/awaiting_confirmation")
	if rec := b.session().Record("po"); rec.Iteration != 2 || *rec.Score != 97 {
		t.Errorf("%d rounds, score %g; want 2 with 97", rec.Iteration, *rec.Score)
	}
}
