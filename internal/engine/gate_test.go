package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// settings writes the project's file.
func (b *bench) settings(text string) {
	b.t.Helper()
	b.write(".claude/bmad-task.yaml", text)
}

// scoreBy has a program choose the scores that count for score gates.
func (b *bench) scoreBy(mode workflow.ScoringMode) {
	b.t.Helper()
	b.scoring = mode
	b.restart()
}

// answers is a channel that gives the same response to every question.
type answers struct {
	gate.Response
	asked []gate.Question
}

func (a *answers) Ask(_ context.Context, q gate.Question) (gate.Response, error) {
	a.asked = append(a.asked, q)
	return a.Response, nil
}

func TestPendingGateCannotBeLoosened(t *testing.T) {
	b := newBench(t)
	b.settings("gate: strict\nstages: {po: {gate_score: 95}}\n")
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	b.refused(confirm(true), fault.GatePending, "only the human's own act")
	b.refused(confirm(false), fault.GatePending, "only the human's own act")
	before := b.stored().Revision

	b.settings("")
	b.refused(confirm(true), fault.GatePending, "policy strict")
	if r := b.do(request.Request{Action: workflow.ActionStatus}); r.Gate.Policy != workflow.GateStrict || *r.GateScore != 95 || r.Gate.Terminal != "bmad-mcp decide x" {
		t.Errorf("%+v", r.Gate)
	}
	if b.stored().Revision != before {
		t.Error("a refused decision changed the run")
	}

	// The human's own act opens it, and the gates that follow keep their rules too.
	person := &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, Decision: workflow.DecisionApprove, Took: 3 * time.Second}}
	b.at("architect/generating", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person}})
	if q := person.asked[0]; len(person.asked) != 1 || q.Stage != workflow.PO || q.SHA256 == "" || !strings.Contains(q.Text, "Score 96 of 100 by the assistant") || q.Size == 0 {
		t.Errorf("%+v", person.asked)
	}
	decided := b.stored().Last()
	g := decided.Grant
	if g == nil || g.Channel != workflow.ChannelTerminal || g.Assurance != workflow.AssuranceMedium || g.Policy != workflow.GateStrict || *g.TookMS != 3000 || g.Revision != before || g.SHA256 != decided.SHA256 {
		t.Errorf("%+v", g)
	}
	b.do(submit(workflow.Architect, "# A"))
	const accepted = "po: strict, claimed 95 → auto, claimed 90; architect: strict, claimed 90 → auto, claimed 90; sm, review, qa: strict → auto"
	if p := b.adopt().Last().Policy; p != accepted {
		t.Error(p)
	}
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\nQuality Score: 90"))
	b.at("sm/generating", confirm(true))
}

// TestAuditFloorOfAGate checks that a document below the floor says so where people decide, and a
// gate keeps at least the floor that it had.
func TestAuditFloorOfAGate(t *testing.T) {
	b := newBench(t)
	b.settings("audit_floor: 80\n")
	b.do(start("x"))
	r := b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 91"))
	if !strings.Contains(r.UserMessage, "(floor 80)") {
		t.Errorf("the gate does not name the floor: %s", r.UserMessage)
	}
	b.settings("")
	r = b.do(request.Request{Action: workflow.ActionStatus})
	if r.Gate.AuditFloor == nil || *r.Gate.AuditFloor != 80 {
		t.Errorf("the pending gate has lost its floor: %+v", r.Gate)
	}
	person := &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, Decision: workflow.DecisionApprove, Took: 3 * time.Second}}
	b.at("architect/generating", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person}})
	if q := person.asked[0]; !strings.Contains(q.Lead, "floor 80") || !strings.Contains(q.Text, "floor 80") {
		t.Errorf("%s\n%s", q.Lead, q.Text)
	}
	b.settings("audit_floor: 0\n")
	r = b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\nQuality Score: 90"))
	const kept = "(po, architect: auto, claimed 90, audit_floor 80 → auto, claimed 90, audit_floor 60;"
	if !strings.Contains(r.UserMessage, "(floor 80)") || !strings.Contains(r.UserMessage, kept) {
		t.Errorf("the settings have lowered the floor: %s", r.UserMessage)
	}
}

func TestPendingGateCanBeTightened(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 91"))
	b.settings("stages: {po: {gate_score: 92}}\n")
	b.refused(confirm(true), fault.GatePending, "the stated score is 91 and the gate now needs 92")
	b.settings("")
	b.scoreBy(workflow.ScoringAudited)
	b.refused(confirm(true), fault.GatePending, "and the gate now needs 90")
	person := &answers{}
	b.refused(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person, Via: workflow.ChannelRelayed}}, fault.GatePending, "and the gate now needs 90")
	if len(person.asked) > 0 {
		t.Error("the human was asked, and then told that it cannot be")
	}
	b.at("po/refining", confirm(false))
}

// TestInflatedScoreIsHeldByTheAudit checks that a 95 on an empty document passes only if the policy
// takes a claim for a score.
func TestInflatedScoreIsHeldByTheAudit(t *testing.T) {
	inflated := submit(workflow.PO, "# D\nQuality Score: 95")
	b := newBench(t)
	b.do(start("x"))
	r := b.at("po/awaiting_confirmation", inflated)
	if r.Audit == nil || r.Audit.Score > 50 || !strings.Contains(r.UserMessage, "Score 95 of 100 by the assistant, **form "+fmt.Sprint(r.Audit.Score)+" by our check (floor 60)**; 90 needed.\nOur check found: ") {
		t.Errorf("%+v\n%s", r.Audit, r.UserMessage)
	}
	b = newBench(t)
	b.scoreBy(workflow.ScoringAudited)
	b.do(start("x"))
	r = b.at("po/refining", inflated)
	if !strings.Contains(r.UserMessage, "90 needed of both") || !slices.ContainsFunc(r.Gaps, func(g string) bool { return strings.HasPrefix(g, "our check −") }) {
		t.Errorf("%v\n%s", r.Gaps, r.UserMessage)
	}
	// A good document passes.
	b.at("po/clarifying", submit(workflow.PO, sample(t, "webhook-relay", "01-po-first.md")))
	b.do(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "a"}}})
	b.at("po/awaiting_confirmation", submit(workflow.PO, sample(t, "webhook-relay", "03-po-second.json")))
}

// TestFillerIsHeldByTheAudit checks that filler in the right headings does not reach the gate, even
// if only the objective shows that it is filler.
func TestFillerIsHeldByTheAudit(t *testing.T) {
	for file, words := range map[string]string{"po-lorem.md": "% of the text", "po-novel.md": "it speaks of something else"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "filler", file))
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t)
		b.scoreBy(workflow.ScoringAudited)
		b.do(start("Build a self-hosted webhook relay that stores webhooks of payment providers and delivers them"))
		r := b.at("po/refining", submit(workflow.PO, string(data)+"\nQuality Score: 96\n"))
		if r.Audit.Score >= 90 || !strings.Contains(fmt.Sprint(r.Gaps), words) {
			t.Errorf("%s: %+v\n%v", file, r.Audit, r.Gaps)
		}
	}
}

// TestProjectsRubricIsTrustedOnceAllowed checks that until then, the harder one counts.
func TestProjectsRubricIsTrustedOnceAllowed(t *testing.T) {
	b := newBench(t)
	const lax = "stage: po\nchecks:\n  - {id: NO-E, kind: section, severity: minor, points: 1, name: E, problem: p, fix: f}\n"
	b.write(".claude/bmad-rubrics/po.yaml", lax)
	b.do(start("x"))
	low := b.do(submit(workflow.PO, "# D\nQuality Score: 95")).Audit.Score
	if low > 50 {
		t.Errorf("a rubric of the project counted without being allowed: %v", low)
	}
	cwd, wants, err := b.engine.Wants(project.Address{Cwd: b.dir})
	if err != nil || cwd != b.dir || len(wants) != 1 || wants[0].Kind != trust.KindRubric || wants[0].Allowed {
		t.Fatalf("%+v, %v", wants, err)
	}
	if err := trust.UserState(b.state).Allow(ctx, wants[0].Allowance); err != nil {
		t.Fatal(err)
	}
	b.at("po/refining", confirm(false))
	if got := b.do(submit(workflow.PO, "# D\nQuality Score: 95")).Audit.Score; got != 99 {
		t.Errorf("an allowed rubric does not count: %v", got)
	}
	b.write(".claude/bmad-rubrics/po.yaml", lax+"# changed\n")
	b.at("po/refining", confirm(false))
	if got := b.do(submit(workflow.PO, "# D\nQuality Score: 95")).Audit.Score; got != low {
		t.Errorf("a changed rubric still counts: %v", got)
	}
}

func TestVerifyCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.settings("verify: echo checked; exit $(cat code)\n")
	b.write("code", "1")
	b.to(workflow.Dev, workflow.Generating)
	r := b.at("review/generating", submit(workflow.Dev, "# D"))
	if e := b.stored().Record(workflow.Dev).Evidence; e == nil || !strings.Contains(e.NotRun, "not allowed") || e.Tail != "" || !strings.Contains(r.UserMessage, "bmad-mcp allow") {
		t.Fatalf("a command that nobody allowed: %+v\n%s", e, r.UserMessage)
	}
	_, wants, err := b.engine.Wants(project.Address{Cwd: b.dir})
	if err != nil || len(wants) != 1 || wants[0].Use != "dev, qa" {
		t.Fatalf("%+v, %v", wants, err)
	}
	if err := trust.UserState(b.state).Allow(ctx, wants[0].Allowance); err != nil {
		t.Fatal(err)
	}
	// The server's findings about the work oppose a pass of the review.
	b.at("dev/refining", request.Request{Action: workflow.ActionReopen, Stage: "dev"})
	r = b.at("review/generating", submit(workflow.Dev, "# D"))
	e := b.stored().Record(workflow.Dev).Evidence
	if e == nil || e.ExitCode != 1 || strings.TrimSpace(e.Tail) != "checked" || !strings.Contains(r.UserMessage, "failed with exit code 1") {
		t.Fatalf("%+v\n%s", e, r.UserMessage)
	}
	r = b.at("review/awaiting_approval", submit(workflow.Review, passes("# R")))
	if r.Verdict != workflow.Pass || !strings.Contains(strings.Join(r.Objections, ""), "the verify command says no") {
		t.Errorf("%v %q", r.Verdict, r.Objections)
	}
	b.at("qa/generating", approve(true, "known"))
	r = b.at("qa/awaiting_approval", submit(workflow.QA, passes("# Q")))
	if r.Verdict != workflow.Pass || r.Evidence == nil || *r.Evidence.ExitCode != 1 || !strings.Contains(r.Evidence.Tail, "checked") || !strings.Contains(r.UserMessage, "failed with exit code 1. Its output ends: “checked”") {
		t.Errorf("%+v\n%s", r.Evidence, r.UserMessage)
	}
	// Mended.
	b.write("code", "0")
	back := b.at("dev/refining", approve(false, "mend it"))
	if i := slices.IndexFunc(back.Findings, func(f workflow.Finding) bool { return f.ID == "verify" }); i < 0 || !strings.Contains(back.Findings[i].Problem, "checked") {
		t.Errorf("the developer is not told what failed: %+v", back.Findings)
	}
	if last := back.Context.Documents[len(back.Context.Documents)-1]; last.Stage != workflow.QA {
		t.Errorf("the developer does not get the report: %+v", back.Context.Documents)
	}
	b.at("review/generating", submit(workflow.Dev, "# D"))
	b.at("qa/generating", submit(workflow.Review, passes("# R")))
	b.at("qa/completed", submit(workflow.QA, passes("# Q")))
	// A changed command is asked about again.
	b.settings("verify: echo other\n")
	if _, wants, _ := b.engine.Wants(project.Address{Cwd: b.dir}); len(wants) != 1 || wants[0].Allowed {
		t.Errorf("%+v", wants)
	}
}

func TestFindingsAreFollowedUp(t *testing.T) {
	report := func(verdict, findings string) request.Request {
		return submit(workflow.Review, `{"review":"# R","verdict":"`+verdict+`","checks":[{"command":"go vet","exit":0}],"findings":[`+findings+`]}`)
	}
	b := newBench(t)
	b.write("main.go", "package main\n")
	b.to(workflow.Review, workflow.Generating)
	b.at("review/awaiting_approval", report("fail", `{"id":"R1","severity":"critical","problem":"a"},{"id":"R2","severity":"minor","problem":"b"},{"id":"R3","severity":"minor","problem":"c"}`))
	back := b.at("dev/refining", approve(false, "mend"))
	if len(back.Findings) != 3 {
		t.Errorf("the developer gets %+v", back.Findings)
	}
	b.at("review/generating", submit(workflow.Dev, "# D"))
	lost := b.at("review/refining", report("pass", `{"id":"R1","problem":"a","status":"fixed"}`))
	if want := "R2, R3 were open in the last report; list each again with its status: open, fixed or withdrawn"; !slices.Equal(lost.Returned, []string{want}) || lost.Rework != back.Rework {
		t.Errorf("returned %q", lost.Returned)
	}

	// The same findings, and nothing was touched but the report: it is said.
	b.write("drafts/review.json", `{"review":"# R again","verdict":"fail","findings":[{"id":"R1","severity":"critical","problem":"a"},{"id":"R2","problem":"b"},{"id":"R3","problem":"c"}]}`)
	same := request.Request{Action: workflow.ActionSubmit, Stage: "review", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Codex, Path: "drafts/review.json"}}}}
	r := b.at("review/awaiting_approval", same)
	if r.Progress == nil || !r.Progress.Unchanged || r.Progress.Open != 3 || !strings.Contains(r.UserMessage, "No change since the last report") {
		t.Errorf("%+v\n%s", r.Progress, r.UserMessage)
	}
	b.at("dev/refining", approve(false, "mend"))
	b.at("review/generating", submit(workflow.Dev, "# D"))
	b.write("main.go", "package main\n\nfunc main() {}\n")
	r = b.at("review/awaiting_approval", same)
	if r.Progress.Unchanged {
		t.Errorf("a file was changed: %+v", r.Progress)
	}
	b.at("dev/refining", approve(false, "mend"))
	b.at("review/generating", submit(workflow.Dev, "# D"))
	r = b.at("qa/generating", report("pass_with_risk", `{"id":"R1","problem":"a","status":"fixed"},{"id":"R2","problem":"b","status":"withdrawn"},{"id":"R3","severity":"minor","problem":"c","status":"open"},{"id":"R4","severity":"minor","problem":"d"}`))
	if !strings.Contains(r.UserMessage, "1 fixed, 1 still open, 1 withdrawn, 1 new") {
		t.Errorf("%s", r.UserMessage)
	}
}

func TestBlockedStageWaitsForTheHuman(t *testing.T) {
	b := newBench(t)
	b.to(workflow.QA, workflow.Generating)
	reworks := b.stored().ReworkCount
	r := b.at("qa/awaiting_approval", submit(workflow.QA, `{"qa_report":"# Q","verdict":"blocked","needs":"a key for the staging mail service"}`))
	if r.Verdict != workflow.Blocked || r.Needs != "a key for the staging mail service" || !strings.Contains(r.UserMessage, "is **blocked** and needs something from you: “a key for the staging mail service”") || r.PendingUserActions[0] != "unblock" {
		t.Errorf("%+v\n%s", r.PendingUserActions, r.UserMessage)
	}
	b.refused(approve(true, ""), fault.InvalidArgument, "goes on only with what the human did or decided")
	r = b.at("qa/refining", approve(true, "it is in the vault, under mail-staging"))
	if r.Context.Feedback != "it is in the vault, under mail-staging" || r.Rework != reworks || !strings.HasPrefix(r.RolePrompt[strings.Index(r.RolePrompt, "\n\n")+2:], "You were blocked") {
		t.Errorf("%+v\n%s", r.Context, r.RolePrompt)
	}
	b.at("qa/awaiting_approval", submit(workflow.QA, `{"qa_report":"# Q","verdict":"blocked","needs":"still"}`))
	b.at("qa/refining", approve(false, "test the rest, and say what is not tested"))
	b.at("qa/awaiting_approval", submit(workflow.QA, `{"qa_report":"# Q","verdict":"pass_with_risk","no_checks":"the mail server is away"}`))
	b.at("qa/completed", approve(true, "we know"))
}

// TestEditKeepsThePolicy checks that an edited document is judged by the gate that it waits at, not
// by a looser one.
func TestEditKeepsThePolicy(t *testing.T) {
	b := newBench(t)
	b.settings("gate: strict\nstages: {po: {gate_score: 91}}\n")
	b.scoreBy(workflow.ScoringAudited)
	b.do(start("x"))
	r := b.at("po/awaiting_confirmation", submit(workflow.PO, sample(t, "webhook-relay", "03-po-second.json")))
	b.settings("")
	b.scoreBy("")
	b.write(r.Draft.Path, "# P\n")
	yes := confirm(true)
	yes.Ask = personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")
	b.refused(yes, fault.GatePending, "as it was edited, the audit of the draft is ")
	b.write(r.Draft.Path, b.read(b.stored().Current().FinalResultRef.FilePath)+"\nOne more line.\n")
	b.refused(confirm(true), fault.Conflict, "was changed after it was scored")
	b.at("architect/generating", yes)
}

// TestLeavingAGateIsADecisionToo: under strict only the human's own, and recorded always.
func TestLeavingAGateIsADecisionToo(t *testing.T) {
	b := newBench(t)
	b.environ = []string{"BMAD_GATE=strict"}
	b.to(workflow.Review, workflow.Generating)
	b.restart()
	b.at("review/awaiting_approval", submit(workflow.Review, "# R\nStatus: fail"))
	reopen := request.Request{Action: workflow.ActionReopen, Stage: "dev", Decision: request.Decision{Feedback: "again"}}
	b.refused(reopen, fault.GatePending, "policy strict")
	if hint := b.refused(request.Request{Action: workflow.ActionCancel}, fault.GatePending, "policy strict"); !strings.Contains(hint, "bmad-mcp cancel build-a-thing") {
		t.Errorf("hint %q", hint)
	}
	if r := b.do(request.Request{Action: workflow.ActionStatus}); !slices.Equal(r.Allowed, []string{"status", "resume"}) || r.NextCall != nil {
		t.Errorf("allowed %v, next %v", r.Allowed, r.NextCall)
	}
	reworks := b.stored().ReworkCount
	reopen.Ask = &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, Decision: workflow.DecisionReopen}}
	r := b.at("dev/refining", reopen)
	if g := b.stored().Last().Grant; g == nil || g.Decision != workflow.DecisionReopen || g.Channel != workflow.ChannelTerminal || r.Rework != reworks+1 {
		t.Errorf("%+v, rework %d", g, r.Rework)
	}
	reopen.Stage, reopen.Feedback, reopen.Forms = "po", "its own words", true
	reopen.Ask = &answers{Response: gate.Response{Channel: workflow.ChannelElicited, Decision: workflow.DecisionReopen}}
	b.at("po/refining", reopen)
	if e := b.stored().Last(); e.Grant.Feedback != "" || e.Feedback != "its own words" || b.stored().Stages[workflow.PO].Feedback != "its own words" {
		t.Errorf("the assistant's words are recorded as %+v, %+v", e, e.Grant)
	}
	cancel := request.Request{Action: workflow.ActionCancel, Decision: request.Decision{Feedback: "enough"}}
	b.refused(cancel, fault.GatePending, "policy strict") // though no gate is pending
	cancel.Ask = &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, Decision: workflow.DecisionCancel}}
	b.at("po/cancelled", cancel)
	if g := b.stored().Last().Grant; g == nil || g.Decision != workflow.DecisionCancel || g.Channel != workflow.ChannelTerminal || g.Feedback != "enough" {
		t.Errorf("%+v", g)
	}
}

// TestRelayedNoIsNoWayOn checks that if a no means to go on, the person is asked about it as well.
func TestRelayedNoIsNoWayOn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		bring func(b *bench)
	}{
		{"spent rounds", func(b *bench) {
			b.do(start("x"))
			for range 5 {
				b.do(submit(workflow.PO, "# D\nQuality Score: 50"))
			}
		}},
		{"blocked", func(b *bench) {
			b.to(workflow.QA, workflow.Generating)
			b.do(submit(workflow.QA, `{"qa_report":"# Q","verdict":"blocked","needs":"a key"}`))
		}},
	} {
		b := newBench(t)
		tt.bring(b)
		person := &answers{Response: gate.Response{Silence: gate.Silence{Why: lang.T("the form was closed")}}}
		no := approve(false, "invented")
		no.Ask, no.Via = person, workflow.ChannelRelayed
		r := b.do(no)
		if len(person.asked) != 1 || r.State != workflow.AwaitingApproval || r.Gate == nil || r.Gate.Silence == "" {
			t.Errorf("%s: asked %d times, %s", tt.name, len(person.asked), r.State)
		}
	}
}

// swap is a person who approves, while somebody writes another text into the draft.
type swap struct{ do func() }

func (s swap) Ask(context.Context, gate.Question) (gate.Response, error) {
	s.do()
	return gate.Response{Channel: workflow.ChannelElicited, Decision: workflow.DecisionApprove}, nil
}

// TestDecisionIsForTheTextThatWasThere, also if the run has no hash of it.
func TestDecisionIsForTheTextThatWasThere(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	r := b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 95"))
	name := ".bmad-task/session-" + b.session + ".json"
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	// Out of the reference, and then out of the history too.
	bare := strings.Replace(string(data), `"sha256": "`+r.Draft.SHA256+`",`, "", 1)
	barer := strings.ReplaceAll(strings.ReplaceAll(bare, `"sha256": "`+r.Draft.SHA256+`",`, ""), `"sha256": "`+r.Draft.SHA256+`"`, `"x": 1`)
	for _, text := range []string{string(data), bare, barer} {
		b.write(name, text)
		b.write(r.Draft.Path, "# D\nQuality Score: 95\n")
		yes := confirm(true)
		yes.Ask = swap{func() { b.write(r.Draft.Path, "# Another\n") }}
		b.refused(yes, fault.Conflict, "was changed after it was scored")
		if _, err := os.Stat(filepath.Join(b.dir, ".claude", "specs", "x")); err == nil {
			t.Fatal("something was saved")
		}
	}
}

// TestAnswersOfAFormComeWhole: the assistant has not heard them.
func TestAnswersOfAFormComeWhole(t *testing.T) {
	long := strings.Repeat("what I want. ", 60)
	for channel, whole := range map[workflow.Channel]bool{workflow.ChannelElicited: true, workflow.ChannelTerminal: true, workflow.ChannelRelayed: false} {
		b := newBench(t)
		b.do(start("x"))
		b.do(submit(workflow.PO, `{"prd_draft":"# D","quality_score":80,"questions":["Who?"]}`))
		req := request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": long}}}
		if channel != workflow.ChannelRelayed {
			req.Ask = &answers{Response: gate.Response{Channel: channel, Answers: req.Answers}}
			req.Answers = nil
		}
		r := b.at("po/refining", req)
		if got := r.Context.Answers[0].Answer == strings.TrimSpace(long); got != whole {
			t.Errorf("%s: %q", channel, r.Context.Answers[0].Answer)
		}
	}
}

// TestModelsTextIsNotOurs checks that the text of a model stands in one line, so that it cannot
// look like a line of the server.
func TestModelsTextIsNotOurs(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_draft":"# D","quality_score":95,"gaps":["none\nDraft: docs/prd.md (48 kB)\n\u001b[1A\u001b[2KScore 95 of 100 by the assistant, 100; 90 needed."]}`))
	person := &answers{Response: gate.Response{Silence: gate.Silence{Why: lang.T("not now")}}}
	b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person}})
	for line := range strings.SplitSeq(person.asked[0].Text, "\n") {
		if strings.HasPrefix(line, "Draft:") || strings.HasPrefix(line, "Score: ") && strings.Contains(line, "audit 100") || strings.ContainsRune(line, 0x1b) {
			t.Errorf("%q", line)
		}
	}
}

// TestHistoryIsSigned checks that whatever is done, the chain holds; a hand in the file shows for
// ever.
func TestHistoryIsSigned(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.AwaitingApproval)
	signer, err := trust.UserState(b.state).ReadSigner()
	if err != nil || signer == nil {
		t.Fatal(signer, err)
	}
	if v := b.stored().Verify(signer, nil); v.Status != workflow.ChainHolds || v.Entries < 8 {
		t.Errorf("%+v", v)
	}
	name := filepath.Join(b.dir, ".bmad-task", "session-"+b.session+".json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(data), `"channel": "relayed"`, `"channel": "elicited"`, 1)
	if forged == string(data) {
		t.Fatal("nothing to forge")
	}
	if err := os.WriteFile(name, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := b.stored().Verify(signer, nil)
	if broken.Status != workflow.ChainChanged || broken.Broken == 0 {
		t.Errorf("%+v", broken)
	}
	b.at("dev/refining", approve(false, "again"))
	if v := b.stored().Verify(signer, nil); v.Status != workflow.ChainChanged || v.Broken != broken.Broken {
		t.Errorf("the next action made it sound: %+v", v)
	}
}

// TestDoubtAsksThePerson checks that a stated pass that something in the report speaks against goes
// neither through nor back by itself.
func TestDoubtAsksThePerson(t *testing.T) {
	report := passes("# QA\n\nStatus: Pass\n\n```\n--- FAIL: TestLogin (0.00s)\n```")
	b := newBench(t)
	b.to(workflow.QA, workflow.Generating)
	reworks := b.stored().ReworkCount
	r := b.at("qa/awaiting_approval", submit(workflow.QA, report))
	if r.Verdict != workflow.Pass || len(r.Objections) != 1 || !strings.Contains(r.UserMessage, "Against it:\n- the output of go test says “--- FAIL: TestLogin (0.00s)”") || strings.Contains(r.UserMessage, "failed") {
		t.Errorf("%q %q\n%s", r.Verdict, r.Objections, r.UserMessage)
	}
	if last := b.stored().Last(); last.Event != workflow.EventDoubted || last.Verdict != workflow.Pass || last.Judged == "" {
		t.Errorf("%+v", last)
	}
	// The report is in doubt, and no finding, check or command speaks against the work.
	again := b.at("qa/refining", approve(false, "which login is that?"))
	if again.Rework != reworks || again.Context.Feedback != "which login is that?" {
		t.Errorf("rework %d, context %+v", again.Rework, again.Context)
	}
	b.at("qa/awaiting_approval", submit(workflow.QA, report))
	b.at("qa/completed", approve(true, "that test is of the old login"))
	last := b.stored().Last()
	if last.Grant == nil || last.Grant.Decision != workflow.DecisionOverride {
		t.Errorf("%+v", last.Grant)
	}
	saved := b.artifact(b.stored().TaskName, "05-qa-report.md")
	if !strings.Contains(saved, "reported pass, but the output of go test says “--- FAIL: TestLogin (0.00s)”") || strings.Contains(saved, "failed this work") {
		t.Errorf("%.400s", saved)
	}
}

// TestWhichScoreIsSaid checks that if a document states several scores, or none from 0 to 100, the
// reply and the gate say so.
func TestWhichScoreIsSaid(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	r := b.at("po/refining", submit(workflow.PO, "# PRD\n\nQuality Score: 95/100\n\nQuality Score: 40/100"))
	if r.Score == nil || *r.Score != 40 || r.ScoreNote != "several scores are stated (95, 40); the lowest, 40, counts" || !strings.Contains(r.UserMessage, "Score 40 of 100 by the assistant (several scores are stated") {
		t.Errorf("%v %q\n%s", r.Score, r.ScoreNote, r.UserMessage)
	}
	r = b.at("po/refining", submit(workflow.PO, "# PRD\n\nQuality Score: 150"))
	if !strings.Contains(r.UserMessage, "150 is not a score from 0 to 100; our estimate is") || strings.Contains(r.UserMessage, "No score was stated") || !strings.Contains(strings.Join(r.Gaps, "\n"), "150 is not a score") {
		t.Errorf("%q\n%s", r.Gaps, r.UserMessage)
	}
	if r = b.at("po/awaiting_confirmation", submit(workflow.PO, "# PRD\n\nQuality Score: 91")); r.ScoreNote != "" {
		t.Errorf("%q", r.ScoreNote)
	}
}

// TestSignatureIsRecorded checks that the signature of a passkey stays with the decision, on disk too.
func TestSignatureIsRecorded(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	signature := workflow.Signature{
		Credential: "Y3Jl", PublicKey: "a2V5", AuthenticatorData: "YXV0aA", ClientData: "Y2xpZW50", Signature: "c2ln", Nonce: "n.m", Answers: "ab",
	}
	person := &answers{Response: gate.Response{Channel: workflow.ChannelPasskey, Decision: workflow.DecisionApprove, Took: 3 * time.Second, Passkey: &signature}}
	b.at("architect/generating", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person}})
	g := b.stored().Last().Grant
	if g == nil || g.Channel != workflow.ChannelPasskey || g.Assurance != workflow.AssuranceHigh || g.Passkey == nil || !reflect.DeepEqual(*g.Passkey, signature) {
		t.Errorf("%+v", g)
	}
}

// adopt accepts the run, as its person does at a terminal.
func (b *bench) adopt() *workflow.Session {
	b.t.Helper()
	terminal := &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, Decision: workflow.DecisionAdopt, Took: time.Second}}
	req := request.Request{Address: project.Address{Cwd: b.dir, Session: b.session}, Caller: request.Caller{Ask: terminal, By: "terminal"}}
	if _, err := b.engine.Adopt(b.t.Context(), req); err != nil {
		b.t.Fatal(err)
	}
	return b.stored()
}

// TestRulesOfARunAreKept checks that rules which are taken out of the settings around a step hold for a run that had
// them, until its person accepts that.
func TestRulesOfARunAreKept(t *testing.T) {
	for name, tt := range map[string]struct{ rules, refusal string }{
		"strict":    {"gate: strict", "only the human's own act"},
		"four eyes": {"four_eyes: true", "nothing shows on whose behalf"},
		"quorum":    {"quorum: 2", "nothing shows on whose behalf"},
		"approvers": {"approvers: [ann]", "nothing shows on whose behalf"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			rules := filepath.Join(b.dir, ".claude", "bmad-task.yaml")
			b.write(".claude/bmad-task.yaml", tt.rules+"\n")
			b.do(start("x"))
			if err := os.Remove(rules); err != nil {
				t.Fatal(err)
			}
			b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
			b.refused(confirm(true), fault.GatePending, tt.refusal)
			r := b.do(request.Request{Action: workflow.ActionStatus})
			if !strings.Contains(r.UserMessage, "Rules kept:") || !strings.Contains(r.UserMessage, "bmad-mcp adopt x") {
				t.Errorf("nothing says that the rules are kept: %s", r.UserMessage)
			}
			b.adopt()
			if r := b.do(request.Request{Action: workflow.ActionStatus}); strings.Contains(r.UserMessage, "Rules kept:") {
				t.Errorf("accepted, and said again: %s", r.UserMessage)
			}
		})
	}
}

// TestGateBeforeItsRules checks that a gate which was passed while its rules were away is named once they are there.
func TestGateBeforeItsRules(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	b.at("architect/generating", confirm(true))
	b.settings("gate: strict\n")
	r := b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\nQuality Score: 96"))
	if !strings.Contains(r.UserMessage, "Passed before these rules:** entry 3 passed the gate of po by relayed") {
		t.Errorf("nothing says so: %s", r.UserMessage)
	}
}
