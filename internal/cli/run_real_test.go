package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// realRun is a project in which the real Claude Code works against a scripted model, and the
// program that was built.
type realRun struct {
	t                 *testing.T
	binary, dir, root string
	env               []string
	server            *sdktest.Server
	answers, outside  string
}

func newRealRun(t *testing.T) *realRun {
	t.Helper()
	claude := os.Getenv("TEST_BMAD_CLAUDE")
	if claude == "" {
		t.Skip("SKIPPED: without TEST_BMAD_CLAUDE nothing shows a whole run by the real Claude Code; .ci/proof names one")
	}
	root := scratch.Dir(t)
	r := &realRun{t: t, root: root, binary: filepath.Join(root, "bmad-mcp"), dir: filepath.Join(root, "work", "project"), answers: filepath.Join(root, "answers.json"), outside: filepath.Join(root, "work", "outside.txt")}
	r.exec(".", "go", "build", "-o", r.binary, "../../cmd/bmad-mcp")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(root, "bin"), 0o700))
	must(os.MkdirAll(r.dir, 0o700))
	must(os.Symlink(claude, filepath.Join(root, "bin", "claude")))
	must(os.WriteFile(r.answers, []byte(`{"q1":"Just me, on one laptop","q2":"They should stand out"}`), 0o600))
	must(os.WriteFile(filepath.Join(r.dir, "README.md"), []byte("# To do\n"), 0o600))
	r.exec(r.dir, "git", "init", "-q")
	r.exec(r.dir, "git", "add", ".")
	r.exec(r.dir, "git", "-c", "user.name=n", "-c", "user.email=n@example.com", "commit", "-qm", "begin")
	r.env = []string{
		"PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin", "HOME=" + filepath.Join(root, "home"), "TMPDIR=" + scratch.Dir(t),
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		"ANTHROPIC_API_KEY=stand-in", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
	}
	r.server = &sdktest.Server{Side: func(q sdktest.Request) *sdktest.Step { // titles and such
		if title := sdktest.Text("A title"); len(q.Tools) == 0 {
			return &title
		}
		return nil
	}}
	r.server.Start()
	t.Cleanup(r.server.Close)
	return r
}

func (r *realRun) exec(dir, name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// command prepares the program, in the project.
func (r *realRun) command(args ...string) *exec.Cmd {
	cmd := exec.Command(r.binary, args...)
	cmd.Dir, cmd.Env = r.dir, append(r.env, "ANTHROPIC_BASE_URL="+r.server.URL)
	return cmd
}

// does runs the program, which has to end with a code.
func (r *realRun) does(code int, args ...string) string {
	r.t.Helper()
	out, err := r.command(args...).CombinedOutput()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	if got != code {
		r.t.Fatalf("%v: exit %d, want %d\n%s\nrequests left: %d", args, got, code, out, r.server.Left())
	}
	return string(out)
}

// says is the answer of the model that hands in a document of the demo.
func (r *realRun) says(file string) sdktest.Step {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join("cmd", "start", "demo", file))
	if err != nil {
		r.t.Fatal(err)
	}
	return sdktest.Text(string(text))
}

// writes is a file that the model writes; runs a command.
func (r *realRun) writes(path, text string) sdktest.Step {
	return sdktest.Call("Write", map[string]string{"file_path": path, "content": text})
}

func (r *realRun) runs(command string) sdktest.Step {
	return sdktest.Call("Bash", map[string]string{"command": command})
}

// session reads the only session of the project.
func (r *realRun) session() *workflow.Session {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, ".bmad-task", "session-*.json"))
	if err != nil || len(files) != 1 {
		r.t.Fatalf("sessions: %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	s := &workflow.Session{}
	if err == nil {
		err = workflow.Unmarshal(data, s)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// submissions counts the submissions of each stage in the history of the task, of which none has the
// text of another.
func (r *realRun) submissions() map[workflow.StageID]int {
	r.t.Helper()
	counts, texts := map[workflow.StageID]int{}, map[string]bool{}
	for _, e := range r.session().History {
		if e.Action != workflow.ActionSubmit || e.Path == "" { // one submission can be several steps
			continue
		}
		counts[e.FromStage()]++
		if texts[e.SHA256] {
			r.t.Errorf("%s was submitted before", e.Path)
		}
		texts[e.SHA256] = true
	}
	return counts
}

// TestRealRun: the real Claude Code takes an objective through all stages, with questions, a change
// that the person wants, failed work, an API that cannot be reached and a kill in the middle. A file
// that it may not write stays as it was, nothing is submitted twice, and no gate opens by itself.
func TestRealRun(t *testing.T) {
	r := newRealRun(t)
	const task = "to-do"
	resume := []string{"run", "--resume", task}
	r.server.Add(r.says("po-1.md"), r.says("po-2.md"))
	out := r.does(6, "run", "--engine", "claude", "--model", "claude-sonnet-5-5", "--gates", "stop", "--answers", r.answers, "--name", task, "Build a to-do list for the terminal")
	for _, want := range []string{"bmad-mcp decide " + task, "bmad-mcp run --resume " + task} {
		if !strings.Contains(out, want) {
			t.Errorf("the stop at the first gate does not say %q:\n%s", want, out)
		}
	}
	r.does(6, resume...) // nobody has decided
	r.does(0, "confirm", task, "--yes")

	unreachable := r.command(resume...)
	unreachable.Env = append(r.env, "ANTHROPIC_BASE_URL=http://127.0.0.1:9")
	if said, err := unreachable.CombinedOutput(); unreachable.ProcessState.ExitCode() != 9 {
		t.Errorf("an API that cannot be reached: %v\n%s", err, said)
	}
	r.server.Add(r.says("architect-1.md"))
	r.does(6, resume...)
	r.does(0, "reject", task, "--yes", "--feedback", "Two terminals must not lose each other's tasks.")
	r.server.Add(r.says("architect-2.md"))
	r.does(6, resume...)
	r.does(0, "confirm", task, "--yes")
	r.server.Add(r.says("sm-1.md"))
	r.does(6, resume...)
	r.does(0, "approve", task, "--yes")

	// It is killed while the model thinks about its second step.
	r.server.Add(r.writes(filepath.Join(r.dir, "list.go"), "package list\n"), sdktest.Text("never whole").With(sdktest.Silent))
	killed := r.command(resume...)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for r.server.Left() > 0 {
		time.Sleep(20 * time.Millisecond)
	}
	if err := killed.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed

	r.server.Add(
		r.writes(filepath.Join(r.dir, "list.go"), "package list // again\n"), r.writes(r.outside, "x"), r.runs("echo x > ../outside.txt"),
		r.writes(filepath.Join(r.dir, ".bmad-task", "x"), "x"), r.writes(filepath.Join(r.dir, ".git", "hooks", "pre-commit"), "x"), r.runs("bmad-mcp confirm --yes"),
		r.says("dev-1.md"), r.says("review-1.md"))
	r.does(6, resume...)
	for _, name := range []string{r.outside, filepath.Join(r.dir, ".bmad-task", "x"), filepath.Join(r.dir, ".git", "hooks", "pre-commit")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("the engine wrote %s", name)
		}
	}
	r.does(0, "reject", task, "--yes", "--feedback", "Write the file as a whole.")
	r.server.Add(r.writes(filepath.Join(r.dir, "list_test.go"), "package list\n"), r.says("dev-2.md"), r.says("review-2.md"), r.says("qa-1.md"))
	if out := r.does(0, resume...); !strings.Contains(out, "the workflow is complete") {
		t.Errorf("the end says:\n%s", out)
	}
	if left := r.server.Left(); left != 0 {
		t.Errorf("%d answers of the model were not asked for", left)
	}
	specs, err := filepath.Glob(filepath.Join(r.dir, ".claude", "specs", task, "*.md"))
	if err != nil || len(specs) != 5 {
		t.Errorf("documents %v, %v; want five", specs, err)
	}
	if commits := strings.Count(r.exec(r.dir, "git", "log", "--oneline"), "\n"); commits != 1 {
		t.Errorf("%d commits; the run made some", commits)
	}
	for stage, want := range map[workflow.StageID]int{"po": 2, "architect": 2, "sm": 1, "dev": 2, "review": 2, "qa": 1} {
		if got := r.submissions()[stage]; got != want {
			t.Errorf("%d submissions of %s; want %d", got, stage, want)
		}
	}
}
