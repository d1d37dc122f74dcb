package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// shared is a store of a team in memory, whose rows its administrator can put back.
type shared struct {
	*storetest.Mem
	put map[string][]byte
}

func (s *shared) Get(ctx context.Context, id string) (*workflow.Session, error) {
	if data, ok := s.put[id]; ok {
		return store.Decode(data, store.SessionPath(id))
	}
	return s.Mem.Get(ctx, id)
}

// clones returns two clones of one person, whose sessions are in one store.
func clones(t *testing.T) (first, second *bench, kept *shared) {
	t.Helper()
	kept = &shared{storetest.NewMem(), map[string][]byte{}}
	first, second = newBench(t), newBench(t)
	second.state, second.own = first.state, first.own
	for _, b := range []*bench{first, second} {
		b.environ = []string{"BMAD_STORE=postgres://db.example.com/team", "BMAD_PROJECT=git.example.com/team/relay"}
		b.backend = func(store.Place) (store.Backend, error) { return kept, nil }
		b.restart()
	}
	return first, second, kept
}

// TestClonesShareTheirRecords checks that a machine knows the last state of a run in a shared store, whichever
// clone it was seen in: a row that was put back shows in all of them.
func TestClonesShareTheirRecords(t *testing.T) {
	first, second, kept := clones(t)
	first.to(workflow.PO, workflow.Generating)
	second.session = first.session
	second.do(submit(workflow.PO, "Quality Score: 70"))
	old, err := kept.Stored(ctx, first.session)
	if err != nil {
		t.Fatal(err)
	}
	first.do(status(""))
	second.do(submit(workflow.PO, "Quality Score: 95"))
	for _, b := range []*bench{first, second} {
		if r := b.do(status("")); r.Integrity != "" {
			t.Errorf("as it is: %q\n%s", r.Integrity, r.UserMessage)
		}
	}
	kept.put[first.session] = old
	for _, b := range []*bench{first, second} {
		if r := b.do(status("")); r.Integrity != "changed" {
			t.Errorf("put back: %q\n%s", r.Integrity, r.UserMessage)
		}
	}
}

// TestSharedStateIsNoWorkOfTheRepository checks that git sees nothing of the state folder of a clone whose sessions are in a
// shared store, which makes none of the files that ignore it elsewhere.
func TestSharedStateIsNoWorkOfTheRepository(t *testing.T) {
	first, _, _ := clones(t)
	first.to(workflow.PO, workflow.Generating)
	first.do(submit(workflow.PO, "Quality Score: 95"))
	first.read(".bmad-task/work/x/po.md")
	if got := first.read(".bmad-task/.gitignore"); got != "*\n" {
		t.Errorf("%q", got)
	}
}

// TestRepliesNameFilesThatAreThere checks that each text that a step over a shared store tells to read is on the disk of the
// clone, that a clone which has not handed it in is told what sync writes, and that a look at a session names no file of it.
func TestRepliesNameFilesThatAreThere(t *testing.T) {
	first, second, _ := clones(t)
	first.to(workflow.Dev, workflow.Generating)
	second.session = first.session
	r := first.at("review/generating", submit(workflow.Dev, "# Report of the work"))
	texts := 0
	for _, path := range r.TextPaths() {
		if strings.Contains(first.read(path), "Report of the work") {
			texts++
		}
	}
	if texts != 1 {
		t.Errorf("%d reports among %v", texts, r.TextPaths())
	}
	before := second.files()
	if r := second.do(request.Request{Action: workflow.ActionResume}); !strings.Contains(r.UserMessage, "Not in this folder yet") || second.files() != before {
		t.Errorf("%s", r.UserMessage)
	}
	for _, view := range []string{engine.ViewSession, engine.ViewHistory} {
		r := first.do(request.Request{Action: workflow.ActionStatus, Status: request.Status{View: view}})
		if r.Resource == nil || r.Resource.Path != "" || r.Resource.Text == "" {
			t.Errorf("%s: %+v", view, r.Resource)
		}
	}
}

// TestClonesOfFilesHaveRecordsOfTheirOwn checks that a clone with files is not measured by what another one has done.
func TestClonesOfFilesHaveRecordsOfTheirOwn(t *testing.T) {
	first, second := newBench(t), newBench(t)
	second.state = first.state
	second.restart()
	first.to(workflow.PO, workflow.Generating)
	if err := os.CopyFS(filepath.Join(second.dir, store.Folder), os.DirFS(filepath.Join(first.dir, store.Folder))); err != nil {
		t.Fatal(err)
	}
	second.session = first.session
	first.do(submit(workflow.PO, "Quality Score: 70"))
	r := second.do(status(""))
	if want := "it is a copy of the run in " + first.dir; !strings.Contains(r.UserMessage, want) {
		t.Errorf("no %q in %s", want, r.UserMessage)
	}
}

// TestRecordsOfAnOlderProgram checks that what was recorded for a clone counts, once, for the project.
func TestRecordsOfAnOlderProgram(t *testing.T) {
	first, second, kept := clones(t)
	first.to(workflow.PO, workflow.Generating)
	first.do(submit(workflow.PO, "Quality Score: 70"))
	old, err := kept.Stored(ctx, first.session)
	if err != nil {
		t.Fatal(err)
	}
	first.do(submit(workflow.PO, "Quality Score: 75"))
	state := trust.UserState(first.state)
	signer, err := state.Signer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	record := state.Checkpoints(signer, "store:git.example.com/team/relay", first.session)[first.session]
	if err := os.RemoveAll(filepath.Join(first.state, "checkpoints")); err != nil {
		t.Fatal(err)
	}
	if err := state.Record(ctx, signer, first.dir, first.session, record); err != nil {
		t.Fatal(err)
	}
	second.session = first.session
	kept.put[first.session] = old
	if r := second.do(status("")); r.Integrity != "changed" {
		t.Errorf("put back: %q\n%s", r.Integrity, r.UserMessage)
	}
	delete(kept.put, first.session)
	if r := second.do(submit(workflow.PO, "Quality Score: 80")); r.Integrity != "" {
		t.Errorf("as it is: %q\n%s", r.Integrity, r.UserMessage)
	}
	if now := state.Checkpoints(signer, first.dir, first.session); len(now) != 0 {
		t.Errorf("kept for the clone, too: %v", now)
	}
}

// TestOwnRunComesFirst checks that of several active runs a call without a name means the caller's own, and that it
// still asks if they have two.
func TestOwnRunComesFirst(t *testing.T) {
	first, _, _ := clones(t)
	files := newBench(t)
	for name, b := range map[string]*bench{"shared": first, "files": files} {
		begin := func(who workflow.Person, task string) string {
			b.acting = who
			b.do(start(task))
			return b.session
		}
		looks := func(who workflow.Person) *reply.Reply {
			t.Helper()
			b.acting, b.session = who, ""
			return b.do(status(""))
		}
		of := begin(ann, "of ann")
		if r := looks(bob); r.SessionID != of || strings.Contains(r.UserMessage, "Others are active") {
			t.Errorf("%s: a colleague's is the only one: %s\n%s", name, r.SessionID, r.UserMessage)
		}
		begin(cat, "of cat")
		if r := looks(ann); r.SessionID != of || !strings.Contains(r.UserMessage, "Others are active, too: of-cat.") {
			t.Errorf("%s: her own: %s\n%s", name, r.SessionID, r.UserMessage)
		}
		for _, who := range []workflow.Person{bob, {}} {
			if r := looks(who); r.SessionID != "" || len(r.Sessions) != 2 {
				t.Errorf("%s: two of colleagues: %s, %v", name, r.SessionID, r.Sessions)
			}
		}
		for n := range 12 { // more than a page
			begin(bob, fmt.Sprintf("of bob %d", n))
		}
		if r := looks(ann); r.SessionID != of || strings.Count(r.UserMessage, "of-bob") < 9 {
			t.Errorf("%s: below many: %s\n%s", name, r.SessionID, r.UserMessage)
		}
		b.acting = bob
		b.refused(request.Request{Action: workflow.ActionConfirm, Address: project.Address{Cwd: b.dir}}, fault.Conflict, "14 active runs")
		b.acting, b.session = cat, ""
		if r := b.do(request.Request{Action: workflow.ActionCancel}); r.TaskName != "of-cat" {
			t.Errorf("%s: %s was cancelled", name, r.TaskName)
		}
	}
}

// TestClonesThatLackADocument checks that a clone in which a document was not written yet, or is still the one before,
// has not altered it; one that was edited there has.
func TestClonesThatLackADocument(t *testing.T) {
	first, second, _ := clones(t)
	altered := func(b *bench, want int) {
		t.Helper()
		_, found, _, err := b.engine.Inspect(ctx, project.Address{Cwd: b.dir, Session: first.session})
		if err != nil || len(found.Altered) != want {
			t.Errorf("%v, %v; want %d", found.Altered, err, want)
		}
	}
	first.to(workflow.PO, workflow.AwaitingConfirmation)
	first.at("architect/generating", confirm(true))
	altered(second, 0)
	second.session = first.session
	if r := second.do(status("po")); !strings.Contains(r.UserMessage, "**Not in this folder yet:**") || !strings.Contains(r.Resource.Text, "# P") {
		t.Errorf("%q in %s", r.Resource.Text, r.UserMessage)
	}
	name := second.stored().Record(workflow.PO).Artifact.Path
	if second.read(name) != "" {
		t.Error("written by a look")
	}
	altered(second, 0)
	second.do(submit(workflow.Architect, "# A\nQuality Score: 70"))
	if second.read(name) != first.read(name) {
		t.Error("not written by a step")
	}
	first.do(request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "shorter"}})
	first.do(submit(workflow.PO, "# D\nShort.\n\nQuality Score: 96"))
	first.at("architect/generating", confirm(true))
	altered(second, 0)
	second.do(submit(workflow.Architect, "# A\nQuality Score: 75"))
	if second.read(name) != first.read(name) {
		t.Error("the newer one was not written")
	}
	second.write(name, "mine")
	altered(second, 1)
}
