package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// replace edits the run's file.
func (b *bench) replace(old, with string) {
	b.t.Helper()
	name := filepath.Join(b.dir, ".bmad-task", "session-"+b.session+".json")
	data, err := os.ReadFile(name)
	if err != nil {
		b.t.Fatal(err)
	}
	text := strings.Replace(string(data), old, with, 1)
	if text == string(data) {
		b.t.Fatalf("%q is not in the file", old)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// TestCompletedByHandSaysSo checks that work that only a hand edit has brought to its last stage
// can be completed, and the reply that says so says that too.
func TestCompletedByHandSaysSo(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	b.replace(`"current_stage": "architect"`, `"current_stage": "qa"`)
	r := b.at("qa/awaiting_approval", submit(workflow.QA, passes("# Q"))) // no plan was approved, so nothing is known of the work
	if r.Integrity != "changed" || strings.Count(r.UserMessage, "\n") == 0 || !strings.HasPrefix(r.UserMessage, "**Changed by other hands:** the run is at qa/generating, but its newest entry led to architect/generating") {
		t.Errorf("%q\n%s", r.Integrity, r.UserMessage)
	}
	b.at("qa/completed", approve(true, ""))
	for _, req := range []request.Request{{Action: workflow.ActionStatus}, {Action: workflow.ActionReopen, Stage: "po"}, {Action: workflow.ActionResume}} {
		if r := b.do(req); r.Integrity != "changed" || strings.Count(r.UserMessage, "Changed by other hands") != 1 {
			t.Errorf("%s: %q\n%s", req.Action, r.Integrity, r.UserMessage)
		}
	}
	b.do(start("another thing"))
	list := b.do(request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "", Cwd: b.dir}, Status: request.Status{View: engine.ViewSessions}})
	if list.Resource == nil || !strings.Contains(list.Resource.Text, `"integrity": "changed"`) {
		t.Errorf("%+v", list.Resource)
	}
}

// TestNobodyIsAskedAboutAChangedSession checks that under a strict policy the call ends before the
// form.
func TestNobodyIsAskedAboutAChangedSession(t *testing.T) {
	b := newBench(t)
	b.environ = []string{"BMAD_GATE=strict"}
	b.restart()
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	b.replace(`"objective": "x"`, `"objective": "y"`)
	before := b.snapshot()
	person := &answers{Response: gate.Response{Channel: workflow.ChannelElicited, Decision: workflow.DecisionApprove, Took: 3 * time.Second}}
	hint := b.refused(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person}}, fault.Conflict, "was changed by other hands, and the policy is strict")
	if len(person.asked) > 0 || b.snapshot() != before || !strings.Contains(hint, "bmad-mcp adopt x") {
		t.Errorf("asked %v, hint %q", person.asked, hint)
	}

	// A form, or a script, adopts nothing; nor does the tool.
	for _, channel := range []workflow.Channel{workflow.ChannelElicited, workflow.ChannelHostConfirmed, workflow.ChannelScript, workflow.ChannelRelayed} {
		ask := &answers{Response: gate.Response{Channel: channel, Decision: workflow.DecisionAdopt}}
		if _, err := b.engine.Adopt(ctx, request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}, Caller: request.Caller{Ask: ask}}); !fault.Is(err, fault.GatePending) {
			t.Errorf("%s: %v", channel, err)
		}
	}
	if _, err := b.engine.Adopt(ctx, request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}}); !fault.Is(err, fault.GatePending) {
		t.Errorf("nobody asked: %v", err)
	}
	b.refused(request.Request{Action: workflow.ActionAdopt}, fault.InvalidArgument, "unknown action")
	if b.snapshot() != before {
		t.Error("a refused adoption changed files")
	}
	terminal := &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, Decision: workflow.DecisionAdopt, Took: time.Second}}
	r, err := b.engine.Adopt(ctx, request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}, Caller: request.Caller{Ask: terminal, By: "terminal"}})
	if err != nil || r.Integrity != "" || r.State != workflow.AwaitingConfirmation {
		t.Fatalf("%+v, %v", r, err)
	}
	if e := b.stored().Last(); e.Event != workflow.EventAdopted || e.Grant == nil || e.Grant.Decision != workflow.DecisionAdopt || e.Grant.Policy != workflow.GateStrict || e.Adoption.Problem == "" {
		t.Errorf("%+v", e)
	}
	// It decides nothing at the gate.
	b.refused(confirm(true), fault.GatePending, "policy strict")
	if v := b.do(request.Request{Action: workflow.ActionStatus}).Stages[0]; v.Grant != nil {
		t.Errorf("an adoption is shown as a decision: %+v", v.Grant)
	}
	b.at("architect/generating", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person}})
}

// TestRevisionsAreNeverGivenTwice checks that after an older file was put back, a decision for a
// revision that was discarded does not fit a later one.
func TestRevisionsAreNeverGivenTwice(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	name := filepath.Join(b.dir, ".bmad-task", "session-"+b.session+".json")
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	draft := b.read(b.draft(workflow.PO))
	b.do(confirm(false))
	newest := b.do(submit(workflow.PO, "# D\nQuality Score: 96")).Revision
	if err := os.WriteFile(name, old, 0o600); err != nil {
		t.Fatal(err)
	}
	b.write(b.draft(workflow.PO), draft)
	b.restart()
	if r := b.do(confirm(true)); r.Revision <= newest || r.Integrity != "changed" {
		t.Errorf("revision %d after %d, %q", r.Revision, newest, r.Integrity)
	}
}

// TestClockThatGoesBackChangesNothing checks that times are not compared.
func TestClockThatGoesBackChangesNothing(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	b.clock = b.clock.AddDate(-3, 0, 0)
	if r := b.do(confirm(true)); r.Integrity != "" {
		t.Error(r.UserMessage)
	}
	b.clock = b.clock.AddDate(9, 0, 0)
	if r := b.do(submit(workflow.Architect, "# A\nQuality Score: 96")); r.Integrity != "" {
		t.Error(r.UserMessage)
	}
	if _, v, _, err := b.engine.Inspect(ctx, project.Address{Cwd: b.dir, Session: b.session}); err != nil || v.Status != workflow.ChainHolds {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestLookingRecordsNothing checks that status makes neither a key nor a record.
func TestLookingRecordsNothing(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	if err := os.RemoveAll(b.state); err != nil {
		t.Fatal(err)
	}
	b.restart()
	b.do(request.Request{Action: workflow.ActionStatus})
	b.do(request.Request{Action: workflow.ActionResume})
	if _, err := b.engine.Changed(ctx, project.Address{Cwd: b.dir}, summaries(b.session), true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.state); err == nil {
		t.Error("looking made the state folder")
	}
}

// TestUnrecordableChange checks that under strict nothing is changed while the change cannot be recorded: the run of
// before could be put back.
func TestUnrecordableChange(t *testing.T) {
	for gate, want := range map[string]fault.Code{"strict": fault.Storage, "auto": ""} {
		b := newBench(t)
		b.environ = []string{"BMAD_GATE=" + gate}
		b.restart()
		b.do(start("x"))
		lock := filepath.Join(b.state, "checkpoints.lock")
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(lock, 0o700); err != nil {
			t.Fatal(err)
		}
		before := b.snapshot()
		if want == "" {
			b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
			continue
		}
		b.refused(submit(workflow.PO, "# D\nQuality Score: 96"), want, "the state folder")
		if b.snapshot() != before {
			t.Error("a refused action changed files")
		}
	}
}

// TestGoneSession checks that a recorded session which is not stored any more is named.
func TestGoneSession(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(start("y"))
	at := project.Address{Cwd: b.dir}
	if n, gone, err := b.engine.Histories(ctx, at, nil); n != 2 || len(gone) > 0 || err != nil {
		t.Errorf("%d, gone %q, %v", n, gone, err)
	}
	if err := os.Remove(filepath.Join(b.dir, ".bmad-task", "session-"+b.session+".json")); err != nil {
		t.Fatal(err)
	}
	if n, gone, err := b.engine.Histories(ctx, at, nil); n != 1 || !slices.Equal(gone, []string{b.session}) || err != nil {
		t.Errorf("%d, gone %q, %v", n, gone, err)
	}
}
