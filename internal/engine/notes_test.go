package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// notebook keeps what it is told, and answers with what it is given.
type notebook struct {
	answer  []lesson.Note
	fails   error
	asked   []lesson.Question
	learned []lesson.Lesson
}

func (n *notebook) Relevant(_ context.Context, _ *project.Project, q lesson.Question) ([]lesson.Note, error) {
	n.asked = append(n.asked, q)
	return n.answer, n.fails
}

func (n *notebook) Learn(_ context.Context, _ *project.Project, lessons []lesson.Lesson) error {
	n.learned = append(n.learned, lessons...)
	return n.fails
}

// take returns the lessons since the last call, a line each.
func (n *notebook) take() string {
	var out strings.Builder
	for _, l := range n.learned {
		fmt.Fprintf(&out, "%s @%s %s %v: %s\n", l.Type, l.Agent, l.Finding, l.Tags, l.Text)
	}
	n.learned = nil
	return out.String()
}

func withNotesTimeout(t *testing.T, n *notebook) *bench {
	t.Helper()
	b := newBench(t)
	b.notes = n
	b.restart()
	return b
}

// architecture is one with decisions in each of their usual forms.
const architecture = `{"architecture":"# A\n\n## Key Decisions\n\n- Use PostgreSQL, because\n  two processes write.\n- Queue in the database\n\n### ADR-1: HMAC for signatures\nIt is what the senders use.\n\n| Question | Decision |\n|---|---|\n| Time zone | UTC everywhere |\n\n## Next\n\n- not a decision\n","quality_score":95}`

const (
	failedReview = "# R\nStatus: fail\n\n```json\n" + `{"verdict":"fail","findings":[{"id":"F1","severity":"critical","file":"auth.go:12","problem":"Tokens are compared with ==.","fix":"use hmac.Equal"},{"id":"F2","severity":"major","problem":"no limit on retries"}]}` + "\n```\n"
	fixedReview  = "# R\nStatus: pass\n\n```json\n" + `{"verdict":"pass","no_checks":"read only","findings":[{"id":"F1","severity":"critical","file":"auth.go:12","problem":"Tokens are compared with ==.","status":"fixed"},{"id":"F2","severity":"major","problem":"no limit on retries","status":"withdrawn"}]}` + "\n```\n"
)

// TestLessons checks that a run leaves each lesson under one name, whatever is repeated, and says
// later what became of it.
func TestLessons(t *testing.T) {
	kept := &notebook{}
	b := withNotesTimeout(t, kept)
	b.do(start("build a relay"))
	b.onTo(workflow.PO, workflow.AwaitingConfirmation)
	b.do(request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: new(bool), Feedback: "Name the senders."}})
	want := func(step, lessons string) {
		t.Helper()
		if got := kept.take(); got != lessons {
			t.Errorf("%s leaves:\n%swant:\n%s", step, got, lessons)
		}
	}
	want("feedback", "failures @po po/round-"+workflow.Hash([]byte("Name the senders."))[:12]+" [PROCESS-SKIP minor po]: Name the senders.\n")
	b.onTo(workflow.Architect, workflow.Generating)
	want("confirmed requirements", "")
	b.do(submit(workflow.Architect, architecture))
	b.do(confirm(true))
	var decided []string
	for _, l := range kept.learned {
		decided = append(decided, fmt.Sprintf("%s @%s: %s", l.Type, l.Agent, l.Text))
	}
	if got := strings.Join(decided, "\n"); got != strings.Join([]string{
		"decisions @architect: Use PostgreSQL, because two processes write.",
		"decisions @architect: Queue in the database",
		"decisions @architect: ADR-1: HMAC for signatures It is what the senders use.",
		"decisions @architect: Time zone — UTC everywhere",
	}, "\n") {
		t.Errorf("a confirmed architecture leaves:\n%s", got)
	}
	kept.take()
	b.onTo(workflow.Review, workflow.Generating)
	b.do(submit(workflow.Review, failedReview))
	findings := "failures @dev review/F1 [WRONG-ASSUMPTION critical review]: Tokens are compared with ==. (auth.go:12); fix: use hmac.Equal\n" +
		"failures @dev review/F2 [WRONG-ASSUMPTION major review]: no limit on retries\n"
	want("a failed review", findings)
	b.do(approve(false, "please fix both"))
	want("sending it back", findings)
	b.do(submit(workflow.Dev, "# D"))
	b.do(submit(workflow.Review, fixedReview))
	want("the next report", "failures @ review/F1 [resolved]: \nfailures @ review/F2 [withdrawn]: \n")
	b.do(submit(workflow.QA, passes("# Q")))
	want("the end", "stories @qa story [six]: build a relay; documents: "+strings.Join(b.stored().Artifacts, ", ")+"\n")
}

// TestBriefingsCarryNotes checks that a stage gets notes when it begins, when its work comes back
// and when a new conversation asks; a reply that would be too long goes without them.
func TestBriefingsCarryNotes(t *testing.T) {
	kept := &notebook{answer: []lesson.Note{{ID: "n1", Type: lesson.Failures, Agent: "dev", Date: "2026-01-02", Text: "Compare tokens with hmac.Equal."}}}
	b := withNotesTimeout(t, kept)
	carries := func(r *reply.Reply, want bool) {
		t.Helper()
		got := r.Context != nil && len(r.Context.Memory) == 1
		if got != want || strings.Contains(r.RolePrompt, prompts.Notes) != want || strings.Contains(r.RolePrompt, "hmac") {
			t.Errorf("%s in %s: notes %v, want %v; prompt ends %q", r.Stage, r.State, got, want, r.RolePrompt[max(0, len(r.RolePrompt)-200):])
		}
	}
	carries(b.do(start("build a relay")), true)
	carries(b.do(request.Request{Action: workflow.ActionResume}), true)
	carries(b.do(request.Request{Action: workflow.ActionStatus}), false)
	b.onTo(workflow.PO, workflow.Clarifying)
	carries(b.do(onward(b.stored())), false) // another round of a conversation that has them
	b.onTo(workflow.Review, workflow.Generating)
	carries(b.do(submit(workflow.Review, failedReview)), false)
	carries(b.do(approve(false, "fix F1 at least")), true)
	q := kept.asked[len(kept.asked)-1]
	if !strings.Contains(q.Text, "no limit on retries") || !strings.Contains(q.Text, "fix F1 at least") || !slices.Contains(q.Types, lesson.AgentLearnings) || q.Session != b.session {
		t.Errorf("a rework asks %+v", q)
	}
	r := b.do(request.Request{Action: workflow.ActionResume})
	r.Gaps = []string{strings.Repeat("x", reply.Max)}
	r.Fit()
	if r.Context.Memory != nil {
		t.Error("a reply that is too long keeps its notes")
	}
}

// TestNotesNeverFailAnAction checks that a failure to read or keep costs the notes, not the step.
func TestNotesNeverFailAnAction(t *testing.T) {
	kept := &notebook{fails: errors.New("the disk is full")}
	b := withNotesTimeout(t, kept)
	b.rests(workflow.QA, workflow.Generating)
	if r := b.do(submit(workflow.QA, passes("# Q"))); r.State != workflow.Completed {
		t.Errorf("the run stands at %s", r.State)
	}
	if len(kept.learned) == 0 || len(kept.asked) == 0 {
		t.Error("the notes were not used")
	}
}

// TestALessonReachesTheNextRun checks that the findings of a failed review of one run are in the
// briefing of the developer of the next, in a fresh process, and says by then that it was fixed.
func TestALessonReachesTheNextRun(t *testing.T) {
	b := newBench(t)
	remember := func() {
		b.notes = memory.New(memory.Options{Now: time.Now})
		b.restart()
	}
	b.write(".claude/bmad-memory/structured/.gitattributes", "*.jsonl merge=union\n")
	remember()
	b.do(start("Receive signed webhooks"))
	b.onTo(workflow.Review, workflow.Generating)
	b.do(submit(workflow.Review, failedReview))
	b.do(approve(false, "please fix both"))
	b.do(submit(workflow.Dev, "# D"))
	b.do(submit(workflow.Review, fixedReview))
	b.do(submit(workflow.QA, passes("# Q")))

	remember()
	b.do(start("Compare tokens of the sign-in in constant time, without a limit on retries"))
	b.onTo(workflow.SM, workflow.AwaitingApproval)
	brief := b.do(approve(true, ""))
	if brief.Stage != workflow.Dev || brief.Context == nil {
		t.Fatalf("at %s", brief.Stage)
	}
	var told []string
	for _, n := range brief.Context.Memory {
		told = append(told, fmt.Sprintf("%s @%s %v: %s", n.Type, n.Agent, n.Resolved, n.Text))
	}
	if got := strings.Join(told, "\n"); got != "failures @dev true: “Tokens are compared with ==. (auth.go:12); fix: use hmac.Equal”" {
		t.Errorf("the developer is told:\n%s", got)
	}
}

// TestNotesHaveABudget checks that however many notes fit a task, a briefing grows by 1,600 bytes
// at most, and one without notes not at all.
func TestNotesHaveABudget(t *testing.T) {
	size := func(b *bench) int {
		t.Helper()
		r := b.do(start("Receive signed webhooks of the billing system, and store them"))
		data, err := r.Lean().Encode()
		if err != nil {
			t.Fatal(err)
		}
		return len(strings.ReplaceAll(string(data), b.dir, "/project"))
	}
	without := newBench(t)
	plain := size(without)
	b := newBench(t)
	b.notes = memory.New(memory.Options{Now: time.Now})
	b.restart()
	if n := size(b); n != plain {
		t.Errorf("a briefing without notes has %d bytes, want %d", n, plain)
	}
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, `{"v":1,"id":"00000000-0000-4000-8000-%012d","type":"decisions","agent":"architect","text":"Signed webhooks of billing are stored \"raw\" <%d>: %s","tags":[],"created_at":"2026-01-02T03:04:05.000Z","updated_at":"2026-01-02T03:04:05.000Z"}`+"\n",
			i, i, strings.Repeat("é \\\" ", i*3))
	}
	b.write(".claude/bmad-memory/structured/decisions.jsonl", lines.String())
	if n := size(b); n <= plain+400 || n > plain+1600 {
		t.Errorf("a briefing with notes has %d bytes, want at most 1,600 more than %d", n, plain)
	}
}

// BenchmarkBriefing measures how much notes add to the start of a run.
func BenchmarkBriefing(b *testing.B) {
	for _, n := range []int{0, 1000, 10000} {
		b.Run(fmt.Sprintf("notes=%d", n), func(b *testing.B) {
			bench := newBench(b)
			bench.notes = memory.New(memory.Options{Now: time.Now})
			bench.restart()
			var lines strings.Builder
			for i := range n {
				if i%500 == 0 && i > 0 {
					bench.write(fmt.Sprintf(".claude/bmad-memory/structured/decisions-%06d.jsonl", i/500), lines.String())
					lines.Reset()
				}
				fmt.Fprintf(&lines, `{"v":1,"id":"00000000-0000-4000-8000-%012d","type":"decisions","agent":"architect","text":"Part %d of the billing system keeps file %d for the report of team %d.","tags":[],"created_at":"2026-01-02T03:04:05.000Z","updated_at":"2026-01-02T03:04:05.000Z"}`+"\n", i, i*7919%1000, i, i%13)
			}
			if n > 0 {
				bench.write(".claude/bmad-memory/structured/decisions.jsonl", lines.String())
			}
			bench.do(start("Receive signed webhooks of the billing system, and store them"))
			b.ResetTimer()
			for b.Loop() {
				bench.do(request.Request{Action: workflow.ActionResume})
			}
		})
	}
}
