package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestWholeRun drives real documents of about 20 kB through every outcome: a
// clarification, a refused gate, a rework, and the end. The budget of the replies
// is part of the promise.
func TestWholeRun(t *testing.T) {
	b := newBench(t)
	const run = "webhook-relay"
	started := b.at("po/generating", start(strings.TrimSpace(sample(t, run, "objective.txt"))))
	task := started.TaskName
	if task != "build-a-self-hosted-webhook-relay-that-receives" {
		t.Errorf("task name %q", task)
	}
	if started.RequiresUserConfirmation || started.InteractionType != reply.AwaitingGeneration || started.RolePrompt == "" {
		t.Errorf("start: %+v", started)
	}

	asked := b.at("po/clarifying", submit(workflow.PO, sample(t, run, "01-po-first.md")))
	if len(asked.Questions) != 4 || *asked.Score != 74 || *asked.GateScore != 90 || !asked.RequiresUserConfirmation || asked.InteractionType != reply.UserDecision {
		t.Errorf("clarifying: %+v", asked)
	}
	var answers map[string]string
	if err := json.Unmarshal([]byte(sample(t, run, "02-answers.json")), &answers); err != nil {
		t.Fatal(err)
	}
	refining := b.at("po/refining", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: answers}})
	if len(refining.Context.Answers) != 4 || len(refining.RolePrompt) > 2500 || refining.InteractionType != reply.AwaitingRegeneration {
		t.Errorf("refining: %+v", refining)
	}
	ready := b.at("po/awaiting_confirmation", submit(workflow.PO, sample(t, run, "03-po-second.json")))
	if ready.Draft == nil || ready.Draft.SHA256 == "" || *ready.Score != 93 {
		t.Errorf("ready: %+v", ready)
	}

	next := b.at("architect/generating", confirm(true))
	if next.Artifact != ".claude/specs/"+task+"/01-product-requirements.md" || len(next.Context.Documents) != 1 || next.Context.Documents[0].Path != next.Artifact {
		t.Errorf("confirm: %+v", next)
	}
	if doc := b.artifact(task, "01-product-requirements.md"); !strings.HasPrefix(doc, "# ") || strings.Contains(doc, "quality_score") {
		t.Errorf("the artifact is not the document: %.80q", doc)
	}
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, sample(t, run, "04-architect-first.md")))
	no := confirm(false)
	no.Feedback = "explain how ordering is kept per merchant"
	if again := b.at("architect/refining", no); again.Context.Feedback != no.Feedback {
		t.Errorf("feedback: %+v", again.Context)
	}
	second := b.at("architect/awaiting_confirmation", submit(workflow.Architect, sample(t, run, "05-architect-second.md")))
	if *second.Score != 94 || second.Draft.Size < 15000 {
		t.Errorf("the document shrank: %+v", second.Draft)
	}
	b.at("sm/generating", confirm(true))
	plan := b.at("sm/awaiting_approval", submit(workflow.SM, sample(t, run, "06-sm-first.json")))
	if len(plan.Sprints) != 3 {
		t.Errorf("sprints: %+v", plan.Sprints)
	}
	dev := b.at("dev/generating", approve(true, ""))
	if !slices.Equal(dev.PendingUserActions, []string{"specify_sprint_scope_then_generate"}) || len(dev.Sprints) != 3 || !dev.RequiresUserConfirmation {
		t.Errorf("dev: %+v", dev)
	}
	b.at("review/generating", submit(workflow.Dev, sample(t, run, "07-dev-first.md")))
	failed := b.at("review/awaiting_approval", submit(workflow.Review, sample(t, run, "08-review-first.json")))
	if failed.Verdict != workflow.Fail || len(failed.Findings) != 3 {
		t.Errorf("failed: %+v", failed)
	}
	rework := b.at("dev/refining", approve(false, "mend R1 first"))
	if rework.Rework != 1 || len(rework.Findings) != 3 || rework.Context.Feedback != "mend R1 first" {
		t.Errorf("rework: %+v", rework)
	}
	b.at("review/generating", submit(workflow.Dev, sample(t, run, "09-dev-second.md")))
	qa := b.at("qa/generating", submit(workflow.Review, sample(t, run, "10-review-second.md")))
	if qa.Artifact != ".claude/specs/"+task+"/04-dev-reviewed.md" {
		t.Errorf("review: %q", qa.Artifact)
	}
	done := b.at("qa/completed", submit(workflow.QA, sample(t, run, "11-qa.md")))
	if done.InteractionType != reply.WorkflowCompleted || len(done.PendingUserActions) != 0 {
		t.Errorf("completed: %+v", done)
	}

	s := b.stored()
	want := []string{"01-product-requirements.md", "02-system-architecture.md", "03-sprint-plan.md", "04-dev-reviewed.md", "05-qa-report.md"}
	for i, name := range want {
		if path := ".claude/specs/" + task + "/" + name; s.Artifacts[i] != path || len(b.artifact(task, name)) < 3000 {
			t.Errorf("artifact %d is %s", i, s.Artifacts[i])
		}
	}
	if open := s.OpenSprints(workflow.SprintDone); len(open) != 3 || s.ReworkCount != 1 {
		t.Errorf("sprints done %v, rework %d", open, s.ReworkCount)
	}
	for id, rec := range s.Stages {
		if rec.Status != workflow.Done {
			t.Errorf("%s is %s", id, rec.Status)
		}
	}
	if b.bytes > 60_000 || b.most > reply.Max {
		t.Errorf("the replies take %d bytes, the largest %d; the budget is 60000 and %d", b.bytes, b.most, reply.Max)
	}
	t.Logf("the replies take %d bytes, the largest %d", b.bytes, b.most)
	for _, e := range s.History {
		if e.By != "test" || e.At.IsZero() || e.To == "" {
			t.Errorf("history: %+v", e)
		}
	}
}

func TestChineseRun(t *testing.T) {
	b := newBench(t)
	b.chinese = true
	const run = "zh-booking"
	started := b.at("po/generating", start(sample(t, run, "objective.txt")))
	if !strings.HasPrefix(started.TaskName, "wei-she-qu-tu-shu-guan") {
		t.Errorf("task name %q", started.TaskName)
	}
	b.at("po/awaiting_confirmation", submit(workflow.PO, sample(t, run, "01-po-first.md")))
	b.at("architect/generating", confirm(true))
	if r := b.at("architect/awaiting_confirmation", submit(workflow.Architect, sample(t, run, "02-architect-first.md"))); *r.Score != 95 {
		t.Errorf("score %v", *r.Score)
	}
	b.at("sm/generating", confirm(true))
	if r := b.at("sm/awaiting_approval", submit(workflow.SM, sample(t, run, "03-sm-first.md"))); len(r.Sprints) != 2 {
		t.Errorf("sprints %+v", r.Sprints)
	}
	b.at("dev/generating", approve(true, ""))
	one := submit(workflow.Dev, sample(t, run, "04-dev-first.md"))
	one.Sprints = []int{1}
	b.at("review/generating", one)
	b.at("qa/generating", submit(workflow.Review, sample(t, run, "05-review-first.md")))
	done := b.at("qa/completed", submit(workflow.QA, sample(t, run, "06-qa.json")))
	if !strings.Contains(done.UserMessage, "已完成，除了冲刺 2") || done.NextCall["stage"] != workflow.Dev {
		t.Errorf("message:\n%s", done.UserMessage)
	}
	again := b.at("dev/refining", request.Request{Action: workflow.ActionReopen, Stage: "dev", Decision: request.Decision{Feedback: "now sprint 2"}})
	if got := again.NextCall["sprints"]; !slices.Equal(got.([]int), []int{2}) {
		t.Errorf("the next call offers sprints %v", got)
	}
	if !strings.Contains(again.UserMessage, "05-qa-report.md") {
		t.Errorf("stale artifacts are not named:\n%s", again.UserMessage)
	}
}

func TestSpentReworkIsTheHumansDecision(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.AwaitingApproval)
	for n := 1; n <= 4; n++ {
		back := b.at("dev/refining", approve(false, "again"))
		if back.Rework != n {
			t.Errorf("rework %d, want %d\n%s", back.Rework, n, back.UserMessage)
		}
		b.at("review/generating", submit(workflow.Dev, "# D"))
		failed := b.at("review/awaiting_approval", submit(workflow.Review, "# R\nStatus: fail"))
		if offered := slices.Contains(failed.PendingUserActions, "reopen"); offered != (n >= 3) {
			t.Errorf("after rework %d: %v", n, failed.PendingUserActions)
		}
		if said := strings.Contains(failed.UserMessage, "has come back "+strconv.Itoa(n)+" times already"); said != (n >= 3) {
			t.Errorf("after rework %d:\n%s", n, failed.UserMessage)
		}
	}
	b.refused(approve(true, ""), fault.InvalidArgument, "needs the human's reason")
	b.at("qa/generating", approve(true, "we ship it"))
	if doc := b.artifact("build-a-thing", "04-dev-reviewed.md"); !strings.HasPrefix(doc, "> **Risk accepted** on 2026-01-02") || !strings.Contains(doc, "we ship it") {
		t.Errorf("the document does not say so: %.200q", doc)
	}
	last := b.stored().History[len(b.stored().History)-1]
	if last.Feedback != "we ship it" || last.Verdict != workflow.Fail {
		t.Errorf("the accepted risk is not recorded: %+v", last)
	}
}

func TestBothEnginesAreMerged(t *testing.T) {
	b := newBench(t)
	started := b.do(start("build it 使用codex"))
	if !slices.Equal(started.Engines, []workflow.Engine{workflow.Claude, workflow.Codex}) {
		t.Errorf("engines %v", started.Engines)
	}
	req := submit(workflow.PO, `{"prd_draft":"# from claude","quality_score":70,"gaps":["a"],"questions":["Who?"]}`)
	req.Results = append(req.Results, request.Result{Engine: workflow.Codex, Text: `{"prd_draft":"# from codex","quality_score":80,"gaps":["A.","b"],"questions":["who","When?"]}`})
	r := b.at("po/clarifying", req)
	if *r.Score != 80 || len(r.Questions) != 2 {
		t.Errorf("merged: %+v", r)
	}
	rec := b.stored().Record(workflow.PO)
	if rec.ClaudeResultRef == nil || rec.CodexResultRef == nil {
		t.Error("a raw result is lost")
	}
	if data, _ := os.ReadFile(filepath.Join(b.dir, rec.FinalResultRef.FilePath)); string(data) != "# from codex\n" {
		t.Errorf("winner %q", data)
	}
	var file struct{ Stages map[string]map[string]any }
	if err := json.Unmarshal([]byte(b.read(".bmad-task/session-"+b.session+".json")), &file); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"status", "claude_result_ref", "codex_result_ref", "questions", "gaps", "score", "iteration"} {
		if file.Stages["po"][key] == nil {
			t.Errorf("the record in the file has no %s: %v", key, file.Stages["po"])
		}
	}
}

func TestSubmissionByPath(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	if err := os.MkdirAll(filepath.Join(b.dir, "docs"), 0o750); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(b.dir, "docs", "prd.md")
	if err := os.WriteFile(full, []byte("# P\nQuality Score: 95/100"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"docs/prd.md", full} {
		req := submit(workflow.PO, "")
		req.Results = []request.Result{{Engine: workflow.Claude, Path: path}}
		b.at("po/awaiting_confirmation", req)
		b.at("po/refining", confirm(false))
	}
}

func TestSprintScope(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Dev, workflow.Generating)
	req := submit(workflow.Dev, "# D")
	req.Sprints = []int{1}
	b.do(req)
	status := b.do(request.Request{Action: workflow.ActionStatus})
	if status.Sprints[0].Status != workflow.SprintImplemented || status.Sprints[1].Status != workflow.SprintPending {
		t.Errorf("sprints %+v", status.Sprints)
	}
	b.do(submit(workflow.Review, passes("")))
	b.do(submit(workflow.QA, passes("")))
	if s := b.stored(); s.Sprints[0].Status != workflow.SprintDone || s.Sprints[1].Status != workflow.SprintPending {
		t.Errorf("sprints %+v", s.Sprints)
	}
}

func TestReopenMarksLaterArtifactsStale(t *testing.T) {
	b := newBench(t)
	b.to(workflow.SM, workflow.AwaitingApproval)
	r := b.at("po/refining", request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "scope grew"}})
	if r.Context.Feedback != "scope grew" || r.Draft == nil {
		t.Errorf("reopen: %+v", r)
	}
	s := b.stored()
	if s.Record(workflow.PO).Artifact.Stale || !s.Record(workflow.Architect).Artifact.Stale || s.Record(workflow.Architect).Status != workflow.Pending {
		t.Errorf("po %+v, architect %+v", s.Record(workflow.PO), s.Record(workflow.Architect))
	}
	b.do(submit(workflow.PO, `{"prd_updated":"# P2","quality_score":96}`))
	arch := b.at("architect/generating", confirm(true))
	if arch.Draft == nil || !strings.Contains(b.artifact(s.TaskName, "01-product-requirements.md"), "P2") {
		t.Errorf("architect again: %+v", arch)
	}
	b.do(submit(workflow.Architect, `{"architecture_updated":"# A2","quality_score":96}`))
	b.do(confirm(true))
	if b.stored().Record(workflow.Architect).Artifact.Stale {
		t.Error("the new artifact is called stale")
	}
}

func TestQuestionIDsStayApartAcrossRounds(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.Refining)
	r := b.at("po/clarifying", submit(workflow.PO, `{"prd_updated":"# P","quality_score":80,"questions":[{"id":"q1","question":"Where?"}]}`))
	if r.Questions[0].ID != "q3" {
		t.Errorf("questions %+v", r.Questions)
	}
	b.do(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q3": "here"}}})
	rec := b.stored().Record(workflow.PO)
	if rec.Answers["q1"] != "us" || rec.Answers["q3"] != "here" || len(rec.SettledQuestions()) != 3 {
		t.Errorf("%+v, %+v", rec.Answers, rec.Questions)
	}
}

func TestEstimateOpensNoGate(t *testing.T) {
	b := newBench(t)
	b.environ = []string{"BMAD_PO_GATE_SCORE=10"}
	b.restart()
	b.do(start("x"))
	r := b.at("po/refining", submit(workflow.PO, "# Executive Summary"))
	// By its section it would be 65; the audit finds next to nothing.
	if !r.ScoreIsEstimate || *r.Score != 45 || r.Audit.Score != 45 || *r.GateScore != 10 {
		t.Errorf("%+v", r)
	}
	if !slices.ContainsFunc(r.Gaps, func(g string) bool { return strings.Contains(g, `"quality_score"`) }) ||
		!slices.Contains(r.Gaps, `add a section "Business Goals" (+5)`) {
		t.Errorf("gaps %q", r.Gaps)
	}
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 51/100"))
}

func TestOwnPrompt(t *testing.T) {
	b := newBench(t)
	folder := filepath.Join(b.dir, ".claude", "bmad-prompts")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "po.md"), []byte("Our PO, gate {{gate_score}}."), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.do(start("x")); r.RolePrompt != "Our PO, gate 90." {
		t.Errorf("prompt %q", r.RolePrompt)
	}
}
