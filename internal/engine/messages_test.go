package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestPromptOfTheNextStageIsCheckedBeforeTheGateOpens(t *testing.T) {
	for name, text := range map[string]string{"it is empty": " ", "it is not valid UTF-8": "\xff\xfe"} {
		b := newBench(t)
		b.to(workflow.PO, workflow.AwaitingConfirmation)
		folder := filepath.Join(b.dir, ".claude", "bmad-prompts")
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "architect.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := b.snapshot()
		if _, err := b.try(confirm(true)); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), name) || b.snapshot() != before {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJSONWithoutADocumentIsNoSubmission(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	for _, text := range []string{"{}", "[]", "null", "42", `{"foo":1}`, "```json\n{\"foo\": 1}\n```"} {
		if _, err := b.try(submit(workflow.PO, text)); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "has no document in it") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPlaceholderIsNoAnswer(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.Clarifying)
	for _, text := range []string{"…", " \t\n", "\u200b", "\u2060\ufeff", "\u00a0", "\u2800", "\u00ad"} {
		if _, err := b.try(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": text}}}); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestRoundWithoutFeedbackAsksForIt(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	r := b.at("po/refining", confirm(false))
	if !r.RequiresUserConfirmation || r.PendingUserActions[0] != "say_what_to_change" || !strings.Contains(r.UserMessage, "nothing was said yet") {
		t.Errorf("%+v\n%s", r.PendingUserActions, r.UserMessage)
	}
}

// TestWordsAfterTheDecision takes the person's words for a no of a moment ago, once: the history has them, and the
// next round works with them.
func TestWordsAfterTheDecision(t *testing.T) {
	no := func(words string) request.Request {
		q := confirm(false)
		q.Feedback = words
		return q
	}
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	b.at("po/refining", confirm(false))
	if _, err := b.try(no(" ")); err == nil {
		t.Error("a no without words is taken twice")
	}
	yes := confirm(true)
	yes.Feedback = "fine"
	if _, err := b.try(yes); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("a yes after the no: %v", err)
	}
	r := b.at("po/refining", no("Guests cannot sign in."))
	if r.RequiresUserConfirmation || r.NextCall["action"] != workflow.ActionSubmit || !strings.Contains(r.UserMessage, "Your feedback: Guests cannot sign in.") {
		t.Errorf("%v\n%s", r.NextCall, r.UserMessage)
	}
	s := b.stored()
	last := s.History[len(s.History)-1]
	if last.Event != workflow.EventChangesRequested || last.Grant == nil || last.Grant.Feedback != "Guests cannot sign in." || s.Current().Feedback != last.Grant.Feedback {
		t.Errorf("%+v", last)
	}
	if _, err := b.try(no("And more.")); err == nil {
		t.Error("words are taken twice")
	}
}

func TestSpentRoundsAreTheHumansDecision(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	below := submit(workflow.PO, "# D\nQuality Score: 50")
	for range 2 {
		for range 4 {
			b.at("po/refining", below)
		}
		r := b.at("po/awaiting_approval", below)
		if !strings.Contains(r.UserMessage, "After 5 rounds it has not reached the gate") || !slices.Equal(r.PendingUserActions, []string{"go_on", "accept_below_gate", "cancel"}) {
			t.Errorf("%v\n%s", r.PendingUserActions, r.UserMessage)
		}
		b.refused(approve(true, ""), fault.InvalidArgument, "needs the human's reason")
		// Another round is the human's to grant, not to be had by editing the draft.
		b.write(r.Draft.Path, "# D\nQuality Score: 95")
		again := submit(workflow.PO, "")
		again.Results[0].Text, again.Results[0].Path = "", r.Draft.Path
		b.refused(again, fault.GatePending, "not possible")
		b.write(r.Draft.Path, "# D\nQuality Score: 50\n")
		b.at("po/refining", approve(false, "leave out the reports"))
	}
	for range 4 {
		b.do(below)
	}
	b.at("po/awaiting_approval", below)
	b.at("architect/generating", approve(true, "good enough for a spike"))
	if doc := b.artifact("x", "01-product-requirements.md"); !strings.HasPrefix(doc, "> **Risk accepted** on 2026-01-02: it had not reached its gate in 15 rounds") || !strings.Contains(doc, "good enough for a spike") {
		t.Errorf("the document does not say so: %.300q", doc)
	}
	if g := b.stored().Last().Grant; g == nil || g.Decision != workflow.DecisionOverride || g.Feedback != "good enough for a spike" {
		t.Errorf("grant %+v", g)
	}
}

func TestRowsBesideTheReportAreInTheArtifact(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	b.do(submit(workflow.Review, `{"review":"# R","no_checks":"nothing to run","findings":[{"id":"R7","severity":"major","file":"a.go:1","problem":"slow | late"}]}`))
	if doc := b.artifact("build-a-thing", "04-dev-reviewed.md"); !strings.Contains(doc, `| R7 | major | a.go:1 | slow \| late |  | open |`) || strings.Contains(doc, "```json") {
		t.Errorf("review:\n%s", doc)
	}
	b.do(submit(workflow.QA, `{"qa_report":"# Q\n\nAll of it works.","checks":[{"id":"C1","command":"go test ./...","exit":"0"}],"criteria":[{"id":"login","result":"PASS","check":"c1"}]}`))
	if doc := b.artifact("build-a-thing", "05-qa-report.md"); !strings.Contains(doc, "| login |  | pass | not run | c1 |") || !strings.Contains(doc, "| C1 | `go test ./...` | 0 | the report |") {
		t.Errorf("qa:\n%s", doc)
	}
}

func TestMissingArtifactIsSaid(t *testing.T) {
	b := newBench(t)
	b.to(workflow.QA, workflow.Completed)
	if err := os.Remove(filepath.Join(b.dir, ".claude", "specs", "build-a-thing", "01-product-requirements.md")); err != nil {
		t.Fatal(err)
	}
	r := b.do(request.Request{Action: workflow.ActionStatus})
	if !r.Stages[0].Missing || r.Stages[1].Missing || !strings.Contains(r.UserMessage, "missing on disk") {
		t.Errorf("%+v\n%s", r.Stages, r.UserMessage)
	}
}

func TestEditedArtifactIsKept(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	file := filepath.Join(b.dir, ".claude", "specs", "build-a-thing", "01-product-requirements.md")
	if err := os.WriteFile(file, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "again"}})
	b.do(submit(workflow.PO, `{"prd_updated":"# new","quality_score":95}`))
	r := b.do(confirm(true))
	if !strings.Contains(r.UserMessage, "Your edited version is kept as `.claude/specs/build-a-thing/01-product-requirements.edited-") {
		t.Errorf("message:\n%s", r.UserMessage)
	}
}

func TestRepeatedSprintIsPointedOut(t *testing.T) {
	b := newBench(t)
	b.to(workflow.SM, workflow.Generating)
	r := b.at("sm/awaiting_approval", submit(workflow.SM, "## Sprint 1: a\n## Sprint 1: b"))
	if len(r.Sprints) != 1 || !slices.ContainsFunc(r.Gaps, func(g string) bool { return strings.Contains(g, "two headings") }) || !strings.Contains(r.UserMessage, "two headings") {
		t.Errorf("%q\n%s", r.Gaps, r.UserMessage)
	}
}

func TestUnreadableVerdictIsNamed(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	r := b.at("review/refining", submit(workflow.Review, `{"review":"r","verdict":"maybe"}`))
	if len(r.Returned) == 0 || !strings.Contains(r.Returned[0], `"verdict" is "maybe", and not one of pass`) || !strings.Contains(r.UserMessage, "returned to the Reviewer") {
		t.Errorf("returned %q\n%s", r.Returned, r.UserMessage)
	}
}

func TestFeedbackWithoutADecisionOpensNoGate(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	if _, err := b.try(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Feedback: "No, please add offline mode first"}}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("got %v", err)
	}
	b.at("architect/generating", request.Request{Action: workflow.ActionConfirm})
}

func TestEditedArtifactIsTheDraftOfTheNextRound(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	path := ".claude/specs/build-a-thing/01-product-requirements.md"
	if r := b.do(request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "x"}}); r.Draft.Path == path {
		t.Errorf("an untouched artifact is the draft: %+v", r.Draft)
	}
	b.do(submit(workflow.PO, `{"prd_updated":"# new","quality_score":95}`))
	b.do(confirm(true))
	if err := os.WriteFile(filepath.Join(b.dir, filepath.FromSlash(path)), []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.do(request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "x"}}); !r.Draft.Modified {
		t.Errorf("draft %+v", r.Draft)
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, b.draft(workflow.PO))); string(text) != "# mine\n" {
		t.Errorf("the next round starts from %q, %v", text, err)
	}
}

// TestWordsForSprints: at development the person is told, in their language, which words choose the sprints, and the
// assistant which numbers these words are.
func TestWordsForSprints(t *testing.T) {
	for _, c := range []struct {
		chinese bool
		plan    string
		built   []int // before, with a reopened stage
		words   []string
		numbers []int
	}{
		{false, "## Sprint 1: one\n\n## Sprint 2: two", nil, []string{"Sprint 1: one", "Sprint 2: two", "**start development**: all open sprints", "“implement sprint 1”"}, []int{1, 2}},
		{false, "## Sprint 1: one\n\n## Sprint 2: two", []int{1}, []string{"Sprint 1: one — done", "**start development**: all open sprints", "“implement sprint 2”"}, []int{2}},
		{false, "# Plan\n\nOne thing.", nil, []string{"no numbered sprints", "**start development**"}, nil},
		{true, "## Sprint 1: 一\n\n## Sprint 2: 二", nil, []string{"冲刺 1", "冲刺 2", "**开始开发**：实现所有未完成的冲刺", "“实现冲刺 1”"}, []int{1, 2}},
		{true, "## Sprint 1: 一\n\n## Sprint 2: 二", []int{1}, []string{"**开始开发**：实现所有未完成的冲刺", "“实现冲刺 2”"}, []int{2}},
		{true, "# 计划\n\n只有一件事。", nil, []string{"没有编号的冲刺", "**开始开发**"}, nil},
	} {
		b := newBench(t)
		if b.chinese = c.chinese; c.chinese {
			b.do(start("做一个预订服务"))
			b.onTo(workflow.SM, workflow.Generating)
		} else {
			b.to(workflow.SM, workflow.Generating)
		}
		b.do(submit(workflow.SM, c.plan))
		r := b.at("dev/generating", approve(true, ""))
		if c.built != nil {
			dev := submit(workflow.Dev, "# D")
			dev.Sprints = c.built
			b.do(dev)
			b.do(submit(workflow.Review, passes("")))
			b.at("qa/completed", submit(workflow.QA, passes("")))
			r = b.at("dev/refining", request.Request{Action: workflow.ActionReopen, Stage: "dev"})
		}
		for _, words := range c.words {
			if !strings.Contains(r.UserMessage, words) {
				t.Errorf("%q is not in\n%s", words, r.UserMessage)
			}
		}
		numbers, _ := r.NextCall["sprints"].([]int)
		if !r.RequiresUserConfirmation || !slices.Equal(numbers, c.numbers) {
			t.Errorf("waits %v, sprints %v, want %v", r.RequiresUserConfirmation, numbers, c.numbers)
		}
	}
}

// TestSecondSprintBeginsLikeTheFirst reopens dev after a run that built one sprint of two.
func TestSecondSprintBeginsLikeTheFirst(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Dev, workflow.Generating)
	one := submit(workflow.Dev, "# D")
	one.Sprints = []int{1}
	b.do(one)
	b.do(submit(workflow.Review, passes("")))
	b.at("qa/completed", submit(workflow.QA, passes("")))
	r := b.at("dev/refining", request.Request{Action: workflow.ActionReopen, Stage: "dev"})
	if !slices.Equal(r.PendingUserActions, []string{"specify_sprint_scope_then_generate"}) || !strings.Contains(r.RolePrompt, "# You are the Developer") ||
		!strings.Contains(r.UserMessage, "Sprint 1: one — done") {
		t.Errorf("%v\n%.100s\n%s", r.PendingUserActions, r.RolePrompt, r.UserMessage)
	}
	b.do(submit(workflow.Dev, "# D2"))
	if s := b.stored(); !slices.Equal(s.Record(workflow.Dev).Scope, []int{2}) {
		t.Errorf("scope %v", s.Record(workflow.Dev).Scope)
	}
}

func TestStageAfterAReopenBeginsWithItsWholePrompt(t *testing.T) {
	b := newBench(t)
	b.to(workflow.QA, workflow.Generating) // through a rework
	b.do(submit(workflow.QA, passes("")))
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "po"})
	b.do(submit(workflow.PO, `{"prd_updated":"# P","quality_score":95}`))
	if r := b.at("architect/generating", confirm(true)); !strings.Contains(r.RolePrompt, "# You are the System Architect") || r.StageDescription == "" {
		t.Errorf("prompt %.80q", r.RolePrompt)
	}
}

func TestAbsolutePathThroughAnotherNameOfTheProject(t *testing.T) {
	b := newBench(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(b.dir, link); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "prd.md"), []byte("# P\nQuality Score: 95"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Cwd: link}})
	req := request.Request{Action: workflow.ActionSubmit, Stage: "po", Address: project.Address{Cwd: link}, Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Path: filepath.Join(b.dir, "prd.md")}}}}
	b.at("po/awaiting_confirmation", req)
}

// TestRefusalsStaySmall puts far too long texts in every place that an error names.
func TestRefusalsStaySmall(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Dev, workflow.Generating)
	long := strings.Repeat("x", 50_000)
	for _, req := range []request.Request{
		{Action: workflow.Action(long)},
		{Action: workflow.ActionSubmit, Stage: long},
		{Action: workflow.ActionSubmit, Stage: "dev", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Path: long}}}},
		{Action: workflow.ActionStatus, Address: project.Address{Cwd: "/" + long}},
	} {
		_, err := b.try(req)
		if !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%.60v", err)
		}
	}
}

// TestPromptOfTheRound checks that a stage begins without the part for later rounds, which comes
// with each of them; if a round is not the first and the prompt comes whole, the part is in it.
func TestPromptOfTheRound(t *testing.T) {
	const later = "The work comes back after rework. Check each earlier finding"
	b := newBench(t)
	b.to(workflow.Dev, workflow.Generating)
	r := b.at("review/generating", submit(workflow.Dev, "# D"))
	if !strings.Contains(r.RolePrompt, "You are the Reviewer") || strings.Contains(r.RolePrompt, later) {
		t.Errorf("the first round:\n%s", r.RolePrompt)
	}
	b.at("review/awaiting_approval", submit(workflow.Review, "# R\nStatus: fail"))
	b.at("dev/refining", approve(false, "fix it"))
	r = b.at("review/generating", submit(workflow.Dev, "# D 2"))
	if !strings.Contains(r.RolePrompt, later) {
		t.Errorf("the second round:\n%s", r.RolePrompt)
	}
	r = b.do(request.Request{Action: workflow.ActionResume})
	if !strings.Contains(r.RolePrompt, "You are the Reviewer") || !strings.Contains(r.RolePrompt, later) {
		t.Errorf("the second round, resumed:\n%s", r.RolePrompt)
	}
	b = newBench(t)
	b.to(workflow.PO, workflow.Refining)
	r = b.do(request.Request{Action: workflow.ActionResume})
	if !strings.Contains(r.RolePrompt, "You are the Product Owner") || !strings.Contains(r.RolePrompt, "do not append a Q&A") {
		t.Errorf("resumed while refining:\n%s", r.RolePrompt)
	}
}

// TestLeadIsWhole: the first line of a form names the decision and the scores, and is not cut.
func TestLeadIsWhole(t *testing.T) {
	b := newBench(t)
	b.do(start("Build a clock"))
	for _, step := range []struct {
		req  request.Request
		want string
	}{
		{submit(workflow.PO, "# P\n\nQuality Score: 93"), "Approve the product requirements? Score 93, form "},
		{confirm(true), ""},
		{submit(workflow.Architect, "# A\n\nQuality Score: 93"), "Approve the system architecture? Score 93, form "},
	} {
		req := step.req
		req.Cwd = b.dir
		out, err := b.engine.Do(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if lead := words.Lead(out.Standing); step.want != "" && (!strings.HasPrefix(lead, step.want) || !strings.Contains(lead, ", floor 60") || strings.HasSuffix(lead, "…")) {
			t.Errorf("%q", lead)
		}
	}
}
