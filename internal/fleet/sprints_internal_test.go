package fleet

import (
	"testing"
)

// TestMergeWaitsForTheRun merges no sprint while its run is at work: it asks nothing of an engine, which is missing here.
func TestMergeWaitsForTheRun(t *testing.T) {
	b := build{Built: &Built{Sprints: []SprintResult{{Task: "one"}, {Task: "two"}}}, began: []bool{true, true}, atWork: []bool{true, false}}
	if err := b.mergeReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := b.Built.Sprints; s[0].Merged || s[1].Merged {
		t.Errorf("merged while the first is at work: %+v", s)
	}
}
