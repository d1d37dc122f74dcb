package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// read returns a file of the project, "" if there is none.
func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return string(data)
}

// bySelf submits without naming a text or a path.
func bySelf(stage workflow.StageID) request.Request {
	return request.Request{Action: workflow.ActionSubmit, Stage: string(stage)}
}

// TestRunByWorkingCopies goes through all stages by files that are written where next_call
// names them.
func TestRunByWorkingCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	reply := b.do(start("build a thing"))
	for _, step := range []struct {
		stage       workflow.StageID
		text, place string
		then        request.Request
	}{
		{workflow.PO, "# P\n\nQuality Score: 95/100\n", "po/awaiting_confirmation", confirm(true)},
		{workflow.Architect, "# A\n\nQuality Score: 95/100\n", "architect/awaiting_confirmation", confirm(true)},
		{workflow.SM, "# S\n## Sprint 1: one\n", "sm/awaiting_approval", approve(true, "")},
		{workflow.Dev, "# D\n", "review/generating", request.Request{}},
		{workflow.Review, passes("# R"), "qa/generating", request.Request{}},
		{workflow.QA, passes("# Q"), "qa/completed", request.Request{}},
	} {
		draft, named := b.draft(step.stage), false
		for key, value := range reply.NextCall {
			named = named || strings.HasSuffix(key, "_result_path") && value == draft
		}
		if !named {
			t.Errorf("%s: next_call %v does not name %s", step.stage, reply.NextCall, draft)
		}
		if step.stage == workflow.Review || step.stage == workflow.QA { // the form is laid out
			b.refused(bySelf(step.stage), fault.InvalidArgument, "nothing filled in")
		} else {
			b.refused(bySelf(step.stage), fault.InvalidArgument, "does not exist")
		}
		b.write(draft, step.text)
		reply = b.at(step.place, bySelf(step.stage))
		if b.stored().CurrentState.Active() && b.stored().CurrentStage == step.stage && (reply.Draft.Path != draft || reply.Draft.Modified || !strings.Contains(reply.UserMessage, draft)) {
			t.Errorf("%s: draft %+v\n%s", step.stage, reply.Draft, reply.UserMessage)
		}
		if step.then.Action != "" {
			reply = b.do(step.then)
		}
	}
}

// TestEditsThatNoSubmissionTakes checks that a person's edits of the working copy are never lost.
func TestEditsThatNoSubmissionTakes(t *testing.T) {
	t.Parallel()
	const theirs = "# P with hours of work\n"
	round := func(b *bench, req request.Request, taken bool) {
		t.Helper()
		reply := b.do(req)
		last := b.stored().Last()
		switch {
		case taken && (last.Kept != "" || strings.Contains(reply.UserMessage, "did not take")):
			t.Errorf("kept as %q\n%s", last.Kept, reply.UserMessage)
		case !taken && (b.read(last.Kept) != theirs || !strings.Contains(reply.UserMessage, last.Kept)):
			t.Errorf("%q holds %q\n%s", last.Kept, b.read(last.Kept), reply.UserMessage)
		}
		if got := b.read(b.draft(workflow.PO)); got != b.read(b.stored().Record(workflow.PO).FinalResultRef.FilePath) {
			t.Errorf("the working copy holds %q", got)
		}
	}
	for name, tt := range map[string]struct {
		req   request.Request
		taken bool
	}{
		"another text":           {submit(workflow.PO, "# P2\nQuality Score: 50/100"), false},
		"another file":           {byPath(workflow.PO, "docs/po.md"), false},
		"the working copy":       {bySelf(workflow.PO), true},
		"its path":               {byPath(workflow.PO, artifact.WorkPath("build-a-thing", workflow.PO)), true},
		"the same text":          {submit(workflow.PO, theirs), true},
		"the same text, wrapped": {submit(workflow.PO, `{"prd_updated":"# P with hours of work","quality_score":50}`), true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.to(workflow.PO, workflow.AwaitingConfirmation)
			b.at("po/refining", confirm(false))
			b.write("docs/po.md", "# from elsewhere\nQuality Score: 50/100\n")
			b.write(b.draft(workflow.PO), theirs)
			round(b, tt.req, tt.taken)
		})
	}
	t.Run("before the first round", func(t *testing.T) {
		b := newBench(t)
		b.do(start("build a thing"))
		b.write(b.draft(workflow.PO), theirs)
		round(b, submit(workflow.PO, "# P\nQuality Score: 50/100"), false)
	})
	t.Run("two engines", func(t *testing.T) {
		b := newBench(t)
		b.do(start("build a thing with codex"))
		draft := b.draft(workflow.PO)
		b.write(draft, "# by Claude\nQuality Score: 70/100\n")
		req := byPath(workflow.PO, draft)
		req.Results = append(req.Results, request.Result{Engine: workflow.Codex, Text: "# by Codex\nQuality Score: 80/100\n"})
		b.do(req)
		if got, last := b.read(draft), b.stored().Last(); !strings.Contains(got, "by Codex") || last.Kept != "" {
			t.Errorf("the working copy holds %q; kept %q", got, last.Kept)
		}
		if got := b.read(b.stored().Record(workflow.PO).ClaudeResultRef.FilePath); !strings.Contains(got, "by Claude") {
			t.Errorf("the round of the other engine holds %q", got)
		}
	})
}

// TestWorkingCopyAtTheGate does to the working copy what people and programs do while a
// decision waits: the text that was scored is saved, or nothing.
func TestWorkingCopyAtTheGate(t *testing.T) {
	t.Parallel()
	scored := "# P"
	for name, tt := range map[string]struct {
		harm  func(b *bench, draft, record string)
		saved bool
	}{
		"nothing":              {func(*bench, string, string) {}, true},
		"removed":              {func(b *bench, draft, _ string) { b.remove(draft) }, true},
		"the folder removed":   {func(b *bench, _, _ string) { b.remove(artifact.WorkFolder) }, true},
		"the record removed":   {func(b *bench, _, record string) { b.remove(record) }, true},
		"the record changed":   {func(b *bench, _, record string) { b.write(record, "# never scored\n") }, true},
		"edited":               {func(b *bench, draft, _ string) { b.write(draft, "# never scored\n") }, false},
		"emptied":              {func(b *bench, draft, _ string) { b.write(draft, "") }, false},
		"both changed":         {func(b *bench, draft, record string) { b.write(draft, "# x\n"); b.write(record, "# y\n") }, false},
		"both changed alike":   {func(b *bench, draft, record string) { b.write(draft, "# x\n"); b.write(record, "# x\n") }, false},
		"both removed":         {func(b *bench, draft, record string) { b.remove(draft); b.remove(record) }, false},
		"the earlier round":    {func(b *bench, draft, _ string) { b.write(draft, "# P1\n\nQuality Score: 50/100\n") }, false},
		"a folder in its way":  {func(b *bench, draft, _ string) { b.remove(draft); b.write(draft+"/x", "x") }, false},
		"record and copy swap": {func(b *bench, draft, record string) { b.remove(record); b.write(draft, "# x\n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.do(start("build a thing"))
			b.do(submit(workflow.PO, "# P1\n\nQuality Score: 50/100"))
			b.at("po/awaiting_confirmation", submit(workflow.PO, scored+"\n\nQuality Score: 95/100"))
			draft, record := b.draft(workflow.PO), b.stored().Record(workflow.PO).FinalResultRef.FilePath
			tt.harm(b, draft, record)
			before := b.snapshot()
			_, err := b.try(confirm(true))
			doc := b.read(".claude/specs/build-a-thing/01-product-requirements.md")
			switch {
			case tt.saved && (err != nil || !strings.HasPrefix(doc, scored+"\n\nQuality Score: 95")):
				t.Errorf("saved %q, %v", doc, err)
			case !tt.saved && (err == nil || b.snapshot() != before):
				t.Errorf("saved %q, %v", doc, err)
			case !tt.saved && fault.From(err).Hint == "":
				t.Errorf("%v: no hint", err)
			}
		})
	}
}

// TestWorkingCopyThatIsGone is laid out again by the next step, and not by a look, which names the record.
func TestWorkingCopyThatIsGone(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	draft, record := b.draft(workflow.PO), b.stored().Record(workflow.PO).FinalResultRef.FilePath
	b.remove(artifact.WorkFolder)
	if r := b.do(request.Request{Action: workflow.ActionStatus}); r.Draft.Path != record || b.read(draft) != "" {
		t.Errorf("draft %+v", r.Draft)
	}
	if r := b.at("po/refining", confirm(false)); r.Draft.Path != draft || b.read(draft) != b.read(record) {
		t.Errorf("draft %+v: %q", r.Draft, b.read(draft))
	}
}

// TestWorkPathsAreShort of whatever name, and one task's alone.
func TestWorkPathsAreShort(t *testing.T) {
	b := newBench(t)
	seen := map[string]string{}
	for _, objective := range []string{
		"Build a sign-in service for teams with single sign-on and audit", "Build a sign-in service for teams with single sign-on and logs",
		"为小团队构建一个支持单点登录和审计日志的登录服务系统平台", "x", strings.Repeat("long ", 40), "🚀🚀", "CON",
	} {
		r := b.do(start(objective))
		path, _ := r.NextCall["claude_result_path"].(string)
		if len(path) > artifact.MaxWorkPath || seen[path] != "" || !strings.HasPrefix(path, artifact.WorkFolder+"/") {
			t.Errorf("%q: %d bytes in %q, as %q has it", objective, len(path), path, seen[path])
		}
		seen[path] = objective
	}
}

// TestWorkOfAnEarlierTaskIsNotTakenOver checks that a folder of drafts whose session is gone keeps
// its name.
func TestWorkOfAnEarlierTaskIsNotTakenOver(t *testing.T) {
	b := newBench(t)
	b.write(artifact.WorkPath("build-a-thing", workflow.PO), "# somebody's\n")
	if r := b.do(start("build a thing")); r.TaskName == "build-a-thing" {
		t.Errorf("the new task has the drafts of %s", r.TaskName)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.RemoveAll(filepath.Join(b.dir, filepath.FromSlash(name))); err != nil {
		b.t.Fatal(err)
	}
}

// TestArtifactThatCannotBeWritten: the decision is stored, the reply does not claim the file, and the next
// step writes it.
func TestArtifactThatCannotBeWritten(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	b.write(".claude/specs", "in the way")
	r := b.at("architect/generating", confirm(true))
	path := b.stored().Record(workflow.PO).Artifact.Path
	if strings.Contains(r.UserMessage, "Saved: `") || !strings.Contains(r.UserMessage, "`"+path+"` cannot be written now") {
		t.Errorf("%s", r.UserMessage)
	}
	b.remove(".claude/specs")
	if r := b.do(status("")); !strings.Contains(r.UserMessage, "**Not in this folder yet:** `"+path+"`") || strings.Contains(r.UserMessage, "Not as you approved") || b.read(path) != "" {
		t.Errorf("after a look: %q\n%s", b.read(path), r.UserMessage)
	}
	if r := b.do(submit(workflow.Architect, "# A\nQuality Score: 70")); strings.Contains(r.UserMessage, path) || b.read(path) == "" {
		t.Errorf("after a step: %q\n%s", b.read(path), r.UserMessage)
	}
}
