package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	_ "github.com/bmad-mcp/bmad-mcp/internal/cli" // the binary that is built: go test must not take its results for known when it changes

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// binary is the real program, built once for all tests of the package.
var binary string

// passedReport passes if no document names criteria.
const passedReport = "# R\n\n```json\n{\"checks\": [{\"id\": \"C1\", \"command\": \"go test ./...\", \"exit\": 0}], \"findings\": []}\n```"

func TestMain(m *testing.M) {
	// Those that start the program spend a part of their time waiting, for it or as a person would.
	parallel := 12
	if raced {
		parallel = 6 // these spend it computing, and so do the servers
	}
	scratch.Parallel(parallel)
	os.Exit(scratch.Run(built{m}))
}

// built runs the tests once the program is built.
type built struct{ m *testing.M }

func (b built) Run() int {
	dir, err := os.MkdirTemp("", "bmad-mcp")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary = filepath.Join(dir, "bmad-mcp.exe")
	build, check := buildWatched(dir, binary)
	code := 1
	if err := build.Run(); err == nil {
		code = b.m.Run()
		if err := check(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	_ = os.RemoveAll(dir)
	return code
}

// isolatedEnv returns an environment in which only the given project is known.
func isolatedEnv(t testing.TB, extra ...string) []string {
	t.Helper()
	state := t.TempDir()
	env := []string{"HOME=" + state, "XDG_STATE_HOME=" + state, "XDG_CONFIG_HOME=" + state, "CLAUDE_PROJECT_DIR=", "PATH=" + os.Getenv("PATH")}
	if _, measured := t.(*testing.B); measured {
		env = append(env, "GOGC=100") // tests let their processes collect less
	}
	return append(append(env, watching()...), extra...)
}

// alwaysAsks stands in a test's environment for the setting in a person's own file by which each host has bmad-confirm: a
// variable has no say in that.
const alwaysAsks = "host_confirm=always"

// ownFile writes the settings file of a person, if an environment asks for one, into its XDG_CONFIG_HOME or a new one, and
// returns the environment with it.
func ownFile(t testing.TB, env []string) (out []string, folder string) {
	t.Helper()
	if !slices.Contains(env, alwaysAsks) {
		return env, ""
	}
	for _, one := range env {
		if named, ok := strings.CutPrefix(one, "XDG_CONFIG_HOME="); ok {
			folder = named
		}
	}
	if folder == "" {
		folder = t.TempDir()
	}
	name := filepath.Join(folder, filepath.FromSlash(config.UserFile))
	text, _ := os.ReadFile(name) // of a test that has other settings, too
	if !bytes.Contains(text, []byte("host_confirm")) {
		text = append([]byte("host_confirm: always\n"), text...)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	out = slices.DeleteFunc(slices.Clone(env), func(one string) bool { return one == alwaysAsks })
	return append(out, "XDG_CONFIG_HOME="+folder), folder
}

// sixStages returns an environment whose runs have six stages, which stay as they are when a built-in workflow
// changes.
func sixStages(t *testing.T) []string {
	t.Helper()
	settings := t.TempDir()
	if err := os.CopyFS(settings, os.DirFS("../../../testdata/person")); err != nil {
		t.Fatal(err)
	}
	return []string{"XDG_CONFIG_HOME=" + settings, "BMAD_WORKFLOW=six"}
}

func connect(t testing.TB, dir, protocol string) *mcpserver.Client {
	t.Helper()
	return launchProgram(t, dir, mcpserver.Launch{Protocol: protocol})
}

type object = map[string]any

func call(t testing.TB, c *mcpserver.Client, args any) (object, bool) {
	t.Helper()
	text, refused, err := c.Call(context.Background(), mcpserver.TaskTool, args)
	if err != nil {
		t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out, refused
}

// TestRunInEveryProtocol takes the main road through all stages in each
// revision that hosts speak.
func TestRunInEveryProtocol(t *testing.T) {
	for _, protocol := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			dir := t.TempDir()
			c := connect(t, dir, protocol)
			type step struct {
				args  object
				place string
			}
			steps := []step{
				{object{"action": "start", "objective": "登录服务"}, "po/generating"},
				{object{"action": "submit", "stage": "po", "claude_result": `{"prd_draft":"# P","quality_score":70,"questions":["Who?"]}`}, "po/clarifying"},
				{object{"action": "answer", "answers": object{"q1": "us"}}, "po/refining"},
				{object{"action": "submit", "stage": "po", "claude_result": `{"prd_updated":"# P","quality_score":95}`}, "po/awaiting_confirmation"},
				{object{"action": "confirm_save"}, "architect/generating"},
				{object{"action": "submit", "stage": "architect", "codex_result": "# A\nQuality Score: 91/100"}, "architect/awaiting_confirmation"},
				{object{"action": "confirm", "confirmed": true}, "sm/generating"},
				{object{"action": "submit", "stage": "sm", "claude_result": "## Sprint 1: one"}, "sm/awaiting_approval"},
				{object{"action": "approve", "approved": true}, "dev/generating"},
				{object{"action": "submit", "stage": "dev", "codex_result": "# D", "sprints": []int{1}}, "review/generating"},
			}
			for _, stage := range workflow.Default().JudgesOf(workflow.Dev) {
				place := string(workflow.QA) + "/completed"
				if next, ok := workflow.Default().Next(stage.ID); ok {
					place = string(next.ID) + "/generating"
				}
				steps = append(steps, step{object{"action": "submit", "stage": stage.ID, "codex_result": passedReport}, place})
			}
			id := ""
			for _, step := range steps {
				if id != "" {
					step.args["session_id"] = id
				}
				reply, refused := call(t, c, step.args)
				if got := fmt.Sprint(reply["stage"], "/", reply["state"]); refused || got != step.place {
					t.Fatalf("%v: refused %v, at %s, want %s: %v", step.args["action"], refused, got, step.place, reply)
				}
				id = reply["session_id"].(string)
				if step.place == "dev/generating" {
					if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, err := os.Stat(filepath.Join(dir, ".claude", "specs", "deng-lu-fu-wu", "05-qa-report.md")); err != nil {
				t.Error(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, ".bmad-task", "session-"+id+".json"))
			if err != nil || !strings.Contains(string(data), `"by": "bmad-mcp-demo 1"`) {
				t.Errorf("the history does not name the client: %v", err)
			}
		})
	}
}

// rpc is a raw client: lines in, lines out.
type rpc struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	// inbox has the notifications that came while something else was waited for.
	inbox []message
}

// raw returns a raw client of the program.
func raw(t *testing.T, dir string, env ...string) *rpc {
	t.Helper()
	return startRPC(t, dir, isolatedEnv(t, env...))
}

// startRPC starts the program in a folder and an environment.
func startRPC(t *testing.T, dir string, env []string, args ...string) *rpc {
	t.Helper()
	r := &rpc{t: t, cmd: exec.Command(binary, args...), stderr: &bytes.Buffer{}}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = dir, env, r.stderr
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(r.cmd.Process, in); _ = r.cmd.Wait() })
	r.in, r.out = in, bufio.NewReader(out)
	return r
}

// leave ends a server as hosts do, so that it can write down its coverage, and kills it
// if it does not go.
func leave(p *os.Process, in io.Closer) {
	if in != nil {
		_ = in.Close()
	}
	_ = p.Signal(os.Interrupt)
	time.AfterFunc(20*time.Second, func() { _ = p.Kill() })
}

// startGreeted returns a program that has answered the first request.
func startGreeted(t *testing.T, dir string, env ...string) *rpc {
	t.Helper()
	r := raw(t, dir, env...)
	r.send(hello)
	r.line()
	return r
}

func (r *rpc) send(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rpc) line() string {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Fatalf("%v, stderr: %s", err, r.stderr)
	}
	return strings.TrimSpace(line)
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"raw","version":"0"},"capabilities":{}}}`

var variable = []struct {
	re *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<id>"},
	{regexp.MustCompile(`\d{8}T\d{6}\.\d{3}Z(-\d+)?`), "<time>"},
	{regexp.MustCompile(`("taskId":")[A-Z2-7]{26}`), "${1}<task>"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`), "<time>"},
	{regexp.MustCompile(`(prev[\\]*": [\\]*")[0-9a-f]{64}`), "${1}<hash>"},                   // of an entry with a time
	{regexp.MustCompile(`(signature[\\]*": [\\]*")[0-9A-Za-z+/=]{200,}`), "${1}<signature>"}, // of an entry with a time
	{regexp.MustCompile(`(standing[\\]*": [\\]*")[0-9a-f]{8}:[0-9a-f]{64}`), "${1}<hash>"},   // of a session with an id
	{regexp.MustCompile(`(waited_seconds[\\]*": )[0-9.]+`), "${1}<time>"},
	{regexp.MustCompile(`("application/json","size":)\d+|("mime_type[\\]*":[\\]*"application/json[\\]*",[\\]*"size[\\]*":)\d+`), "${1}${2}<size>"},
	{regexp.MustCompile(`(score[\\]*":)[0-9.]+(,[\\]*"coverage[\\]*":)[0-9.]+`), "${1}<score>${2}<part>"}, // of a search, whose weights are tuned
	{regexp.MustCompile(`/TestTranscripts[^ ,"\\()]*`), "<home>"},
	{regexp.MustCompile(time.Now().Format(time.DateOnly)), "<date>"},
	{regexp.MustCompile(`(one piece of software work: )PO → [^.]*`), "${1}<stages>"}, // TestStagesAreTold reads them
	{regexp.MustCompile(`(eyes: written by |everybody but )[^ ,;)]+`), "${1}<account>"},
	{regexp.MustCompile(`[^ "\\]+( wrote this round)`), "<account>${1}"},
	{regexp.MustCompile(`(subject[\\]*": ?[\\]*")[^"\\]*`), "${1}<account>"},
	{regexp.MustCompile(`"version":"(v\d|\(devel\))[^"]*"`), `"version":"<version>"`},
}

var taskID = regexp.MustCompile(`"taskId":"([A-Z2-7]{26})"`)

// TestTranscripts plays the requests of testdata/mcp/*.requests against the real
// binary and compares what it answers, byte by byte but for ids and times, and for tools of which
// a line "# brief NAMES" wants the names only: their definitions stand in another transcript.
func TestTranscripts(t *testing.T) {
	for _, file := range transcripts(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".requests")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "prd.md"), []byte("# P\nQuality Score: 95/100\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := raw(t, dir, append(sixStages(t), directives(t, dir, string(data))...)...)
			var out strings.Builder
			task := "" // the id of the last task
			var brief []string
			for line := range strings.Lines(string(data)) {
				line = strings.TrimSpace(line)
				if strings.HasPrefix(line, "#") {
					fmt.Fprintln(&out, line)
					writes(t, dir, line)
					if names, ok := strings.CutPrefix(line, "# brief "); ok {
						brief = strings.Fields(names)
					}
					continue
				}
				r.send(strings.ReplaceAll(line, "<task>", task))
				fmt.Fprintf(&out, "C> %s\n", line)
				if strings.Contains(line, `"id"`) || !strings.HasPrefix(line, "{") {
					answer := shorten(t, strings.ReplaceAll(r.line(), dir, "<dir>"), brief)
					answer = strings.ReplaceAll(answer, filepath.Dir(dir), "/TestTranscripts") // whose path may have a space
					if m := taskID.FindStringSubmatch(answer); m != nil {
						task = m[1]
					}
					for _, v := range variable {
						answer = v.re.ReplaceAllString(answer, v.as)
					}
					fmt.Fprintf(&out, "S> %s\n", answer)
				}
			}
			golden.Check(t, filepath.Join("..", "..", "..", "testdata", "mcp", name+".golden"), out.String())
		})
	}
}

// transcripts returns the files with the requests of the transcripts.
func transcripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "mcp", "*.requests"))
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	return files
}

// shorten returns an answer with no more than the names of the brief tools in its list of tools.
func shorten(t *testing.T, answer string, brief []string) string {
	t.Helper()
	var m struct {
		Result struct{ Tools []json.RawMessage }
	}
	if len(brief) == 0 || json.Unmarshal([]byte(answer), &m) != nil {
		return answer
	}
	for _, raw := range m.Result.Tools {
		var tool struct{ Name string }
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(brief, tool.Name) {
			answer = strings.Replace(answer, string(raw), fmt.Sprintf(`{"name":%q,…}`, tool.Name), 1)
		}
	}
	return answer
}

// directives does what the first lines of a transcript ask for, and returns the server's
// environment: "# layout NAME" puts an installation of the method into dir, "# kit NAME" the
// files of a kit, "# toolsets NAMES", "# gate POLICY", "# memory HOW", "# personas WHOSE" and "# replies FORM" are
// settings.
func directives(t *testing.T, dir, transcript string) (env []string) {
	t.Helper()
	for line := range strings.Lines(transcript) {
		word, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# "), " ")
		switch {
		case !strings.HasPrefix(line, "#"):
			return env
		case word == "layout":
			unpack(t, dir, rest)
		case word == "kit":
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "memory", "internal", "grimoire", "testdata", rest))); err != nil {
				t.Fatal(err)
			}
		case word == "memory":
			env = append(env, "BMAD_MEMORY="+rest)
		case word == "gate":
			env = append(env, "BMAD_GATE="+rest)
		case word == "toolsets":
			env = append(env, "BMAD_TOOLSETS="+rest)
		case word == "personas":
			env = append(env, "BMAD_PERSONAS="+rest)
		case word == "replies":
			env = append(env, "BMAD_REPLIES="+rest)
		}
	}
	return env
}

// writes does what a line "# write FILE TEXT" of a transcript says, as a person in their editor.
func writes(t *testing.T, dir, line string) {
	t.Helper()
	rest, ok := strings.CutPrefix(line, "# write ")
	if !ok {
		return
	}
	name, text, _ := strings.Cut(rest, " ")
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, `\n`, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unpack puts an installation of the method into a folder.
func unpack(t testing.TB, dir, layout string) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("..", "..", "method", "catalog", "testdata", "layouts", layout+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := txtar.Write(a, dir); err != nil {
		t.Fatal(err)
	}
}

// TestEveryRequestIsAnsweredBeforeTheEnd closes the input right behind a burst of
// calls, again and again; the last line lacks its newline.
func TestEveryRequestIsAnsweredBeforeTheEnd(t *testing.T) {
	dir := t.TempDir()
	// The end comes at another moment each time. .ci/run tries it more often, and with --all most.
	const calls = 20
	runs := map[string]int{"1": 200, "3": 60}[os.Getenv("TEST_BMAD_EVERY_CUT")]
	runs = max(runs, 8)
	var input strings.Builder
	input.WriteString(hello)
	for id := 2; id < 2+calls; id++ {
		fmt.Fprintf(&input, "\n"+`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"status"}}}`, id)
	}
	env := isolatedEnv(t)
	for run := range runs {
		cmd := exec.Command(binary)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(input.String())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("run %d: %v, %s", run, err, stderr.String())
		}
		if !strings.Contains(stderr.String(), "BMAD MCP Server running on stdio\n") {
			t.Fatalf("run %d: stderr says %q", run, stderr.String())
		}
		answered := map[float64]bool{}
		for line := range strings.Lines(string(out)) {
			var m struct {
				ID     float64         `json:"id"`
				Result json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Result == nil {
				t.Fatalf("run %d: stdout carries %q", run, line)
			}
			answered[m.ID] = true
		}
		if len(answered) != calls+1 {
			t.Fatalf("run %d: %d of %d requests answered", run, len(answered), calls+1)
		}
		if got := stderr.String(); got != "BMAD MCP Server running on stdio\n" {
			t.Fatalf("stderr: %q", got)
		}
	}
}

func TestSignalsEndCleanly(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		r := raw(t, t.TempDir())
		r.send(hello)
		r.line()
		if err := r.cmd.Process.Signal(sig); err != nil {
			t.Skip(err)
		}
		done := make(chan error, 1)
		go func() { done <- r.cmd.Wait() }()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%v: %v, %s", sig, err, r.stderr)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%v: still running", sig)
		}
	}
}

// TestClosedStderrDoesNotKill closes the pipe that logs go to, as clients do first.
func TestClosedStderrDoesNotKill(t *testing.T) {
	cmd := exec.Command(binary, "--log-level", "debug")
	cmd.Dir, cmd.Env = t.TempDir(), isolatedEnv(t)
	cmd.Stdin = strings.NewReader(hello + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"status"}}}`)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	cmd.Stderr = write
	out, err := cmd.Output()
	_ = write.Close()
	if err != nil || strings.Count(string(out), "\n") != 2 {
		t.Errorf("%v, %q", err, out)
	}
}

func TestInvalidEncodingIsRefused(t *testing.T) {
	dir := t.TempDir()
	r := startGreeted(t, dir)
	for i, objective := range []string{"caf\xe9", `half \ud83d pair`, `\udc00`, `end \ud83d`} {
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"start","objective":"%s"}}}`, i+2, objective))
		if got := r.line(); !strings.Contains(got, "not valid UTF-8") || !strings.Contains(got, `"isError":true`) {
			t.Errorf("%q: %s", objective, got)
		}
	}
	r.send(`{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"start","objective":"whole \ud83d\ude80 \\ud83d pair"}}}`)
	if got := r.line(); strings.Contains(got, `"isError":true`) {
		t.Errorf("a whole pair is refused: %s", got)
	}
}

// textLimit bounds instructions and descriptions, in characters: Claude Code cuts both at 2,048.
const textLimit = 2000

func TestTextsFitTheHosts(t *testing.T) {
	for _, name := range []string{"instructions.md", "task_description.md", "confirm_description.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := len([]rune(string(data))); n > textLimit {
			t.Errorf("%s has %d characters; hosts keep %d", name, n, textLimit)
		}
	}
}
