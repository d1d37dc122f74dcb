package documents_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestRestore checks that an approved text is put back from wherever it still is, to the paths of this program alone:
// the paths in the run's file are not trusted.
func TestRestore(t *testing.T) {
	t.Parallel()
	const saved = ".claude/specs/clock/01-product-requirements.md"
	again := func(name string) string { return "`" + name + "` is again as it was approved.\n" }
	const otherTask = ".claude/specs/other/01-product-requirements.md"
	lost := func(name string) string {
		return "not_found: the approved text of " + name + " is nowhere in the project any more | restore it from version control or a backup, or accept it as it is: program adopt clock"
	}
	for name, tt := range map[string]struct {
		damage func(b *bench, ref *workflow.ContentRef, a *workflow.Artifact) // and the alteration is that of the artifact
		record bool
		at     string // a path other than that of the text
		want   string // said or refused, with RECORD for the path of the round
		file   string // afterwards
	}{
		"artifact from its round": {damage: func(b *bench, _ *workflow.ContentRef, a *workflow.Artifact) { b.remove(a.Path) }, want: again(saved), file: "# PRD\n"},
		"artifact, edited":        {damage: func(b *bench, _ *workflow.ContentRef, a *workflow.Artifact) { b.write(a.Path, "mine\n") }, want: "`" + saved + "` is again as it was approved. The edited one is kept as `.claude/specs/clock/01-product-requirements.edited-20260102T130000Z.md`.\n", file: "# PRD\n"},
		"artifact from the copy": {damage: func(b *bench, ref *workflow.ContentRef, a *workflow.Artifact) {
			b.remove(a.Path)
			b.remove(ref.FilePath)
			b.write(b.work(), "# PRD\n")
		}, want: again(saved), file: "# PRD\n"},
		"artifact lost": {damage: func(b *bench, ref *workflow.ContentRef, a *workflow.Artifact) {
			b.write(a.Path, "x")
			b.remove(ref.FilePath)
		}, want: lost(saved), file: "x"},
		"record from the artifact": {damage: func(b *bench, ref *workflow.ContentRef, _ *workflow.Artifact) { b.write(ref.FilePath, "x") }, record: true, want: again("RECORD"), file: "# PRD\n"},
		"record lost": {damage: func(b *bench, ref *workflow.ContentRef, a *workflow.Artifact) {
			b.write(ref.FilePath, "x")
			b.write(a.Path, "y")
		}, record: true, want: lost("RECORD"), file: "x"},
		"record elsewhere": {damage: func(b *bench, _ *workflow.ContentRef, _ *workflow.Artifact) { b.write("Makefile", "all:\n") }, record: true, at: "Makefile", want: lost("Makefile"), file: "all:\n"},
		"record of another": {damage: func(b *bench, _ *workflow.ContentRef, _ *workflow.Artifact) {
			b.write(store.ContentFolder("other")+"/a.md", "x")
		}, record: true, at: store.ContentFolder("other") + "/a.md", want: lost(store.ContentFolder("other") + "/a.md"), file: "x"},
		"record beside its folder": {damage: func(b *bench, _ *workflow.ContentRef, _ *workflow.Artifact) {
			b.write(store.ContentFolder(id)+"x/a.md", "x")
		}, record: true, at: store.ContentFolder(id) + "x/a.md", want: lost(store.ContentFolder(id) + "x/a.md"), file: "x"},
		"record that leads out of its folder": {damage: func(b *bench, ref *workflow.ContentRef, _ *workflow.Artifact) {
			b.write("CLAUDE.md", "mine\n")
			b.write(b.work(), "# PRD\n")
			ref.FilePath = store.ContentFolder(id) + "/../../../CLAUDE.md"
		}, record: true, want: lost("RECORD"), file: "mine\n"},
		"artifact elsewhere": {damage: func(b *bench, _ *workflow.ContentRef, a *workflow.Artifact) {
			b.write("src/main.go", "x")
			a.Path = "src/main.go"
		}, at: "src/main.go", want: lost("src/main.go"), file: "x"},
		"artifact of another task": {damage: func(b *bench, _ *workflow.ContentRef, a *workflow.Artifact) {
			a.Path = otherTask
			b.write(a.Path, "x")
		}, at: otherTask, want: lost(otherTask), file: "x"},
		"no round": {damage: func(b *bench, _ *workflow.ContentRef, a *workflow.Artifact) {
			b.remove(a.Path)
			b.s.Session.Record(workflow.PO).FinalResultRef = nil
		}, want: lost(saved), file: "-"},
		"no artifact": {damage: func(b *bench, _ *workflow.ContentRef, a *workflow.Artifact) {
			b.remove(a.Path)
			b.s.Session.Record(workflow.PO).Artifact = nil
		}, want: lost(saved), file: "-"},
	} {
		b := open(t, workflow.PO, workflow.AwaitingConfirmation)
		ref, a := b.submit(workflow.PO, "# PRD\n"), b.save(workflow.PO, "# PRD\n")
		tt.damage(b, ref, a)
		alteration := workflow.Alteration{Stage: workflow.PO, Path: a.Path, Record: tt.record}
		if tt.record {
			alteration.Path = ref.FilePath
		}
		if tt.at != "" {
			alteration.Path = tt.at
		}
		b.s.Altered = []workflow.Alteration{alteration}
		said, err := b.Restore(ctx, b.s, noon.Add(time.Hour))
		got := strings.ReplaceAll(told(err, said), ref.FilePath, "RECORD")
		if file := b.content(alteration.Path); got != tt.want || file != tt.file {
			t.Errorf("%s:\n got %q and the file %q\nwant %q and the file %q", name, got, file, tt.want, tt.file)
		}
	}
}

// TestRepair checks which files the next step writes: those that were never written here, and none that people have
// removed, edited or accepted as gone.
func TestRepair(t *testing.T) {
	t.Parallel()
	replaces := func(b *bench, a *workflow.Artifact) {
		a.Replaces = workflow.Hash([]byte("old\n"))
		b.write(a.Path, "old\n")
	}
	written := func(b *bench, a *workflow.Artifact) { b.write(artifact.MarkPath("clock", *a), "") }
	for name, tt := range map[string]struct {
		change func(b *bench, a *workflow.Artifact)
		ended  bool
		all    bool
		want   string
	}{
		"there":                 {func(b *bench, a *workflow.Artifact) { b.write(a.Path, "# PRD\n") }, false, false, "# PRD\n"},
		"never written":         {nil, false, false, "# PRD\n"},
		"gone":                  {written, false, false, "-"},
		"gone, all":             {written, false, true, "# PRD\n"},
		"gone, before marks":    {func(_ *bench, a *workflow.Artifact) { a.Marked = false }, false, false, "-"},
		"another branch":        {func(b *bench, a *workflow.Artifact) { written(b, a); replaces(b, a) }, false, false, "old\n"},
		"edited":                {func(b *bench, a *workflow.Artifact) { b.write(a.Path, "mine\n") }, false, false, "mine\n"},
		"the one before":        {replaces, false, false, "# PRD\n"},
		"of an older program":   {func(_ *bench, a *workflow.Artifact) { a.Text = nil }, false, false, "-"},
		"elsewhere":             {func(_ *bench, a *workflow.Artifact) { a.Path = "src/a.md" }, false, false, "-"},
		"its text was changed":  {func(b *bench, a *workflow.Artifact) { b.write(a.Text.FilePath, "x") }, false, false, "-"},
		"its text is gone":      {func(b *bench, a *workflow.Artifact) { b.remove(a.Text.FilePath) }, false, false, "-"},
		"a run that has ended":  {written, true, false, "-"},
		"all of one that ended": {written, true, true, "# PRD\n"},
		"accepted as gone": {func(b *bench, a *workflow.Artifact) {
			b.s.Session.Append(workflow.Transition{Event: workflow.EventAdopted, From: b.s.Session.Place(), To: b.s.Session.Place(), Adoption: &workflow.Adoption{Texts: []workflow.Alteration{{Stage: workflow.PO, Path: a.Path, Missing: true}}}})
		}, false, false, "-"},
	} {
		b := open(t, workflow.Architect, workflow.Generating)
		ref, a := b.submit(workflow.PO, "# PRD\n"), b.save(workflow.PO, "# PRD\n")
		a.Text, a.Marked = ref, true
		b.remove(a.Path)
		b.s.Session.Append(workflow.Transition{Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", To: "architect/generating"})
		if tt.change != nil {
			tt.change(b, a)
		}
		if tt.ended {
			b.s.Session.CurrentStage, b.s.Session.CurrentState = workflow.QA, workflow.Completed
			b.s.Session.Append(workflow.Transition{Event: workflow.EventFinished, From: "qa/awaiting_approval", To: "qa/completed"})
		}
		b.Repair(ctx, b.s, tt.all)
		err := b.Settle(b.s.Session)
		if got := told(err, b.content(a.Path)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	b := open(t, workflow.Architect, workflow.Generating) // a folder is in the place of the file
	a := b.save(workflow.PO, "# PRD\n")
	a.Text = b.submit(workflow.PO, "# PRD\n")
	b.remove(a.Path)
	b.write(a.Path+"/x", "x")
	b.Repair(ctx, b.s, false)
	if err := b.Settle(b.s.Session); err != nil || len(b.Unwritten) != 1 || b.Unwritten[0] != a.Path || b.content(a.Path+"/x") != "x" {
		t.Errorf("a folder in its place: unwritten %q (%v)", b.Unwritten, err)
	}
}

// TestPending checks that files are read as they will be, written once the run is stored, and as they are if it is not.
func TestPending(t *testing.T) {
	t.Parallel()
	read := func(b *bench) string {
		text, err := b.Text(ctx, b.s, standing.Document{Stage: workflow.PO, Path: b.work()})
		return told(err, text)
	}
	b := open(t, workflow.PO, workflow.Refining)
	b.write(b.work(), "old\n")
	b.SaveWork(b.s.Session, "new\n")
	if got := read(b); got != "new\n" || b.content(b.work()) != "old\n" {
		t.Errorf("before: read %q, on disk %q", got, b.content(b.work()))
	}
	b.Drop()
	if err := b.Settle(b.s.Session); err != nil || read(b) != "old\n" || b.content(b.work()) != "old\n" || b.Written != nil {
		t.Errorf("dropped: read %q, on disk %q, written %q (%v)", read(b), b.content(b.work()), b.Written, err)
	}
	b.SaveWork(b.s.Session, "new\n")
	if err := errors.Join(b.Settle(b.s.Session), b.Settle(b.s.Session)); err != nil || b.content(b.work()) != "new\n" || fmt.Sprint(b.Written, b.Unwritten) != "["+b.work()+"] []" {
		t.Errorf("settled: on disk %q, written %q, unwritten %q (%v)", b.content(b.work()), b.Written, b.Unwritten, err)
	}
	b = open(t, workflow.PO, workflow.Refining)
	b.write(b.work()+"/x", "x") // a folder in its place
	b.SaveWork(b.s.Session, "new\n")
	if err := b.Settle(b.s.Session); err == nil || !strings.HasPrefix(err.Error(), b.work()+": ") || fmt.Sprint(b.Written, b.Unwritten) != "[] ["+b.work()+"]" {
		t.Errorf("a folder in its place: written %q, unwritten %q (%v)", b.Written, b.Unwritten, err)
	}
	if got := read(b); got == "new\n" {
		t.Error("what could not be written is still read as if it were")
	}
}

// TestLayOut checks when the working copy is written anew: never over a text that someone has put there since.
func TestLayOut(t *testing.T) {
	t.Parallel()
	older, newer := noon.Add(-time.Hour), noon.Add(time.Hour)
	type change = func(b *bench)
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		work    string // "" for none
		written time.Time
		change  change
		want    string
	}{
		"none":                 {workflow.PO, "", noon, nil, "two\n"},
		"the newest":           {workflow.PO, "two\n", older, nil, "two\n"},
		"an earlier one":       {workflow.PO, "one\n", older, nil, "two\n"},
		"an earlier, at once":  {workflow.PO, "one\n", noon, nil, "two\n"},
		"an earlier, put back": {workflow.PO, "one\n", newer, nil, "one\n"},
		"edits":                {workflow.PO, "mine\n", older, nil, "mine\n"},
		"edits that were kept": {workflow.PO, "mine\n", older, func(b *bench) { b.s.Session.History[2].Kept = b.put(workflow.PO, "edited", "mine\n").FilePath }, "two\n"},
		"the newest, its block": {workflow.PO, "two\n{}\n", older, func(b *bench) {
			ref := b.put(workflow.PO, "claude_result", "two\n{}\n")
			b.s.Session.Current().ClaudeResultRef = &ref
		}, "two\n"},
		"a block, put back": {workflow.PO, "two\n{}\n", newer, func(b *bench) {
			ref := b.put(workflow.PO, "claude_result", "two\n{}\n")
			b.s.Session.Current().ClaudeResultRef = &ref
		}, "two\n{}\n"},
		"a round of another":      {workflow.PO, "one\n", older, func(b *bench) { b.s.Session.History[1].From = "sm/generating" }, "one\n"},
		"none, record changed":    {workflow.PO, "", noon, func(b *bench) { b.write(b.s.Session.Current().FinalResultRef.FilePath, "x") }, "-"},
		"none, record gone":       {workflow.PO, "", noon, func(b *bench) { b.remove(b.s.Session.Current().FinalResultRef.FilePath) }, "-"},
		"none, no hash":           {workflow.PO, "", noon, func(b *bench) { b.s.Session.Current().FinalResultRef.SHA256 = "" }, "two\n"},
		"none, ended":             {workflow.PO, "", noon, func(b *bench) { b.s.Session.CurrentState = workflow.Completed }, "-"},
		"none, nothing handed in": {workflow.PO, "", noon, func(b *bench) { b.s.Session.Current().FinalResultRef = nil }, "-"},
		"the form of a report":    {workflow.Review, "", noon, func(b *bench) { b.s.Session.Current().FinalResultRef = nil }, "FORM"},
		"a form, filled in":       {workflow.Review, "# mine\n", older, func(b *bench) { b.s.Session.Current().FinalResultRef = nil }, "# mine\n"},
		"a form, a report came":   {workflow.Review, "FORM", older, nil, "two\n"},
	} {
		b := open(t, tt.stage, workflow.Refining)
		b.submit(tt.stage, "one\n")
		b.submit(tt.stage, "two\n")
		b.GatherCriteria(ctx, b.s)
		form := b.s.Contract().Form() + "\n"
		if tt.work != "" {
			b.write(b.work(), strings.Replace(tt.work, "FORM", form, 1))
			if err := os.Chtimes(b.p.Dir.Join(b.work()), tt.written, tt.written); err != nil {
				t.Fatal(err)
			}
		}
		if tt.change != nil {
			tt.change(b)
		}
		b.fresh().LayOut(ctx, b.s)
		err := b.Settle(b.s.Session)
		if got := strings.Replace(told(err, b.content(b.work())), form, "FORM", 1); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestEdits checks which texts of a working copy are edits that a submission does not take.
func TestEdits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage     workflow.StageID
		work      string
		submitted []string
		want      string
	}{
		"none":                {workflow.PO, "-", nil, ""},
		"empty":               {workflow.PO, " \n", nil, ""},
		"the last round":      {workflow.PO, "one\n", nil, ""},
		"what is handed in":   {workflow.PO, "two\n\n", []string{"x", "\ntwo"}, ""},
		"edits":               {workflow.PO, "mine\n", []string{"two"}, "mine\n"},
		"the form":            {workflow.Review, "FORM", []string{"two"}, ""},
		"the form, elsewhere": {workflow.Dev, "# Report\n", []string{"two"}, "# Report\n"},
		"a folder":            {workflow.PO, "/", nil, "storage: the working copy .bmad-task/work/clock/po.md cannot be read, and the submission would replace it: "},
	} {
		b := open(t, tt.stage, workflow.Refining)
		b.submit(tt.stage, "one\n")
		b.GatherCriteria(ctx, b.s)
		switch tt.work {
		case "-":
		case "/":
			b.write(b.work()+"/x", "x")
		default:
			b.write(b.work(), strings.Replace(tt.work, "FORM", b.s.Contract().Form()+"\n", 1))
		}
		got, err := b.Edits(ctx, b.s, tt.submitted...)
		if got := told(err, got); got != tt.want && (err == nil || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
