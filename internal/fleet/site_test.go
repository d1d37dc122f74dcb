package fleet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/fleet"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

const sentences = "It says what is built, for whom and why, in whole sentences. It says what is built, for whom and why. "

// requirements have a criterion for each sprint of the plan.
const requirements = "# Requirements\n\n## Summary\n\n" + sentences + sentences + `

## Acceptance criteria

- **AC-1.1**: tasks are listed
- **AC-2.1**: tasks have dates
- **AC-3.1**: tasks are printed

` + "```json\n{\"quality_score\": 95, \"gaps\": [], \"questions\": []}\n```\n"

const architecture = "# Architecture\n\n## Summary\n\n" + sentences + sentences + "\n\n```json\n{\"quality_score\": 94, \"gaps\": [], \"questions\": []}\n```\n"

// plan has three sprints, the third with a file of the first.
const plan = `# Sprint plan

` + sentences + `

## Sprint 1: the list

It adds the list to ` + "`list.go`" + ` and covers AC-1.1.

## Sprint 2: the dates

It adds the dates to ` + "`dates.go`" + ` and covers AC-2.1.

## Sprint 3: the printer

It prints the list of ` + "`list.go` by `print.go`" + ` and covers AC-3.1.
`

// builder is a worker that builds sprints.
type builder struct {
	t  testing.TB
	mu sync.Mutex
	// calls are the stages that it was asked for, each as task/stage.
	calls []string
	// files are what Dev writes for each sprint, besides sprint-N.go.
	files map[int]map[string]string
	// on, if not nil, is called in each call, and can fail it.
	on func(ctx context.Context, stage string, sprint int, job hostcli.Job) error
	// fails has the sprints whose review fails once.
	fails  map[int]bool
	failed []int
}

func (w *builder) Name() string { return "claude" }

var (
	sprintForm = regexp.MustCompile(`by their numbers: \[(\d+)\]`)
	folderForm = regexp.MustCompile(`-sprint-(\d+)`)
	roles      = map[string]string{"po": "the Product Owner", "architect": "the System Architect", "sm": "the Scrum Master",
		"dev": "the Developer", "review": "the Reviewer", "qa": "the QA Engineer"}
)

// Work implements [headless.Worker].
func (w *builder) Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	head, _, _ := strings.Cut(job.Prompt, "\n## ")
	stage, sprint := "", 0
	for id, role := range roles {
		if strings.Contains(head, "You are "+role) || strings.Contains(head, "You are still "+role) {
			stage = id
		}
	}
	if m := folderForm.FindStringSubmatch(job.Dir); m != nil {
		_, _ = fmt.Sscan(m[1], &sprint)
	}
	w.mu.Lock()
	w.calls = append(w.calls, fmt.Sprintf("%d/%s", sprint, stage))
	failing := stage == "review" && w.fails[sprint]
	if failing {
		delete(w.fails, sprint)
		w.failed = append(w.failed, sprint)
	}
	mended := slices.Contains(w.failed, sprint)
	w.mu.Unlock()
	out := &hostcli.Outcome{Session: "s", Usage: map[string]provider.Usage{"claude-sonnet-5-5": {Input: 100, Output: 10}}}
	if w.on != nil {
		if err := w.on(ctx, stage, sprint, job); err != nil {
			return out, err
		}
	}
	check := `"checks": [{"id": "C1", "command": "go test ./...", "exit": 0}]`
	block := func(title, json string) string {
		return "# " + title + "\n\n## Summary\n\n" + sentences + sentences + "\n\n```json\n" + json + "\n```\n"
	}
	switch stage {
	case "po":
		out.Text = requirements
	case "architect":
		out.Text = architecture
	case "sm":
		out.Text = plan
	case "dev":
		if m := sprintForm.FindStringSubmatch(job.Prompt); sprint > 0 && (m == nil || m[1] != fmt.Sprint(sprint)) {
			w.t.Errorf("sprint %d: Dev is told %q", sprint, m)
		}
		files := map[string]string{fmt.Sprintf("sprint-%d.go", sprint): fmt.Sprintf("package a // %d\n", len(w.calls))}
		for name, text := range w.files[sprint] {
			files[name] = text
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(job.Dir, name), []byte(text), 0o600); err != nil {
				w.t.Error(err)
			}
		}
		out.Text = block("Implementation report", fmt.Sprintf(`{"sprints": [1, 2, 3], "files": ["sprint-%d.go"], "resolved": [{"id": "R1", "how": "mended"}]}`, sprint))
	case "review":
		out.Text = block("Review", `{`+check+`, "findings": []}`)
		switch {
		case mended && !failing:
			out.Text = block("Review", `{`+check+`, "findings": [{"id": "R1", "severity": "critical", "file": "list.go:1",
				"problem": "tasks were lost", "status": "fixed"}]}`)
		case failing:
			out.Text = block("Review", `{"verdict": "fail", "findings": [{"id": "R1", "severity": "critical", "file": "list.go:1",
				"problem": "tasks are lost", "fix": "keep them", "status": "open"}]}`)
		}
	case "qa":
		var rows []string
		for n := 1; n <= 3; n++ {
			if sprint == 0 || sprint == n {
				rows = append(rows, fmt.Sprintf(`{"id": "AC-%d.1", "result": "pass", "check": "C1", "evidence": "go test ./... ok"}`, n))
			}
		}
		out.Text = block("QA report", fmt.Sprintf(`{%s, "criteria": [%s], "findings": []}`, check, strings.Join(rows, ", ")))
	}
	return out, nil
}

// of lists the calls for a sprint; 0 are those of the run with the plan.
func (w *builder) of(sprint int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, call := range w.calls {
		if stage, ok := strings.CutPrefix(call, fmt.Sprintf("%d/", sprint)); ok {
			out = append(out, stage)
		}
	}
	return strings.Join(out, " ")
}

// site is a repository with an engine and a builder.
type site struct {
	t       testing.TB
	dir     string
	worker  *builder
	options headless.Options
	rights  *vault
}

// vault keeps the rights of runs in memory.
type vault struct{ all sync.Map }

func (v *vault) Keep(_ context.Context, id string, data []byte) error {
	v.all.Store(id, slices.Clone(data))
	return nil
}

func (v *vault) Kept(_ context.Context, id string) []byte {
	data, _ := v.all.Load(id)
	out, _ := data.([]byte)
	return out
}

// at is the address of a run.
func at(task string) project.Address { return project.Address{Session: task} }

func newSite(t testing.TB) *site {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	s := openSite(t, t.TempDir(), 0)
	s.git(s.dir, "init", "-q", "-b", "main")
	s.write("list.go", "package a\n")
	s.git(s.dir, "add", ".")
	s.git(s.dir, "commit", "-q", "-m", "one")
	return s
}

// newSiteAt is the site of another under other settings.
func newSiteAt(t testing.TB, other *site, environ ...string) *site {
	return openSite(t, other.dir, 100, environ...)
}

// openSite returns the site in a folder, whose ids of sessions count from a number.
func openSite(t testing.TB, dir string, from int64, environ ...string) *site {
	t.Helper()
	s := &site{t: t, dir: dir, worker: &builder{t: t, fails: map[int]bool{}}, rights: &vault{}}
	person, clock := t.TempDir(), new(atomic.Int64)
	if err := os.CopyFS(person, os.DirFS("../../testdata/person")); err != nil {
		t.Fatal(err)
	}
	ids := new(atomic.Int64)
	ids.Store(from)
	e := engine.New(engine.Options{
		Projects: project.New(project.Options{
			Backend:  storetest.At,
			Settings: config.Source{UserFolder: person, Environ: append([]string{"BMAD_AUDIT_FLOOR=0", "BMAD_WORKFLOW=six"}, environ...)},
		}),
		Now: func() time.Time { return time.Unix(1_790_000_000+clock.Add(1), 0) }, Names: engine.Names{Program: "bmad-mcp"},
		NewID: func() string { return fmt.Sprintf("%08d-2222-4333-8444-555555555555", ids.Add(1)) },
	})
	s.options = headless.Options{
		Engine: e, Workers: []headless.Worker{s.worker}, Folder: dir, By: "test", Gates: headless.Stop,
		Look: func(ctx context.Context, folder string) (*headless.Tree, error) {
			tree, err := git.Look(ctx, folder)
			return (*headless.Tree)(tree), err
		},
		Wait: func(context.Context, time.Duration) error { return nil }, Rights: func(string) sdk.Rights { return s.rights },
	}
	return s
}

// git runs git in a folder and returns what it prints.
func (s *site) git(folder string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run takes a run as far as some stages say, with a yes to all documents.
func (s *site) run(task, stages string, apart bool) *headless.Result {
	s.t.Helper()
	o := s.options
	o.Gates, o.Flags = headless.Yes, headless.Flags{Stages: stages, Worktree: apart}
	out, err := headless.New(o).Start(s.t.Context(), "Build a to-do list", task)
	if err != nil || out.Reason != headless.Done {
		s.t.Fatal(out, err)
	}
	return out
}

// build builds the sprints of the run todo.
func (s *site) build(ctx context.Context, parallel int) (*fleet.Built, error) {
	return fleet.Sprints{Options: s.options, From: "todo", Parallel: parallel}.Build(ctx)
}

// mustBuild is build, whose end is described as sprint: reason, merged.
func (s *site) mustBuild(parallel int, want ...string) *fleet.Built {
	s.t.Helper()
	built, err := s.build(s.t.Context(), parallel)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, r := range built.Sprints {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", r.Reason, map[bool]string{true: "merged", false: "open"}[r.Merged])))
	}
	if !slices.Equal(got, want) {
		s.t.Fatalf("the sprints end as %q, want %q: %+v", got, want, built.Sprints)
	}
	return built
}

func (s *site) session(task string) *workflow.Session {
	s.t.Helper()
	out, _, err := s.options.Engine.Session(s.t.Context(), project.Address{Cwd: s.dir, Session: task})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *site) do(req request.Request) {
	s.t.Helper()
	req.Cwd = s.dir
	if _, err := s.options.Engine.Do(s.t.Context(), req); err != nil {
		s.t.Fatal(err)
	}
}

// merged are the sprints in the branch of a build, in the order in which they came.
func (s *site) merged() string {
	s.t.Helper()
	return strings.Join(strings.Fields(s.git(s.dir, "log", "--reverse", "--first-parent", "--format=", "--diff-filter=A", "-m", "--name-only",
		"main..bmad/todo-sprints", "--", "sprint-*.go")), " ")
}
