package documents_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

const id = "11111111-2222-4333-8444-555555555555"

var ctx, noon = context.Background(), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// bench is a project with one session of the default workflow, and its disk as one call sees it.
type bench struct {
	t *testing.T
	*documents.Disk
	p *project.Project
	s *standing.Standing
}

// open returns a project whose session is at a stage and state.
func open(t *testing.T, stage workflow.StageID, state workflow.State) *bench {
	t.Helper()
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := storetest.Files(dir)
	b := &bench{t: t, p: &project.Project{Dir: dir, Home: dir, Backend: files, Texts: files}}
	t.Cleanup(b.p.Close)
	w := workflowtest.Six()
	session := w.NewSession(id, "Build a clock", dir.Path(), "test", noon)
	session.TaskName, session.CurrentStage, session.CurrentState = "clock", stage, state
	if err := b.p.Backend.Create(ctx, session, storetest.Numbered("clock")); err != nil {
		t.Fatal(err)
	}
	st, _ := w.Stage(stage)
	work := artifact.WorkPath("clock", stage)
	b.s = &standing.Standing{
		Session: session, Workflow: w, Settings: w, Stage: st, Policy: st.Policy(), MaxRework: 2, MaxIterations: 3, Language: "en", Documents: "en",
		Draft: standing.Draft{Path: work, Work: work}, Names: standing.Names{Program: "program"}, Tasks: artifact.TaskFolder("clock") + "/",
	}
	b.Disk = documents.On(b.p)
	return b
}

// at returns the disk of another call.
func (b *bench) fresh() *bench { b.Disk = documents.On(b.p); return b }

// change does something in an update of the run.
func (b *bench) change(do func(tx store.Tx) error) error {
	_, err := b.p.Backend.Update(ctx, id, func(tx store.Tx, _ *workflow.Session) error { return do(tx) })
	return err
}

// put stores a text of a stage.
func (b *bench) put(stage workflow.StageID, kind, body string) workflow.ContentRef {
	b.t.Helper()
	var refs []workflow.ContentRef
	if err := b.change(func(tx store.Tx) (err error) {
		refs, err = tx.Put(ctx, []store.Text{{Stage: stage, Kind: kind, Body: body, At: noon}})
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
	return refs[0]
}

// submit stores a round of a stage, and enters it in the history.
func (b *bench) submit(stage workflow.StageID, body string) *workflow.ContentRef {
	b.t.Helper()
	ref, rec := b.put(stage, "final_result", body), b.s.Session.Record(stage)
	rec.Iteration++
	rec.FinalResultRef = &ref
	b.s.Session.Append(workflow.Transition{
		At: noon, Action: workflow.ActionSubmit, Event: workflow.EventScoredReady, From: string(stage) + "/generating", To: string(stage) + "/awaiting_confirmation",
		Path: ref.FilePath, SHA256: ref.SHA256, Iteration: rec.Iteration,
	})
	return &ref
}

// save makes a text the deliverable of a stage, on disk too.
func (b *bench) save(stage workflow.StageID, body string) *workflow.Artifact {
	b.t.Helper()
	st, _ := b.s.Workflow.Stage(stage)
	file, err := artifact.Saved("clock", st.Artifact)
	if err != nil {
		b.t.Fatal(err)
	}
	a, body := artifact.New(file, body, noon)
	b.write(a.Path, body)
	b.s.Session.Record(stage).Status, b.s.Session.Record(stage).Artifact = workflow.Done, &a
	return &a
}

func (b *bench) write(name, body string) {
	b.t.Helper()
	_, err := b.p.Dir.MkdirAll(path.Dir(name))
	if err = errors.Join(err, b.p.Dir.Replace(name, []byte(body))); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := b.p.Dir.Remove(name); err != nil {
		b.t.Fatal(err)
	}
}

// content returns a file as it is on disk; "-" if it is missing.
func (b *bench) content(name string) string {
	data, err := b.p.Dir.ReadFile(name, 1<<20)
	if err != nil {
		return "-"
	}
	return string(data)
}

// work is the path of the current stage's working copy.
func (b *bench) work() string { return b.s.Draft.Work }

// told returns an error as "code: message | hint", with the text for none.
func told(err error, text string) string {
	var f *fault.Error
	switch {
	case err == nil:
		return text
	case errors.As(err, &f):
		return fmt.Sprintf("%s: %s | %s", f.Code, f.Message, f.Hint)
	}
	return err.Error()
}

// TestRounds checks which entries of a history are rounds of a stage.
func TestRounds(t *testing.T) {
	t.Parallel()
	entry := func(n int, path, from string, event workflow.Event, action workflow.Action) workflow.Transition {
		return workflow.Transition{Iteration: n, Path: path, From: from, Event: event, Action: action}
	}
	const submit = workflow.ActionSubmit
	ref := &workflow.ContentRef{FilePath: "last.md"}
	for name, tt := range map[string]struct {
		history []workflow.Transition
		ref     *workflow.ContentRef
		rounds  int
		want    string
	}{
		"none":              {nil, nil, 0, ""},
		"in order":          {[]workflow.Transition{entry(1, "1.md", "po/generating", workflow.EventScoredBelow, submit), entry(2, "2.md", "po/refining", workflow.EventScoredReady, submit)}, ref, 2, "1 1.md, 2 2.md"},
		"other stage":       {[]workflow.Transition{entry(1, "1.md", "qa/generating", workflow.EventFailed, submit)}, nil, 0, ""},
		"other action":      {[]workflow.Transition{entry(1, "1.md", "po/generating", workflow.EventConfirmed, workflow.ActionConfirm)}, nil, 0, ""},
		"without text":      {[]workflow.Transition{entry(1, "", "po/generating", workflow.EventScoredBelow, submit)}, nil, 0, ""},
		"sent back":         {[]workflow.Transition{entry(1, "1.md", "po/generating", workflow.EventChangesRequested, submit)}, nil, 0, ""},
		"of an older one":   {nil, ref, 3, "3 last.md"},
		"of the oldest one": {nil, ref, 0, "1 last.md"},
	} {
		s := workflowtest.Six().NewSession(id, "x", "/p", "test", noon)
		s.History = tt.history
		s.Current().FinalResultRef, s.Current().Iteration = tt.ref, tt.rounds
		var got []string
		for _, r := range documents.Rounds(s, workflow.PO) {
			got = append(got, fmt.Sprint(r.Iteration, " ", r.Path))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestReadRound checks which text a round has, of those that people may have edited.
func TestReadRound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		round  int
		change func(b *bench, ref *workflow.ContentRef)
		want   string
	}{
		"as it was":       {workflow.PO, 1, nil, "one\n edited false"},
		"changed, copied": {workflow.PO, 1, func(b *bench, ref *workflow.ContentRef) { b.write(ref.FilePath, "other\n"); b.write(b.work(), "one\n") }, "one\n edited false"},
		"changed, both": {workflow.PO, 1, func(b *bench, ref *workflow.ContentRef) {
			b.write(ref.FilePath, "other\n")
			b.write(b.work(), "third\n")
		}, " edited true"},
		"gone, copied":      {workflow.PO, 1, func(b *bench, ref *workflow.ContentRef) { b.remove(ref.FilePath); b.write(b.work(), "one\n") }, "one\n edited false"},
		"gone, copy edited": {workflow.PO, 1, func(b *bench, ref *workflow.ContentRef) { b.remove(ref.FilePath); b.write(b.work(), "two\n") }, `storage: the file ".bmad-task/temp/` + id + `/po_final_result_20260102T120000.000Z.md" that the run refers to cannot be read | restore the file, or send`},
		"no hash": {workflow.PO, 1, func(b *bench, ref *workflow.ContentRef) {
			b.write(ref.FilePath, "other\n")
			b.s.Session.History[1].SHA256 = ""
			b.s.Session.Current().FinalResultRef.SHA256 = ""
		}, "other\n edited false"},
		"unknown": {workflow.PO, 2, nil, `not_found: stage "po" has no submission 2 | its submissions are: 1`},
		"edited at its gate": {workflow.PO, 2, func(b *bench, _ *workflow.ContentRef) {
			b.write(b.work(), "two\n\n```json\n{\"quality_score\": 95}\n```\n")
		}, "two\n edited false"},
		"not edited": {workflow.PO, 2, func(b *bench, _ *workflow.ContentRef) { b.write(b.work(), "one\n\n\n") }, `not_found: stage "po" has no submission 2 `},
		"edited at work": {workflow.PO, 2, func(b *bench, _ *workflow.ContentRef) {
			b.write(b.work(), "two\n")
			b.s.Session.CurrentState = workflow.Refining
		}, `not_found: stage "po" has no submission 2 `},
		"edited, unknown one": {workflow.PO, 2, func(b *bench, ref *workflow.ContentRef) { b.write(b.work(), "two\n"); b.write(ref.FilePath, "x") }, `not_found: stage "po" has no submission 2 `},
		"of another stage":    {workflow.QA, 1, nil, `not_found: stage "qa" has no submission 1 | its submissions are: `},
		"saved":               {workflow.PO, documents.Saved, func(b *bench, _ *workflow.ContentRef) { b.save(workflow.PO, "saved") }, "saved\n edited false"},
		"saved, edited":       {workflow.PO, documents.Saved, func(b *bench, _ *workflow.ContentRef) { b.write(b.save(workflow.PO, "saved").Path, "mine\n") }, "mine\n edited true"},
		"saved, line ends":    {workflow.PO, documents.Saved, func(b *bench, _ *workflow.ContentRef) { b.write(b.save(workflow.PO, "a\nb").Path, "a\r\nb\r\n") }, "a\r\nb\r\n edited false"},
		"saved, gone":         {workflow.PO, documents.Saved, func(b *bench, _ *workflow.ContentRef) { b.remove(b.save(workflow.PO, "saved").Path) }, "not_found: the artifact .claude/specs/clock/01-product-requirements.md cannot be read: "},
		"not saved":           {workflow.PO, documents.Saved, nil, `not_found: stage "po" has no saved artifact | name two submissions by their numbers`},
	} {
		b := open(t, workflow.PO, workflow.AwaitingConfirmation)
		ref := b.submit(workflow.PO, "one\n")
		if tt.change != nil {
			tt.change(b, ref)
		}
		r, err := b.ReadRound(ctx, b.s.Session, tt.stage, tt.round)
		got := told(err, fmt.Sprintf("%s edited %v", r.Text, r.Edited))
		if err == nil && got != tt.want || err != nil && !strings.HasPrefix(got, tt.want) || err == nil && r.Iteration != tt.round {
			t.Errorf("%s: got round %d, %q, want %q", name, r.Iteration, got, tt.want)
		}
	}
}

// TestSaveArtifact checks that a decision saves the text that was decided on and no other, and what is added to it.
func TestSaveArtifact(t *testing.T) {
	t.Parallel()
	type round = *workflow.ContentRef
	const report = "# QA\n\nAll good.\n\n```json\n{\"criteria\": [{\"id\": \"AC-1\", \"result\": \"pass\", \"evidence\": \"303\"}]}\n```\n"
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		body   string
		change func(b *bench, ref round, g *workflow.Grant)
		want   string // the file, or the error
	}{
		"as handed in":    {workflow.PO, "# PRD\n", nil, "# PRD\n"},
		"of a hash":       {workflow.PO, "# PRD\n", func(_ *bench, ref round, g *workflow.Grant) { g.SHA256 = ref.SHA256 }, "# PRD\n"},
		"of another hash": {workflow.PO, "# PRD\n", func(_ *bench, _ round, g *workflow.Grant) { g.SHA256 = "ab" }, "conflict: "},
		"record changed":  {workflow.PO, "# PRD\n", func(b *bench, ref round, _ *workflow.Grant) { b.write(ref.FilePath, "x\n") }, "conflict: "},
		"copy stands in": {workflow.PO, "# PRD\n", func(b *bench, ref round, _ *workflow.Grant) {
			b.write(ref.FilePath, "x\n")
			b.write(b.work(), "# PRD\n")
		}, "# PRD\n"},
		"no line end": {workflow.PO, "# PRD", nil, "# PRD\n"},
		"no round":    {workflow.PO, "# PRD\n", func(b *bench, _ round, _ *workflow.Grant) { b.s.Session.Current().FinalResultRef = nil }, `storage: the run has no document for stage "po" | send it back (confirm or approve with false)`},
		"not a task":  {workflow.PO, "# PRD\n", func(b *bench, _ round, _ *workflow.Grant) { b.s.Session.TaskName = "../x" }, "storage: "},
		"override": {workflow.PO, "# PRD\n", func(_ *bench, _ round, g *workflow.Grant) {
			g.Decision, g.Feedback, g.Channel = workflow.DecisionOverride, "ship it", workflow.ChannelTerminal
		}, "> **Risk accepted** on 0001-01-01: it had not reached its gate in 1 round and the human let it go on. Their words: “ship it”\n\n# PRD\n"},
		"report": {workflow.QA, report, func(b *bench, _ round, _ *workflow.Grant) {
			b.s.Session.Current().Criteria = []workflow.Criterion{{ID: "AC-1", Result: workflow.ResultPass, Evidence: "303"}}
		}, "# QA\n\nAll good.\n\n## Criteria\n\n1 criterion: 1 passed, not by a command that the server ran.\n\n| Id | Criterion | Result | Basis | Evidence |\n|---|---|---|---|---|\n| AC-1 |  | pass | not run | 303 |\n"},
		"review":           {workflow.Review, "# Review\n", func(b *bench, _ round, _ *workflow.Grant) { b.submit(workflow.Dev, "# Work\n") }, "# Review\n\n---\n\n<!-- the implementation report that was reviewed -->\n\n# Work\n"},
		"without artifact": {workflow.Dev, "# Work\n", nil, "-"},
	} {
		b := open(t, tt.stage, workflow.AwaitingConfirmation)
		ref, grant := b.submit(tt.stage, tt.body), workflow.Grant{}
		if tt.change != nil {
			tt.change(b, ref, &grant)
		}
		b.s.Session.Current().Artifact = &workflow.Artifact{SHA256: "former"}
		err := b.change(func(tx store.Tx) error { return b.SaveArtifact(ctx, tx, b.s, grant, noon) })
		file := artifact.TaskFolder("clock") + "/" + b.s.Stage.Artifact
		if b.s.Stage.Artifact != "" && b.content(file) != "-" {
			t.Errorf("%s: written before the run is stored", name)
		}
		got := told(err, "")
		if err == nil {
			err := b.Settle(b.s.Session)
			got = told(err, b.content(file))
		}
		if got != tt.want && (err == nil || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
		if a := b.s.Session.Current().Artifact; err == nil && b.s.Stage.Artifact != "" {
			kept, _ := b.p.Texts.Read(ctx, *a.Text)
			if name != "copy stands in" && kept != got || a.Replaces != "former" || a.SHA256 != workflow.Hash([]byte(got)) || !slices.Equal(b.Written, []string{file}) || (a.Text.FilePath == ref.FilePath) != (tt.body == got) {
				t.Errorf("%s: artifact %+v, its text %q, written %q", name, a, kept, b.Written)
			}
		}
	}
}
