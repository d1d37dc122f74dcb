package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// codexServer plays a model over the Responses API, as far as Codex uses it. Each request takes the
// next item of the script.
type codexServer struct {
	*httptest.Server
	mu     sync.Mutex
	items  []map[string]any
	bodies []string
}

// ServeHTTP implements http.Handler.
func (s *codexServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/responses") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"models":[],"data":[]}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, string(body))
	if len(s.items) == 0 {
		http.Error(w, `{"error":{"message":"the script is over"}}`, http.StatusBadRequest)
		return
	}
	item, id := s.items[0], fmt.Sprintf("resp_%d", len(s.bodies))
	s.items = s.items[1:]
	item["id"], item["call_id"] = "item_"+id, "call_"+id
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": id}},
		{"type": "response.output_item.done", "item": item},
		{"type": "response.completed", "response": map[string]any{"id": id, "usage": map[string]any{
			"input_tokens": 100, "input_tokens_details": map[string]any{"cached_tokens": 40}, "output_tokens": 10, "output_tokens_details": map[string]any{"reasoning_tokens": 5}, "total_tokens": 110,
		}}},
	} {
		text, _ := json.Marshal(data)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", data["type"], text)
	}
}

// patches is a file that Codex writes; says an answer in words; runs a command.
func (s *codexServer) patches(path string, lines ...string) {
	s.items = append(s.items, map[string]any{"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n*** Add File: " + path + "\n+" + strings.Join(lines, "\n+") + "\n*** End Patch"})
}

func (s *codexServer) runs(command string) {
	args, _ := json.Marshal(map[string]any{"cmd": command, "yield_time_ms": 10000})
	s.items = append(s.items, map[string]any{"type": "function_call", "name": "exec_command", "arguments": string(args)})
}

func (s *codexServer) says(step sdktest.Step) {
	s.items = append(s.items, map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]string{"type": "output_text", "text": step.Blocks[0].Text}}})
}

// addCodex puts the real Codex beside Claude Code.
func (r *realRun) addCodex() *codexServer {
	r.t.Helper()
	codex := os.Getenv("TEST_BMAD_CODEX")
	if codex == "" {
		r.t.Skip("SKIPPED: without TEST_BMAD_CODEX nothing shows a run by two engines; .ci/proof names one")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		r.t.Fatal("Codex needs node: ", err)
	}
	s := &codexServer{}
	s.Server = httptest.NewServer(s)
	r.t.Cleanup(s.Close)
	folder := filepath.Join(r.root, "home", ".codex")
	config := fmt.Sprintf("model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"%s/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n", s.URL)
	err = errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "config.toml"), []byte(config), 0o600),
		os.Symlink(codex, filepath.Join(r.root, "bin", "codex")), os.Symlink(node, filepath.Join(r.root, "bin", "node")))
	if err != nil {
		r.t.Fatal(err)
	}
	r.env = append(r.env, "SCRIPTED_KEY=stand-in")
	return s
}

// addGo lets the program run the project's tests.
func (r *realRun) addGo() {
	r.t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		r.t.Fatal(err)
	}
	cache := strings.TrimSpace(r.exec(".", "go", "env", "GOCACHE"))
	r.env = append(r.env, "PATH="+filepath.Join(r.root, "bin")+":"+filepath.Dir(tool)+":/usr/bin:/bin", "GOCACHE="+cache, "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false", "BMAD_VERIFY=go test ./...")
}

// runTyped runs the program at a terminal at which a person types, and returns the output.
func (r *realRun) runTyped(words string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("script", "-qec", strings.Join(append([]string{r.binary}, args...), " "), "/dev/null")
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, append(r.env, "TERM=xterm", "SHELL=/bin/sh"), strings.NewReader(words)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%v at a terminal: %v\n%s", args, err, out)
	}
	return string(out)
}

// decisions lists who decided, stage by stage.
func (r *realRun) decisions(task string) (all []string) {
	r.t.Helper()
	var log struct {
		History []struct {
			From  string `json:"from"`
			Grant *struct {
				Decision string `json:"decision"`
				Channel  string `json:"channel"`
			} `json:"grant"`
		} `json:"entries"`
	}
	cmd := r.command("log", task, "--json")
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &log)
	}
	if err != nil {
		r.t.Fatalf("log: %v\n%s", err, out)
	}
	for _, e := range log.History {
		if e.Grant != nil {
			all = append(all, e.From+" "+e.Grant.Decision+" "+e.Grant.Channel)
		}
	}
	return all
}

// TestRealRunByTwo: Claude Code writes and judges, Codex builds. The failed review goes into Codex's
// own conversation, the tests of the project are the evidence, Codex reaches neither a gate nor the
// repository, and every line of events is JSON.
func TestRealRunByTwo(t *testing.T) {
	r := newRealRun(t)
	codex := r.addCodex()
	r.addGo()
	const task = "two"
	r.runTyped("y\n", "allow")
	r.server.Add(r.says("po-1.md"), r.says("po-2.md"), r.says("architect-1.md"), r.says("sm-1.md"), r.says("review-1.md"))
	codex.patches("go.mod", "module example.com/todo", "", "go 1.24")
	codex.patches("todo_test.go", "package todo", "", `import "testing"`, "", "func TestTodo(t *testing.T) {}")
	codex.patches("../outside.txt", "x")
	codex.runs("echo x > ../outside.txt; echo x > .bmad-task/x; echo x > .git/hooks/pre-commit; " + r.binary + " confirm " + task + " --yes")
	codex.says(r.says("dev-1.md"))
	out, err := r.command("run", "--engine", "claude", "--engine-for", "dev=codex", "--model-for", "po=claude-sonnet-5-5", "--yes", "--answers", r.answers, "--events", "-", "--name", task, "Build a to-do list for the terminal").Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 6 || len(exit.Stderr) > 0 {
		t.Fatalf("%v: %s\n%s", err, exit.Stderr, out)
	}
	events(t, out)
	for _, name := range []string{r.outside, filepath.Join(r.dir, ".bmad-task", "x"), filepath.Join(r.dir, ".git", "hooks", "pre-commit")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("codex wrote %s", name)
		}
	}
	r.does(0, "reject", task, "--yes", "--feedback", "Write the file as a whole.")
	before := len(codex.bodies)
	codex.patches("more_test.go", "package todo", "", `import "testing"`, "", "func TestMore(t *testing.T) {}")
	codex.says(r.says("dev-2.md"))
	r.server.Add(r.says("review-2.md"), r.says("qa-1.md"))
	var result struct {
		Reason  string `json:"reason"`
		Session struct {
			State    string `json:"state"`
			Evidence any    `json:"evidence"`
		} `json:"session"`
	}
	last, err := r.command("run", "--resume", task, "--yes", "--json").Output()
	if err != nil || json.Unmarshal(last, &result) != nil || result.Reason != "completed" || result.Session.State != "completed" {
		t.Fatalf("%v\n%s", err, last)
	}
	evidence := 0
	for _, check := range r.checks() {
		if evidence++; check.Command != "go test ./..." || check.ExitCode != 0 || check.NotRun != "" || !strings.Contains(check.Tail, "ok") {
			t.Errorf("the evidence is %+v", check)
		}
	}
	if evidence < 2 {
		t.Errorf("%d pieces of evidence; want those of dev and qa", evidence)
	}
	if len(codex.bodies) == before || !strings.Contains(codex.bodies[before], "Both sprints are built") {
		t.Error("the rework was not asked for in the conversation in which dev had built")
	}
	if got := strings.Count(r.exec(r.dir, "git", "log", "--oneline"), "\n"); got != 1 {
		t.Errorf("%d commits", got)
	}
	want := []string{"po/clarifying answer script", "po/awaiting_confirmation approve script", "architect/awaiting_confirmation approve script"}
	got := r.decisions(task)
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) || slices.ContainsFunc(got, func(d string) bool { return !strings.HasSuffix(d, " script") }) {
		t.Errorf("decisions %q", got)
	}
	for stage, want := range map[workflow.StageID]int{"po": 2, "architect": 1, "sm": 1, "dev": 2, "review": 2, "qa": 1} {
		if got := r.submissions()[stage]; got != want {
			t.Errorf("%d submissions of %s; want %d", got, stage, want)
		}
	}
}

// checks lists the results of the verify command, for each stage that they belong to.
func (r *realRun) checks() (all []workflow.Evidence) {
	r.t.Helper()
	s := r.session()
	for _, id := range []workflow.StageID{"dev", "qa"} {
		if e := s.Record(id).Evidence; e != nil {
			all = append(all, *e)
		}
	}
	return all
}

// events checks that an output is lines of JSON, numbered without a gap.
func events(t *testing.T, out []byte) {
	t.Helper()
	n := 0
	for line := range bytes.Lines(out) {
		var e struct {
			Seq int `json:"seq"`
		}
		if n++; json.Unmarshal(line, &e) != nil || e.Seq != n {
			t.Errorf("line %d of the events: %s", n, line)
		}
	}
	if n < 10 {
		t.Errorf("%d events", n)
	}
}

// inProject lists the processes that work in the project's folder.
func (r *realRun) inProject() (all []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && (dir == r.dir || strings.HasPrefix(dir, r.dir+"/")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// checkGone fails if a process of the project goes on.
func (r *realRun) checkGone(when string) {
	r.t.Helper()
	var left []string
	for range 400 {
		if left = r.inProject(); len(left) == 0 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	r.t.Errorf("%s: %d processes go on: %.300q", when, len(left), left)
}

// TestRealKills kills a run while the model writes a document, while a command of dev runs, and while
// a report that was returned is completed. No engine goes on, and each time the run asks once more,
// of the report in its conversation, and submits once.
func TestRealKills(t *testing.T) {
	if _, err := os.Stat("/proc/self/cwd"); err != nil {
		t.Skip("SKIPPED: processes are found in /proc, which this system lacks")
	}
	r := newRealRun(t)
	const task = "kills"
	silent := sdktest.Text("never whole").With(sdktest.Silent)
	flags := []string{"--engine", "claude", "--model", "claude-sonnet-5-5", "--yes", "--allow-command", "sleep", "--answers", r.answers}
	kill := func(when string, ready func() bool, args ...string) {
		t.Helper()
		cmd := r.command(append(args, flags...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); !ready(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the run does not come so far", when)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		r.checkGone(when)
	}
	asked := func() bool { return r.server.Left() == 0 }
	r.server.Add(silent)
	kill("po", asked, "run", "--name", task, "Build a to-do list for the terminal")
	r.server.Add(r.says("po-1.md"), r.says("po-2.md"), r.says("architect-1.md"), r.says("sm-1.md"), r.writes(filepath.Join(r.dir, "list.go"), "package list\n"), r.runs("sleep 3599"))
	kill("dev", func() bool {
		return slices.ContainsFunc(r.inProject(), func(line string) bool { return strings.TrimSpace(line) == "sleep 3599" })
	}, "run", "--resume", task)
	r.server.Add(r.says("dev-1.md"), sdktest.Text("Status: Pass"), silent)
	kill("review that was returned", asked, "run", "--resume", task)
	r.server.Add(r.says("review-2.md"), r.says("qa-1.md"))
	r.does(0, append([]string{"run", "--resume", task}, flags...)...)
	if left := r.server.Left(); left != 0 {
		t.Errorf("%d answers of the model were not asked for", left)
	}
	if ids := r.conversations("review"); len(ids) != 3 || ids[1] != ids[0] || ids[2] != ids[0] {
		t.Errorf("the review was worked on in %q", ids)
	}
	for stage, want := range map[workflow.StageID]int{"po": 2, "architect": 1, "sm": 1, "dev": 1, "review": 2, "qa": 1} {
		if got := r.submissions()[stage]; got != want {
			t.Errorf("%d submissions of %s; want %d", got, stage, want)
		}
	}
}

// TestRealLimits: a budget ends a run, and a larger one lets it go on; a second run of the same task
// is told who works on it; and the words are those of the objective's language.
func TestRealLimits(t *testing.T) {
	r := newRealRun(t)
	const task = "limits"
	flags := []string{"--engine", "claude", "--model", "claude-sonnet-5-5", "--yes", "--answers", r.answers}
	dear := r.says("po-2.md")
	dear.Usage.Input, dear.Usage.Output = 40_000, 1_000 // 9 cents
	r.server.Add(r.says("po-1.md"), dear)
	out := r.does(8, append([]string{"run", "--budget", "0.05", "--name", task, "给终端做一个待办事项列表"}, flags...)...)
	if !strings.Contains(out, "预算") || strings.Contains(out, "the budget") {
		t.Errorf("the end of the budget is not told in Chinese:\n%s", out)
	}
	if out := r.does(8, append([]string{"run", "--resume", task}, flags...)...); r.server.Left() != 0 {
		t.Errorf("a spent budget asked the engine:\n%s", out)
	}
	if got := r.submissions()["po"]; got != 1 {
		t.Errorf("%d submissions of po; Claude Code gives no answer that is dearer than its limit", got)
	}
	r.server.Add(r.says("po-2.md"), sdktest.Text("never whole").With(sdktest.Silent))
	resume := append([]string{"run", "--resume", task, "--budget", "9"}, flags...)
	first := r.command(resume...)
	var said bytes.Buffer
	first.Stdout, first.Stderr = &said, &said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for r.server.Left() > 0 {
		time.Sleep(20 * time.Millisecond)
	}
	if out := r.does(4, resume...); !strings.Contains(out, fmt.Sprint(first.Process.Pid)) {
		t.Errorf("the second run is not told that process %d works:\n%s", first.Process.Pid, out)
	}
	if err := first.Process.Signal(syscall.SIGHUP); err != nil { // its terminal is closed
		t.Fatal(err)
	}
	_ = first.Wait()
	if got := first.ProcessState.ExitCode(); got != 130 {
		t.Errorf("interrupted: exit %d\n%s", got, said.String())
	}
	r.checkGone("interrupted")
	r.server.Add(r.says("architect-1.md"))
	if out := r.does(0, append(resume, "--stages", "architect")...); !strings.Contains(out, "architect") || r.server.Left() != 0 {
		t.Errorf("with a larger budget:\n%s", out)
	}
}
