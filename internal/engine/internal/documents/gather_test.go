package documents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestDraft checks what the facts say of the draft of a stage, of which each copy can be gone or edited.
func TestDraft(t *testing.T) {
	t.Parallel()
	at := workflow.AwaitingConfirmation
	type change = func(b *bench)
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		state  workflow.State
		change change
		want   string // missing, edited, size, path is the copy's, edit, hash is the round's
	}{
		"as handed in":      {workflow.PO, at, func(b *bench) { b.write(b.work(), "two\n") }, "false false 4 copy no-edit same"},
		"edited":            {workflow.PO, at, func(b *bench) { b.write(b.work(), "three\n") }, "false true 6 copy 2-line same"},
		"edited in spaces":  {workflow.PO, at, func(b *bench) { b.write(b.work(), "two\n\n\n") }, "false false 6 copy no-edit same"},
		"edited at work":    {workflow.PO, workflow.Refining, func(b *bench) { b.write(b.work(), "three\n") }, "false true 6 copy no-edit same"},
		"edited, no record": {workflow.PO, at, func(b *bench) { b.write(b.work(), "three\n"); b.remove(b.s.Session.Current().FinalResultRef.FilePath) }, "false true 6 copy no-edit same"},
		"line ends":         {workflow.PO, at, func(b *bench) { b.write(b.work(), "two\r\n") }, "false false 5 copy no-edit same"},
		"no copy":           {workflow.PO, at, nil, "false false 4 round no-edit same"},
		"no copy, changed":  {workflow.PO, at, func(b *bench) { b.write(b.s.Session.Current().FinalResultRef.FilePath, "x") }, "false true 4 round no-edit same"},
		"both gone":         {workflow.PO, at, func(b *bench) { b.remove(b.s.Session.Current().FinalResultRef.FilePath) }, "true false 4 round no-edit same"},
		"blocked":           {workflow.Review, workflow.AwaitingApproval, func(b *bench) { b.write(b.work(), "three\n"); b.s.Session.Current().Verdict = workflow.Blocked }, "false true 6 copy no-edit same"},
		"ended":             {workflow.PO, workflow.Completed, func(b *bench) { b.write(b.work(), "three\n") }, "false false 0 copy no-edit other"},
		"hash of the entry": {workflow.PO, at, func(b *bench) { b.s.Session.Current().FinalResultRef.SHA256 = "" }, "false false 4 round no-edit same"},
		"of another stage": {workflow.PO, at, func(b *bench) {
			b.s.Session.Current().FinalResultRef.SHA256, b.s.Session.History[1].SHA256, b.s.Session.History[2].SHA256 = "", "", ""
			b.s.Session.Append(workflow.Transition{Action: workflow.ActionSubmit, From: "qa/generating", SHA256: "aa"})
		}, "false false 4 round no-edit same"},
	} {
		b := open(t, tt.stage, tt.state)
		b.submit(tt.stage, "one\n")
		ref := b.submit(tt.stage, "two\n")
		if tt.change != nil {
			tt.change(b)
		}
		b.fresh().GatherDraft(ctx, b.s)
		d := b.s.Draft
		where, edit, hash := "copy", "no-edit", "other"
		if d.Path == ref.FilePath {
			where = "round"
		}
		if d.Edit != nil {
			edit = fmt.Sprintf("%d-line", len(d.Edit.Lines))
			if d.Edit.SHA256 != workflow.Hash([]byte("three\n")) {
				t.Errorf("%s: the edit has the hash of another text", name)
			}
		}
		if d.SHA256 == workflow.Hash([]byte("two\n")) {
			hash = "same"
		}
		if got := fmt.Sprint(d.Missing, d.Edited, " ", d.Size, " ", where, " ", edit, " ", hash); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// TestGather checks the other facts that are read from disk: saved files, altered texts, the changes of a round, the
// sources of criteria, and what an edit has taken back.
func TestGather(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.Architect, workflow.AwaitingConfirmation)
	ref := b.submit(workflow.PO, "# PRD\n\n## Acceptance criteria\n\n- AC-1: it rings\n")
	a := b.save(workflow.PO, "# PRD\n\n## Acceptance criteria\n\n- AC-1: it rings\n")
	b.submit(workflow.Architect, "# A\n\nIt rings at dawn.\n")
	edit := b.submit(workflow.Architect, "# A\n\nIt rings at dusk.\n")
	b.s.Session.Artifacts = []string{a.Path, "gone.md"}
	look := func() string {
		b.fresh().Gather(ctx, b.s)
		altered := make([]string, len(b.s.Altered))
		for i, one := range b.s.Altered {
			altered[i] = fmt.Sprintf("%s record %v missing %v", strings.Replace(one.Path, ref.FilePath, "ROUND", 1), one.Record, one.Missing)
		}
		changed := "none"
		if b.s.Criteria != nil {
			changed = fmt.Sprint(b.s.Criteria.Owed(), b.s.Criteria.Changed())
		}
		return fmt.Sprint(b.s.Saved[a.Path], b.s.Saved["gone.md"].Missing, " ", altered, " ", *b.s.Draft.Changes, " ", changed)
	}
	const changes = "{1 1 1 [A] {[] [] []} false}"
	for _, tt := range []struct {
		name   string
		change func()
		want   string
	}{
		{"as approved", func() {}, "{false false 48 false} true [] " + changes + " [AC-1] false"},
		{"artifact edited", func() { b.write(a.Path, "x") }, "{false true 1 false} true [" + a.Path + " record false missing false] " + changes + " [AC-1] false"},
		{"record edited too", func() { b.write(ref.FilePath, "# PRD\n\n## Acceptance criteria\n\n- AC-9: x\n") }, "{false true 1 false} true [" + a.Path + " record false missing false ROUND record true missing false] " + changes + " [] true"},
		{"artifact gone", func() { b.remove(a.Path) }, "{true false 0 false} true [" + a.Path + " record false missing true ROUND record true missing false] " + changes + " [] true"},
		{"record gone too", func() { b.remove(ref.FilePath) }, "{true false 0 false} true [" + a.Path + " record false missing true ROUND record true missing true] " + changes + " [] true"},
	} {
		tt.change()
		if got := look(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	b.s.Session.History[len(b.s.Session.History)-1].Event = workflow.EventEdited
	if got := b.TakenBack(ctx, b.s, "# A\n\nIt rings at dawn.\n"); len(got) != 1 || got[0].Before != "It rings at dawn." || got[0].After != "It rings at dusk." {
		t.Errorf("taken back: %+v", got)
	}
	if got := b.TakenBack(ctx, b.s, "# A\n\nIt rings at noon.\n"); got != nil {
		t.Errorf("nothing is taken back: %+v", got)
	}
	b.remove(edit.FilePath)
	if got := b.fresh().TakenBack(ctx, b.s, "# A\n\nIt rings at dawn.\n"); got != nil {
		t.Errorf("the edit is gone: %+v", got)
	}
}

// TestOlder checks what a session of an older server gets: its text as a document, its hash, and the sprints of its
// plan.
func TestOlder(t *testing.T) {
	t.Parallel()
	plan := "# Plan\n\n## Sprint 1: Ring\n\nx\n"
	b := open(t, workflow.SM, workflow.AwaitingApproval)
	ref := b.put(workflow.SM, "claude_result", plan)
	b.s.Session.Current().ClaudeResultRef, b.s.Session.History = &ref, nil
	b.GatherDraft(ctx, b.s)
	if b.s.Draft.SHA256 != workflow.Hash([]byte(plan)) {
		t.Errorf("the draft has the hash %s", b.s.Draft.SHA256)
	}
	b.AdoptSprints(ctx, b.s)
	if len(b.s.Session.Sprints) != 1 || b.s.Session.Sprints[0].Title != "Ring" {
		t.Errorf("sprints %+v", b.s.Session.Sprints)
	}
	if err := b.change(func(tx store.Tx) error { return b.Adopt(ctx, tx, b.s) }); err != nil || b.s.Session.Current().FinalResultRef.SHA256 != workflow.Hash([]byte(plan)) {
		t.Errorf("adopted %+v (%v)", b.s.Session.Current().FinalResultRef, err)
	}
	had := b.s.Session.Current().FinalResultRef
	if err := b.change(func(tx store.Tx) error { return b.Adopt(ctx, tx, b.s) }); err != nil || b.s.Session.Current().FinalResultRef != had {
		t.Errorf("adopted once more: %+v (%v)", b.s.Session.Current().FinalResultRef, err)
	}
	for name, change := range map[string]func(*standing.Standing){
		"with a history": func(s *standing.Standing) { s.Session.History = []workflow.Transition{{}} },
		"before it":      func(s *standing.Standing) { s.Session.CurrentStage = workflow.PO },
		"nothing":        func(s *standing.Standing) { s.Session.Current().ClaudeResultRef = nil },
	} {
		b := open(t, workflow.SM, workflow.AwaitingApproval)
		ref := b.put(workflow.SM, "claude_result", plan)
		b.s.Session.Current().ClaudeResultRef, b.s.Session.History = &ref, nil
		change(b.s)
		if b.AdoptSprints(ctx, b.s); len(b.s.Session.Sprints) != 0 {
			t.Errorf("%s: sprints %+v", name, b.s.Session.Sprints)
		}
	}
}

// TestReopened checks when a reopened stage goes on from the artifact, and the fingerprint of a project, of which the
// documents of the run are no part.
func TestReopened(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		modified, edited, gone bool
		want                   string
	}{
		"edited artifact": {true, false, false, "mine\n"}, "as it was": {false, false, false, "-"}, "edited draft": {true, true, false, "-"}, "gone": {true, false, true, "-"},
	} {
		b := open(t, workflow.PO, workflow.Refining)
		b.submit(workflow.PO, "# PRD\n")
		a := b.save(workflow.PO, "# PRD\n")
		b.write(a.Path, "mine\n")
		if tt.gone {
			b.remove(a.Path)
		}
		b.s.Saved, b.s.Draft.Edited = map[string]standing.File{a.Path: {Modified: tt.modified}}, tt.edited
		b.WorkFromArtifact(b.s)
		if err := b.Settle(b.s.Session); err != nil || b.content(b.work()) != tt.want {
			t.Errorf("%s: got %q (%v), want %q", name, b.content(b.work()), err, tt.want)
		}
	}
	b := open(t, workflow.QA, workflow.Generating)
	b.write("main.go", "x")
	b.write("report.md", "x")
	none, same := b.Fingerprint(b.s, nil, noon)
	if none == "" || none != same {
		t.Errorf("nothing changed: %q and %q", none, same)
	}
	now, _ := b.Fingerprint(b.s, []string{"report.md"}, noon)
	b.write("report.md", "longer")
	if later, _ := b.Fingerprint(b.s, []string{"report.md"}, noon); later != now || now == none {
		t.Error("a document that is handed in counts as work")
	}
	b.s.Session.Append(workflow.Transition{Action: workflow.ActionSubmit, From: "qa/generating", At: noon, Sources: []string{"report.md"}})
	if later, _ := b.Fingerprint(b.s, nil, noon); later != now {
		t.Error("a document that was handed in counts as work")
	}
	b.write("main.go", "longer")
	if later, _ := b.Fingerprint(b.s, nil, noon); later == now {
		t.Error("a change of the work does not count")
	}
}

// TestCriteria checks from which documents the criteria come, at a report and at a scope, and that the lines of a
// scope are shown.
func TestCriteria(t *testing.T) {
	t.Parallel()
	list := func(ids ...string) string {
		return "# D\n\n## Acceptance criteria\n\n- " + strings.Join(ids, ": it rings\n- ") + ": it rings\n"
	}
	for name, tt := range map[string]struct {
		workflow string
		stage    workflow.StageID
		state    workflow.State
		change   func(b *bench)
		want     string // those that are owed, whether a source was changed, and the lines that are shown
	}{
		"the requirements": {"bmad", workflow.QA, workflow.Generating, func(b *bench) { b.submit(workflow.PO, list("AC-1")); b.submit(workflow.SM, list("AC-7")) }, "[AC-1] false []"},
		"the plan alone":   {"bmad", workflow.QA, workflow.Generating, func(b *bench) { b.submit(workflow.PO, "# D\n"); b.submit(workflow.SM, list("AC-7")) }, "[AC-7] false []"},
		"not a build's":    {"bmad", workflow.QA, workflow.Generating, func(b *bench) { b.submit(workflow.PO, "# D\n"); b.submit(workflow.Dev, list("AC-7")) }, "[] false []"},
		"plan changed": {"bmad", workflow.QA, workflow.Generating, func(b *bench) {
			b.submit(workflow.PO, list("AC-1"))
			b.write(b.submit(workflow.SM, list("AC-7")).FilePath, "x")
		}, "[AC-1] true []"},
		"of a later document": {"bmad", workflow.PO, workflow.AwaitingConfirmation, func(b *bench) {
			b.submit(workflow.PO, list("AC-1"))
			b.submit(workflow.Architect, list("AC-1", "AC-2"))
		}, "[AC-1] false []"},
		"no report, at work": {"bmad", workflow.PO, workflow.Refining, func(b *bench) { b.submit(workflow.PO, list("AC-1")) }, "none []"},
		"ended":              {"bmad", workflow.QA, workflow.Completed, func(b *bench) { b.submit(workflow.PO, list("AC-1")) }, "none []"},
		"a scope":            {"fix", workflow.Dev, workflow.AwaitingApproval, func(b *bench) { b.submit(workflow.Dev, "# Scope\n\n\n AC-1: it rings\n") }, "[AC-1] false [# Scope AC-1: it rings]"},
		"an approved scope": {"fix", workflow.Review, workflow.Generating, func(b *bench) {
			b.s.Session.Record(workflow.Dev).ApprovedScope = b.submit(workflow.Dev, list("AC-1"))
			b.submit(workflow.Dev, list("AC-2"))
		}, "[AC-1] false []"},
		"a scope, changed": {"fix", workflow.Review, workflow.Generating, func(b *bench) {
			b.s.Session.Record(workflow.Dev).ApprovedScope = b.submit(workflow.Dev, list("AC-1"))
			b.write(b.s.Session.Record(workflow.Dev).ApprovedScope.FilePath, list("AC-3"))
		}, "[] true []"},
	} {
		b := open(t, tt.stage, tt.state)
		for _, w := range workflow.Builtins() {
			if w.Name == tt.workflow {
				b.s.Workflow, b.s.Session.Workflow = w, w
				b.s.Stage, _ = w.Stage(tt.stage)
			}
		}
		tt.change(b)
		b.fresh().Gather(ctx, b.s)
		got := "none"
		if b.s.Criteria != nil {
			got = fmt.Sprint(b.s.Criteria.Owed(), b.s.Criteria.Changed())
		}
		if got += fmt.Sprint(" ", b.s.Draft.Lines); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
