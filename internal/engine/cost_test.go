package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestCostOfAnAction counts the syncs and renames of every action of a whole run, and
// compares them with the needs of its promise: a sync for each text and for its
// folder; two and a rename for the artifact; two and a rename for the run, and for
// what is recorded of it outside the project; for a start, two for its name; and one for each folder that is made for the first time. No action
// may cost twice that. The reads in the project are on record too: a session is decoded once
// in an action. See the package comment of durable for why none of them can go.
func TestCostOfAnAction(t *testing.T) {
	count := &opens{times: map[string]int{}}
	w := newWorldOf(durabletest.New(), "cost", true)
	w.count = count
	w = newWorldWithID(w, crashID)
	var out strings.Builder
	for n, step := range crashRun() {
		w.edits(t, step)
		w.disk.Plan(durabletest.Fault{})
		count.take()
		reply, err := w.do(n, step)
		if err != nil {
			t.Fatal(err)
		}
		if count.decodes > 1 || count.decodes == 0 && step.req.Action != workflow.ActionStart {
			t.Errorf("%s: the run was decoded %d times", step.req.Action, count.decodes)
		}
		syncs, renames, folders, texts, replaced := 0, 0, 0, 0, 0
		for _, s := range w.disk.Steps() {
			switch {
			case s.Op == "fsync", s.Op == "fsync folder":
				syncs++
			case s.Op == "rename":
				renames++
				if strings.HasPrefix(s.Name, artifact.Folder+"/") || strings.HasPrefix(s.Name, artifact.WorkFolder+"/") {
					replaced++
				}
			case s.Op == "mkdir":
				folders++
			case s.Op == "create" && strings.HasPrefix(s.Name, ".bmad-task/temp/"):
				texts++
			}
		}
		needSyncs, needRenames := 4+folders+2*replaced, 2+replaced
		if texts > 0 {
			needSyncs += texts + 1
		}
		if step.req.Action == workflow.ActionStart {
			needSyncs += 2
			// The first start also makes .gitignore and the folder of names, which appears complete.
			needSyncs, needRenames = needSyncs+4, needRenames+2
		}
		if syncs > 2*needSyncs || renames > 2*needRenames {
			t.Errorf("%s: %d syncs and %d renames; it needs %d and %d", step.req.Action, syncs, renames, needSyncs, needRenames)
		}
		fmt.Fprintf(&out, "%-8s → %-26s %2d syncs %d renames; needs %2d and %d%s\n",
			step.req.Action, fmt.Sprint(reply.Stage, "/", reply.State), syncs, renames, needSyncs, needRenames, count.reads())
	}
	// One more start, in a project that has some already.
	w.disk.Plan(durabletest.Fault{})
	count.take()
	again := newWorldWithID(w, "22222222-2222-4333-8444-555555555555")
	if _, err := again.do(99, crashStep{req: start("build another thing")}); err != nil {
		t.Fatal(err)
	}
	syncs, renames := 0, 0
	for _, s := range w.disk.Steps() {
		if s.Op == "rename" {
			renames++
		} else if strings.HasPrefix(s.Op, "fsync") {
			syncs++
		}
	}
	fmt.Fprintf(&out, "%-8s → %-26s %2d syncs %d renames; needs %2d and %d%s\n", "start", "po/generating, the second", syncs, renames, 6, 2, count.reads())
	if syncs > 12 || renames > 4 {
		t.Errorf("a start takes %d syncs and %d renames", syncs, renames)
	}
	golden.Check(t, "testdata/cost.txt", out.String())
}
