package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestRandomActions throws random actions at a session and checks after each what
// must always hold: the stored session is readable and refers to nothing that is
// missing, a refused action changed nothing, and no gate opened but by its decision.
func TestRandomActions(t *testing.T) {
	t.Parallel()
	seeds := uint64(4)
	if every < 11 { // the larger samples of .ci/run
		seeds = 12
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			b := newBench(t)
			b.do(start("build a thing"))
			for n := range 60 {
				if st := b.stored(); st.CurrentState.Active() && random.IntN(4) == 0 { // a hand in the working copy
					b.write(b.draft(st.CurrentStage), fmt.Sprintf("# Text\n## Sprint 1: a\nEdited %d.\n", n)[random.IntN(2)*8:])
				}
				before := b.snapshot()
				req := randomRequest(random, b.stored())
				_, err := b.try(req)
				var f *fault.Error
				switch {
				case err != nil && !errors.As(err, &f):
					t.Fatalf("%+v: %v is no fault", req, err)
				case err != nil && b.snapshot() != before:
					t.Fatalf("%+v: refused (%v), yet the disk changed", req, err)
				}
				checkStored(t, b)
			}
		})
	}
}

func randomRequest(random *rand.Rand, s *workflow.Session) request.Request {
	stage := s.CurrentStage
	stages := workflow.Default().IDs()
	if random.IntN(5) == 0 {
		stage = workflow.StageID(stages[random.IntN(len(stages))])
	}
	texts := []string{
		`{"prd_draft":"# P","quality_score":95,"verdict":"pass"}`,
		`{"prd_draft":"# P","quality_score":40,"questions":["Who?",{"id":"q1","question":"When?"}],"verdict":"fail"}`,
		"# Plan\n## Sprint 1: a\n## Sprint 2: b\nStatus: pass\nQuality Score: 92/100",
		"# Work\nStatus: fail\n\n| ID | Severity | Problem |\n|---|---|---|\n| R1 | major | p |",
		"Status: pass\nQuality Score: 95/100\nALL TESTS FAIL", "", "{\"prd_draft\": \"cut",
	}
	yes := random.IntN(3) > 0
	person := personal(workflow.ChannelTerminal, workflow.DecisionApprove, "words")
	if !yes {
		person.Decision = workflow.DecisionChanges
	}
	answers := map[string]string{}
	for _, q := range s.Current().Questions {
		if random.IntN(3) > 0 {
			answers[q.ID] = "an answer"
		}
	}
	switch random.IntN(12) {
	case 0, 1, 2, 3:
		req := submit(stage, texts[random.IntN(len(texts))])
		if random.IntN(4) == 0 {
			req.Sprints = []int{1 + random.IntN(3)}
		}
		return req
	case 4, 5:
		return request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: answers}}
	case 6:
		return request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: person}}
	case 7:
		return request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes, Feedback: "words"}}
	case 8:
		return request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: person}}
	case 9:
		return request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes, Feedback: "words"}}
	case 10:
		return request.Request{Action: workflow.ActionReopen, Stage: string(stage)}
	}
	return request.Request{Action: []workflow.Action{workflow.ActionStatus, workflow.ActionResume}[random.IntN(2)]}
}

func checkStored(t *testing.T, b *bench) {
	t.Helper()
	s := b.stored()
	exists := func(what, path string) {
		if _, err := os.Stat(filepath.Join(b.dir, path)); err != nil {
			t.Fatalf("%s refers to %s: %v", what, path, err)
		}
	}
	for id, rec := range s.Stages {
		for _, ref := range []*workflow.ContentRef{rec.ClaudeResultRef, rec.CodexResultRef, rec.FinalResultRef} {
			if ref != nil {
				exists(string(id), ref.FilePath)
			}
		}
		if rec.Artifact != nil {
			exists(string(id), rec.Artifact.Path)
			if !slices.Contains(s.Artifacts, rec.Artifact.Path) {
				t.Fatalf("%s is not among the artifacts", rec.Artifact.Path)
			}
		}
	}
	allowed := map[string]workflow.Event{
		"po": workflow.EventConfirmed, "architect": workflow.EventConfirmed, "sm": workflow.EventApproved, "dev": workflow.EventDelivered,
	}
	for i, e := range s.History {
		if i > 0 && e.From != s.History[i-1].To {
			t.Fatalf("history entry %d goes from %s, but the last went to %s", i, e.From, s.History[i-1].To)
		}
		from, _, _ := strings.Cut(e.From, "/")
		to, _, _ := strings.Cut(e.To, "/")
		w := workflow.Default()
		forward := from != "" && w.Index(workflow.StageID(to)) > w.Index(workflow.StageID(from))
		if want, gated := allowed[from]; forward && gated && e.Event != want {
			t.Fatalf("%s → %s by %s", e.From, e.To, e.Event)
		}
		if forward && e.Event == workflow.EventDelivered && from == "review" && e.Verdict != workflow.Pass && e.Verdict != workflow.PassWithRisk {
			t.Fatalf("review let %q through", e.Verdict)
		}
		if e.Event == workflow.EventEdited {
			next := s.History[i+1] // it stands ahead of a decision, and that is for its text
			if g := next.Grant; g == nil || g.SHA256 != e.SHA256 || next.SHA256 != e.SHA256 || g.Decision != workflow.DecisionChanges && !g.Channel.Personal() {
				t.Fatalf("an edit, and then %+v, %+v", next, g)
			}
		}
		if e.Event == workflow.EventConfirmed && (e.Score == nil || *e.Score < workflow.DefaultGateScore) {
			t.Fatalf("a gate opened at %v", e.Score)
		}
	}
	if last := s.History[len(s.History)-1]; last.To != s.Place() {
		t.Fatalf("the run is at %s, its history at %s", s.Place(), last.To)
	}
	want := workflow.ChainHolds
	if s.History[0].Event != workflow.EventStarted { // an older server kept none
		want = workflow.ChainPartly
	}
	if signer, err := trust.UserState(b.state).ReadSigner(); err != nil || s.Verify(signer, nil).Status != want {
		t.Fatalf("the history does not hold: %v, %+v", err, s.Verify(signer, nil))
	}
}

// TestRepliesStaySmall submits far too long texts everywhere and asks for every
// reply there is.
func TestRepliesStaySmall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("很长的句子 and more of it. ", 150)
	var questions, gaps, findings, criteria, answers []string
	for i := range 60 {
		if i < 10 {
			questions = append(questions, fmt.Sprintf(`{"id":"q%d","question":"%d %s","context":"%s"}`, i, i, long, long))
		}
		gaps = append(gaps, fmt.Sprintf("%q", fmt.Sprint(i, long)))
		findings = append(findings, fmt.Sprintf(`{"id":"R%d","severity":"critical","file":"%s","problem":"%s","fix":"%s"}`, i, long, long, long))
		criteria = append(criteria, fmt.Sprintf(`{"id":"AC-%d","criterion":"%s","result":"fail"}`, i, long))
	}
	var plan strings.Builder
	for i := range 300 {
		fmt.Fprintf(&plan, "## Sprint %d: %s\n", i, long[:600])
	}
	b := newBench(t)
	b.do(start(strings.Repeat("构", request.MaxObjective/3)))
	look := func() {
		b.do(request.Request{Action: workflow.ActionStatus})
		b.do(request.Request{Action: workflow.ActionResume})
	}
	first := b.do(submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"gaps":[`+strings.Join(gaps, ",")+`],"questions":[`+strings.Join(questions, ",")+`]}`))
	look()
	for b.stored().CurrentState == workflow.Clarifying {
		given := map[string]string{}
		for _, q := range b.stored().Record(workflow.PO).OpenQuestions() {
			given[q.ID] = strings.Repeat("答", request.MaxAnswer/3)
			answers = append(answers, q.ID)
		}
		b.do(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: given}})
		look()
		b.do(submit(workflow.PO, `{"prd_updated":"# P","quality_score":95,"gaps":[`+strings.Join(gaps, ",")+`]}`))
		look()
	}
	if len(first.Questions) == 0 || len(answers) != len(questions) {
		t.Fatalf("%d of %d questions were asked", len(answers), len(questions))
	}
	no := confirm(false)
	no.Feedback = strings.Repeat("x", request.MaxFeedback)
	b.do(no)
	look()
	b.do(submit(workflow.PO, `{"prd_updated":"# P","quality_score":95}`))
	b.do(confirm(true))
	b.do(submit(workflow.Architect, "Quality Score: 95"))
	b.do(confirm(true))
	b.do(submit(workflow.SM, plan.String()))
	look()
	b.do(approve(true, ""))
	look()
	b.do(submit(workflow.Dev, "# D"))
	for _, stage := range []workflow.StageID{workflow.Review, workflow.QA} {
		b.do(submit(stage, `{"content":"r","verdict":"fail","findings":[`+strings.Join(findings, ",")+`],"criteria":[`+strings.Join(criteria, ",")+`]}`))
		look()
		b.do(approve(false, strings.Repeat("y", request.MaxFeedback)))
		look()
		b.do(submit(workflow.Dev, "# D"))
		look()
		b.do(submit(workflow.Review, `{"content":"r","no_checks":"read only","findings":[`+strings.ReplaceAll(strings.Join(findings, ","), "}", `,"status":"fixed"}`)+`]}`))
		look()
	}
	for i := range 25 {
		b.do(start(fmt.Sprint(i, strings.Repeat("another ", 400))))
	}
	b.session = ""
	if _, err := b.try(request.Request{Action: workflow.ActionCancel}); len(fault.From(err).Hint) > 1000 {
		t.Errorf("the hint has %d bytes", len(fault.From(err).Hint))
	}
	b.do(request.Request{Action: workflow.ActionStatus})
	if b.most > reply.Max {
		t.Errorf("the largest reply has %d bytes, the limit is %d", b.most, reply.Max)
	}
	t.Logf("the largest reply has %d bytes", b.most)
}
