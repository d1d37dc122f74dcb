package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

// TestFilesOfARun holds the names and keys by which people and their programs find a run on disk.
func TestFilesOfARun(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("长文档。", 200)
	b.do(start("Build a user authentication system"))
	b.do(submit(workflow.PO, `{"prd_draft":"# P\n\n`+long+`","quality_score":70,"gaps":["figures"],"questions":["Who?"]}`))
	statuses := func() (out string) {
		var file struct {
			Stages map[string]struct{ Status string }
		}
		if err := json.Unmarshal([]byte(b.read(".bmad-task/session-"+b.session+".json")), &file); err != nil {
			t.Fatal(err)
		}
		for _, st := range workflowtest.Six().Stages {
			out += " " + file.Stages[string(st.ID)].Status
		}
		return out
	}
	if got := statuses(); got != " in_progress pending pending pending pending pending" {
		t.Errorf("the stages are%s", got)
	}
	b.do(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}})
	for b.stored().CurrentState.Active() {
		s := b.stored()
		if s.CurrentStage == workflow.Review && s.CurrentState == workflow.Generating || s.CurrentStage == workflow.QA {
			b.do(submit(s.CurrentStage, passes("# R")))
			continue
		}
		b.do(onward(s))
	}

	if got := statuses(); got != strings.Repeat(" completed", 6) {
		t.Errorf("at the end the stages are%s", got)
	}
	var session map[string]any
	if err := json.Unmarshal([]byte(b.read(".bmad-task/session-"+b.session+".json")), &session); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"session_id", "task_name", "cwd", "objective", "current_stage", "current_state", "stages", "artifacts", "created_at", "updated_at"} {
		if session[key] == nil {
			t.Errorf("the session file has no %s", key)
		}
	}
	po := session["stages"].(map[string]any)["po"].(map[string]any)
	for _, key := range []string{"status", "claude_result_ref", "final_result_ref", "answers", "score", "approved", "iteration"} {
		if po[key] == nil {
			t.Errorf("the record of the stage has no %s: %v", key, slices.Sorted(maps.Keys(po)))
		}
	}
	ref := po["final_result_ref"].(map[string]any)
	name := fmt.Sprint(ref["file_path"])
	if !regexp.MustCompile(`^\.bmad-task/temp/` + b.session + `/po_final_result_\d{8}T\d{6}\.\d{3}Z\.md$`).MatchString(name) {
		t.Errorf("a round is kept in %s", name)
	}
	if size := len(b.read(name)); size == 0 || ref["size"] != float64(size) || ref["last_updated"] == nil {
		t.Errorf("%v for %d bytes", ref, size)
	}
	rounds, err := filepath.Glob(filepath.Join(b.dir, ".bmad-task/temp", b.session, "po_*.md"))
	if err != nil || len(rounds) < 3 {
		t.Errorf("%v %v", rounds, err)
	}
	for _, file := range rounds {
		if data, err := os.ReadFile(file); err != nil || !utf8.Valid(data) {
			t.Errorf("%s: %v", file, err)
		}
	}

	var mapping map[string]map[string]any
	if err := json.Unmarshal([]byte(b.read(".bmad-task/task-mapping.json")), &mapping); err != nil {
		t.Fatal(err)
	}
	entry := mapping[b.session]
	if got := slices.Sorted(maps.Keys(entry)); !slices.Equal(got, []string{"created_at", "objective", "task_name"}) || entry["task_name"] != "build-a-user-authentication-system" {
		t.Errorf("%v", mapping)
	}

	var want []any
	for _, name := range []string{"01-product-requirements.md", "02-system-architecture.md", "03-sprint-plan.md", "04-dev-reviewed.md", "05-qa-report.md"} {
		path := ".claude/specs/build-a-user-authentication-system/" + name
		want = append(want, path)
		if b.read(path) == "" {
			t.Errorf("%s is missing", path)
		}
	}
	if got := session["artifacts"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("artifacts %v", got)
	}
}

// TestSummaryOfALongText checks that a reference shows the beginning of its text, counted in
// characters.
func TestSummaryOfALongText(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(submit(workflow.PO, "# P\n\n"+strings.Repeat("长", 1000)+"\n\nQuality Score: 95"))
	ref := b.stored().Record(workflow.PO).FinalResultRef
	if n := utf8.RuneCountInString(ref.Summary); n != 300 || !strings.HasPrefix(ref.Summary, "# P") {
		t.Errorf("the summary has %d characters: %.40q", n, ref.Summary)
	}
}

// TestWhatEveryReplySays takes a run and holds the keys that hosts act on: whether to wait for the
// person, and for what.
func TestWhatEveryReplySays(t *testing.T) {
	b := newBench(t)
	for i, step := range []struct {
		req         request.Request
		place       string
		waits       bool
		interaction string
	}{
		{start("x"), "po/generating", false, "awaiting_generation"},
		{submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"questions":["Who?"]}`), "po/clarifying", true, "user_decision"},
		{request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}}, "po/refining", false, "awaiting_regeneration"},
		{submit(workflow.PO, `{"prd_updated":"# P","quality_score":95}`), "po/awaiting_confirmation", true, "user_decision"},
		{confirm(true), "architect/generating", false, "awaiting_generation"},
		{submit(workflow.Architect, "# A\n\nQuality Score: 95"), "architect/awaiting_confirmation", true, "user_decision"},
		{confirm(true), "sm/generating", false, "awaiting_generation"},
		{submit(workflow.SM, "# S\n\n## Sprint 1: one"), "sm/awaiting_approval", true, "user_decision"},
		{approve(true, ""), "dev/generating", true, "awaiting_generation"},
		{submit(workflow.Dev, "# D"), "review/generating", false, "awaiting_generation"},
		{submit(workflow.Review, passes("# R")), "qa/generating", false, "awaiting_generation"},
		{submit(workflow.QA, passes("# Q")), "qa/completed", false, "workflow_completed"},
	} {
		data, err := b.at(step.place, step.req).Encode()
		if err != nil {
			t.Fatal(err)
		}
		var reply map[string]any
		if err := json.Unmarshal(data, &reply); err != nil {
			t.Fatal(err)
		}
		stage, state, _ := strings.Cut(step.place, "/")
		for key, want := range map[string]any{
			"session_id": b.session, "task_name": "x", "stage": stage, "current_stage": stage, "state": state, "current_state": state,
			"requires_user_confirmation": step.waits, "interaction_type": step.interaction,
		} {
			if reply[key] != want {
				t.Errorf("step %d, %s: %s is %v, want %v", i, step.place, key, reply[key], want)
			}
		}
		if text, _ := reply["user_message"].(string); text == "" {
			t.Errorf("step %d, %s: nothing is said", i, step.place)
		}
		if actions, ok := reply["pending_user_actions"].([]any); !ok || step.waits && len(actions) == 0 {
			t.Errorf("step %d, %s: the person's choices are %v", i, step.place, reply["pending_user_actions"])
		}
	}
}

// TestQuestionsForTheNextRound checks that of many or long questions the first are put to the person, that the reply
// says how many are left, and that these come in the next round by themselves, at any score.
func TestQuestionsForTheNextRound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asked, long, first int
	}{
		"few":       {20, 10, 20},
		"many":      {25, 10, 20},
		"long":      {20, 300, 13},
		"very long": {3, 3000, 1},
	} {
		b := newBench(t)
		b.do(start("x"))
		var list []string
		for i := range tt.asked {
			list = append(list, fmt.Sprintf("%d: %s?", i, strings.Repeat("x", tt.long)))
		}
		document := func(score int, questions []string) request.Request {
			text, _ := json.Marshal(map[string]any{"prd_draft": fmt.Sprint("# P ", score), "quality_score": score, "questions": questions})
			return submit(workflow.PO, string(text))
		}
		for left, round := tt.asked, 1; left > 0; round++ {
			score, repeated := 70, list
			if round > 1 {
				score, repeated = 90+round, list[tt.asked-left:tt.asked-left+1]
			}
			r := b.at("po/clarifying", document(score, repeated))
			n := min(left, tt.first)
			left -= n
			if got := strings.Count(r.UserMessage, "?“") + strings.Count(r.UserMessage, "?”"); len(r.Questions) != n || got != n {
				t.Errorf("%s, round %d: %d questions in the reply and %d in the message, want %d", name, round, len(r.Questions), got, n)
			}
			if more := fmt.Sprintf("There are %d more;", left); strings.Contains(r.UserMessage, more) != (left > 0) {
				t.Errorf("%s, round %d, %d left: %s", name, round, left, r.UserMessage)
			}
			answers := map[string]string{}
			for _, q := range r.Questions {
				answers[q.ID] = "yes"
			}
			b.at("po/refining", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: answers}})
		}
		b.at("po/awaiting_confirmation", document(95, nil))
	}
}

// TestPartOfTheAnswers checks that some questions may stay open; the round goes on and says so.
func TestPartOfTheAnswers(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"questions":["Who?","When?","Why?"]}`))
	r := b.at("po/refining", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q2": "today"}}})
	answers := map[string]string{}
	for _, a := range r.Context.Answers {
		answers[a.ID] = a.Answer
	}
	if want := map[string]string{"q1": "", "q2": "today", "q3": ""}; !maps.Equal(answers, want) || !strings.Contains(r.UserMessage, "2 left open") {
		t.Errorf("%+v\n%s", r.Context.Answers, r.UserMessage)
	}
}
