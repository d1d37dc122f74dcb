package fleet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/fleet"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestSprints builds a plan of three sprints one after the other, beside a main tree with changes: of the plan's text each run
// has its sprint only, and QA owes only the criteria of that.
func TestSprints(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	s.write("list.go", "package a // a change of the person\n")
	s.worker.on = func(_ context.Context, stage string, sprint int, job hostcli.Job) error {
		owed := `"owed":["AC-` + string(rune('0'+sprint)) + `.1"]`
		if stage == "qa" && !strings.Contains(job.Prompt, owed) {
			t.Errorf("QA of sprint %d does not owe %s alone:\n%s", sprint, owed, job.Prompt)
		}
		return nil
	}
	built := s.mustBuild(1, "completed merged", "completed merged", "completed merged")
	if got := s.merged(); !built.Done() || got != "sprint-1.go sprint-2.go sprint-3.go" || built.Branch != "bmad/todo-sprints" {
		t.Errorf("%s has %q", built.Branch, got)
	}
	for n := 1; n <= 3; n++ {
		if got := s.worker.of(n); got != "dev review qa" {
			t.Errorf("sprint %d: the engine worked for %s", n, got)
		}
		run := s.session(built.Sprints[n-1].Task)
		for _, e := range run.History {
			if g := e.Grant; g != nil && (g.Channel != workflow.ChannelScript || !strings.Contains(g.Feedback, "approved in the run todo")) {
				t.Errorf("sprint %d: granted by %+v", n, g)
			}
		}
		for _, sprint := range run.Sprints {
			if isDone := sprint.Status == workflow.SprintDone; isDone != (sprint.Number == n) {
				t.Errorf("the run of sprint %d has sprint %d as %s", n, sprint.Number, sprint.Status)
			}
		}
	}
	before := len(s.worker.calls)
	s.git(s.dir, "worktree", "remove", "--force", s.dir+".worktrees/todo-sprint-1")
	s.git(s.dir, "branch", "-D", "bmad/todo-sprint-1")
	if built := s.mustBuild(1, "merged", "merged", "merged"); !built.Done() || len(s.worker.calls) > before {
		t.Errorf("once more: %+v, %d calls", built, len(s.worker.calls)-before)
	}
	if got := s.git(s.dir, "status", "--porcelain", "--", "*.go"); got != "M list.go" {
		t.Errorf("the main tree has %q", got)
	}
	s.git(s.dir, "branch", "-f", "bmad/todo-sprints", "main")
	if _, err := s.build(t.Context(), 1); !fault.Is(err, fault.NotFound) || !strings.Contains(fault.From(err).Hint, "git branch bmad/todo-sprint-1 ") {
		t.Errorf("without the branch of a sprint that is not merged: %v", err)
	}
}

// TestSprintsSideBySide: the first two run at a time, and the third, which names a file of the first, begins from its work.
func TestSprintsSideBySide(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", true)
	both, began := make(chan struct{}), make(chan int, 2)
	go func() {
		<-began
		<-began
		close(both)
	}()
	s.worker.on = func(ctx context.Context, stage string, sprint int, job hostcli.Job) error {
		switch {
		case stage == "dev" && sprint < 3: // each waits for the other, which only runs side by side can
			began <- sprint
			select {
			case <-both:
			case <-ctx.Done():
			}
		case stage == "dev":
			if _, err := os.Stat(filepath.Join(job.Dir, "sprint-1.go")); err != nil {
				t.Errorf("sprint 3 does not begin from sprint 1: %v", err)
			}
		}
		return nil
	}
	s.mustBuild(2, "completed merged", "completed merged", "completed merged")
	if got := s.merged(); got != "sprint-1.go sprint-2.go sprint-3.go" {
		t.Errorf("merged are %q", got)
	}
}

// sendBack has the person send the work of a sprint back.
func (s *site) sendBack(task string) {
	s.t.Helper()
	no := false
	s.do(request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &no, Feedback: "keep the tasks"},
		Caller: request.Caller{Via: workflow.ChannelScript}, Address: at(task)})
}

// TestSprintsInConflict: the first sprint waits for the person while the second changes the same file, which the plan does not
// tell. Then the person merges, in a worktree that the command makes again if it was removed, and it goes on.
func TestSprintsInConflict(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	s.worker.files = map[int]map[string]string{1: {"same.txt": "one\n"}, 2: {"same.txt": "two\n"}}
	s.worker.fails[1] = true
	s.mustBuild(1, "person open", "completed open", "open")
	s.sendBack("todo-sprint-1")
	built := s.mustBuild(1, "completed merged", "person open", "open")
	worktree := s.dir + ".worktrees/todo-sprint-2"
	merge := "git -C " + worktree + " merge bmad/todo-sprints"
	if built.Sprints[1].Command != merge || !strings.Contains(built.Sprints[1].Why, "same.txt") {
		t.Errorf("%q: %s; want %s", built.Sprints[1].Command, built.Sprints[1].Why, merge)
	}
	s.git(s.dir, "worktree", "remove", "--force", worktree)
	again := s.mustBuild(1, "merged", "person open", "open")
	if want := "git worktree add " + worktree + " bmad/todo-sprint-2 && " + merge; again.Sprints[1].Command != want {
		t.Errorf("without the worktree: %+v; want %s", again.Sprints, want)
	}
	s.git(s.dir, "worktree", "add", "-q", worktree, "bmad/todo-sprint-2")
	s.git(worktree, "merge", "-q", "-X", "ours", "bmad/todo-sprints")
	s.mustBuild(1, "merged", "merged", "completed merged")
	if got := s.git(s.dir, "show", "bmad/todo-sprints:same.txt"); got != "two" || s.worker.of(2) != "dev review qa" {
		t.Errorf("same.txt has %q; sprint 2 was worked on by %s", got, s.worker.of(2))
	}
}

// TestSprintAtAGate: a sprint whose review fails waits for the person, the others go on, and all are merged in order after.
func TestSprintAtAGate(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	s.worker.fails[1] = true
	built := s.mustBuild(1, "person open", "completed open", "open")
	if got := built.Sprints[0].Command; got != "bmad-mcp decide todo-sprint-1" || built.Done() || s.merged() != "" {
		t.Errorf("the command is %q; merged are %q", got, s.merged())
	}
	if built.Sprints[1].Why == "" || built.Sprints[2].Why == "" || s.worker.of(3) != "" {
		t.Errorf("%+v; sprint 3 was worked on by %s", built.Sprints, s.worker.of(3))
	}
	s.sendBack("todo-sprint-1")
	s.mustBuild(1, "completed merged", "merged", "completed merged")
	if got := s.merged(); got != "sprint-1.go sprint-2.go sprint-3.go" || s.worker.of(1) != "dev review dev review qa" || s.worker.of(2) != "dev review qa" {
		t.Errorf("merged are %q; sprint 1 by %s", got, s.worker.of(1))
	}
}

// TestInterruptedBuild: a build that was ended goes on where it was.
func TestInterruptedBuild(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	dying, end := context.WithCancel(t.Context())
	s.worker.on = func(_ context.Context, stage string, sprint int, _ hostcli.Job) error {
		if stage == "review" && sprint == 2 {
			end()
			return context.Canceled
		}
		return nil
	}
	if built, err := s.build(dying, 1); !errors.Is(err, context.Canceled) || built == nil || s.merged() != "sprint-1.go" {
		t.Fatalf("%+v, %v; merged are %q", built, err, s.merged())
	}
	s.worker.on = nil
	s.mustBuild(1, "merged", "completed merged", "completed merged")
	if s.worker.of(1) != "dev review qa" || s.worker.of(2) != "dev review review qa" {
		t.Errorf("sprint 1 by %s, sprint 2 by %s", s.worker.of(1), s.worker.of(2))
	}
}

// TestCancelledSprint is built by a new run.
func TestCancelledSprint(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	s.worker.fails[1] = true
	s.mustBuild(1, "person open", "completed open", "open")
	s.do(request.Request{Action: workflow.ActionCancel, Caller: request.Caller{Via: workflow.ChannelScript}, Address: at("todo-sprint-1")})
	if built := s.mustBuild(1, "completed merged", "merged", "completed merged"); built.Sprints[0].Task != "todo-sprint-1-2" {
		t.Errorf("it is built by %s", built.Sprints[0].Task)
	}
}

// TestBrokenMerge: while the branch cannot be merged into, what runs ends in order, and nothing begins.
func TestBrokenMerge(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	s.worker.on = func(_ context.Context, stage string, sprint int, _ hostcli.Job) error {
		if stage == "qa" && sprint == 1 {
			s.git(s.dir, "worktree", "add", "-q", s.dir+"-mine", "bmad/todo-sprints")
		}
		return nil
	}
	built, err := s.build(t.Context(), 1)
	if !fault.Is(err, fault.NotAllowed) || built == nil || s.worker.of(2) != "" {
		t.Fatalf("%+v, %v; sprint 2 by %s", built, err, s.worker.of(2))
	}
	s.worker.on = nil
	s.git(s.dir, "worktree", "remove", s.dir+"-mine")
	s.mustBuild(1, "merged", "completed merged", "completed merged")
}

// TestStrictPlan: at a strict gate the approved document waits for the person's own act.
func TestStrictPlan(t *testing.T) {
	s := newSite(t)
	s.run("todo", "po..sm", false)
	strict := newSiteAt(t, s, "BMAD_SM_GATE=strict")
	built, err := strict.build(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range built.Sprints[:2] {
		if r.Reason != headless.Person || r.Merged || strict.session(r.Task).CurrentStage != "sm" {
			t.Errorf("%+v, at %s", r, strict.session(r.Task).CurrentStage)
		}
	}
	if got := strict.worker.of(1); got != "" {
		t.Errorf("the engine worked for %s", got)
	}
}

// TestRefusedBuild has what cannot be built: nothing is made.
func TestRefusedBuild(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(s *site)
		code    fault.Code
	}{
		"no such run":      {func(*site) {}, fault.NotFound},
		"no approved plan": {func(s *site) { s.run("todo", "po..architect", false) }, fault.NotAllowed},
		"no engine": {func(s *site) {
			s.run("todo", "po..sm", false)
			s.options.Workers = nil
		}, fault.InvalidArgument},
		"a linked worktree": {func(s *site) {
			s.git(s.dir, "worktree", "add", "-q", s.dir+"-mine")
			s.options.Folder = s.dir + "-mine"
			s.run("todo", "po..sm", false)
		}, fault.NotAllowed},
		"a run of this name": {func(s *site) {
			s.run("todo", "po..sm", false)
			s.run("todo-sprint-2", "po", false)
		}, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c.prepare(s)
			calls := len(s.worker.calls)
			if _, err := s.build(t.Context(), 1); !fault.Is(err, c.code) || fault.From(err).Hint == "" {
				t.Errorf("%v, want %s", err, c.code)
			}
			if got := s.git(s.dir, "branch", "--list", "bmad/*"); got != "" || len(s.worker.calls) > calls {
				t.Errorf("branches: %q, %d calls", got, len(s.worker.calls)-calls)
			}
		})
	}
}

// TestClean removes a worktree only if nothing is lost with it.
func TestClean(t *testing.T) {
	s := newSite(t)
	s.run("done", "", true)
	s.run("todo", "po", true)
	s.run("gone", "po", true)
	if err := os.RemoveAll(s.dir + ".worktrees/gone"); err != nil {
		t.Fatal(err)
	}
	clean := func() map[string]fleet.Cleaned {
		t.Helper()
		p, err := s.options.Engine.Projects().Open(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		all, err := fleet.Clean(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]fleet.Cleaned{}
		for _, c := range all {
			out[c.Task] = c.In(p.Language(""))
		}
		return out
	}
	mine := s.dir + ".worktrees/done/mine.txt"
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := clean()
	if c := got["done"]; c.Removed || !strings.Contains(c.Why, "mine.txt") {
		t.Errorf("with a file that is not committed: %+v", c)
	}
	if c := got["todo"]; c.Removed || !strings.Contains(c.Why, "architect") {
		t.Errorf("under way: %+v", c)
	}
	if c := got["gone"]; c.Removed || !strings.Contains(c.Why, "bmad-mcp run --resume gone") {
		t.Errorf("gone: %+v", c)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if c := clean()["done"]; !c.Removed {
		t.Errorf("all is committed: %+v", c)
	}
	if _, err := os.Stat(s.dir + ".worktrees/done"); err == nil || s.git(s.dir, "rev-parse", "--verify", "bmad/done") == "" || len(clean()) != 2 {
		t.Errorf("after that: %v, %+v", err, clean())
	}
}

// TestCleanKeepsDocuments that git ignores: no branch has them.
func TestCleanKeepsDocuments(t *testing.T) {
	s := newSite(t)
	s.write(".gitignore", ".claude/\n")
	s.git(s.dir, "add", ".gitignore")
	s.git(s.dir, "commit", "-q", "-m", "two")
	s.run("done", "", true)
	p, err := s.options.Engine.Projects().Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	all, err := fleet.Clean(t.Context(), p)
	if err != nil || len(all) != 1 || all[0].Removed || !strings.Contains(all[0].In(p.Language("")).Why, ".claude/specs/done") {
		t.Errorf("%+v, %v", all, err)
	}
}
