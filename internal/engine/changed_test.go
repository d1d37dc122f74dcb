package engine_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestChangedAmongMany finds the edited sessions among more than are checked in one go, with
// this machine's records and without.
func TestChangedAmongMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var ids []string
	for n := range 150 {
		b.do(start(fmt.Sprintf("thing %d", n)))
		ids = append(ids, b.session)
	}
	// The first, one of the last chunk, and one that is deleted afterwards.
	for _, n := range []int{0, 149, 70} {
		b.session = ids[n]
		b.replace(`"current_stage": "po"`, `"current_stage": "qa"`)
	}
	if err := os.Remove(filepath.Join(b.dir, ".bmad-task", "session-"+ids[70]+".json")); err != nil {
		t.Fatal(err)
	}
	want := []string{ids[0], ids[149]}
	check := func(how string, all bool) {
		t.Helper()
		found, err := b.engine.Changed(ctx, project.Address{Cwd: b.dir}, summaries(ids...), all)
		if got := slices.Sorted(maps.Keys(found)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v; want %v", how, got, err, want)
		}
	}
	check("with records", false)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if found, err := b.engine.Changed(ended, project.Address{Cwd: b.dir}, summaries(ids...), false); err == nil || len(found) != 0 {
		t.Errorf("after the call was given up: got %v, %v; want an error", found, err)
	}
	if err := os.RemoveAll(filepath.Join(b.state, "checkpoints")); err != nil {
		t.Fatal(err)
	}
	b.restart()
	check("without records", false)
	check("without records, all", true)
}

// summaries returns the summaries of sessions, by their ids alone.
func summaries(ids ...string) []workflow.Summary {
	out := make([]workflow.Summary, len(ids))
	for i, id := range ids {
		out[i].SessionID = id
	}
	return out
}
