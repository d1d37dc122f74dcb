package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

const kitScript = "_bmad/_config/custom/cc-verify.sh"

// bench is a project with a person who can allow its contracts.
type bench struct {
	t        *testing.T
	dir, own string
	person   *permission.Person
	runner   *contract.Runner
	language lang.Language
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the scripts of the kits are for bash, which this machine does not have")
	}
	b := &bench{t: t, dir: t.TempDir(), own: t.TempDir(), language: lang.English}
	b.person = &permission.Person{Consent: trust.UserState(t.TempDir()), Names: standing.Names{Program: "bmad-mcp"}, Now: time.Now}
	b.runner = contract.New(b.person)
	return b
}

// put writes a file of the project.
func (b *bench) put(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) open() *project.Project {
	b.t.Helper()
	p, err := project.New(project.Options{
		Backend:  storetest.At,
		Settings: config.Source{UserFolder: b.own}, Language: b.language,
	}).Open(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(p.Close)
	return p
}

// allow allows everything that the project asks for, and returns it.
func (b *bench) allow() (allowed []string) {
	b.t.Helper()
	wants, err := b.person.In(b.open()).Wants()
	for _, w := range wants {
		if !w.Allowed {
			allowed = append(allowed, strings.TrimSpace(w.Kind+" "+w.Text+" "+w.Note))
			err = errors.Join(err, b.person.Allow(b.t.Context(), w))
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return allowed
}

func (b *bench) run(call contract.Call) (contract.Result, error) {
	return b.runner.Run(b.t.Context(), b.open(), call, nil)
}

// check runs the contract, which must come to an outcome.
func (b *bench) check(call contract.Call, want contract.Status) contract.Result {
	b.t.Helper()
	got, err := b.run(call)
	if err != nil || got.Status != want {
		b.t.Fatalf("got %+v, %v; want %s", got, err, want)
	}
	return got
}

// refuse runs the contract, which must be refused with a code and a sentence.
func (b *bench) refuse(call contract.Call, code fault.Code, words string) {
	b.t.Helper()
	got, err := b.run(call)
	if f := fault.From(err); err == nil || f.Code != code || f.Hint == "" || !strings.Contains(f.Message, words) {
		b.t.Errorf("got %+v, %v; want %s with %q", got, err, code, words)
	}
}

// TestScriptStatus runs scripts that end as those of the kits do.
func TestScriptStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		want   contract.Status
		exit   int
		stack  string
	}{
		"it passes":                {`printf '\033[0;32m\033[1m✅ CC PASS — [go, typescript] — 2026-01-02 03:04:05\033[0m\n'`, contract.Pass, 0, "go, typescript"},
		"it fails":                 {`printf '\033[0;31m🔴 CC FAIL — [go] — 2026-01-02\033[0m\n'; exit 1`, contract.Fail, 1, "go"},
		"it fails without a line":  {"exit 1", contract.Fail, 1, "auto"},
		"its line contradicts it":  {"echo CC FAIL; exit 0", contract.Fail, 0, "auto"},
		"both lines":               {"echo CC PASS; echo CC FAIL", contract.Fail, 0, "auto"},
		"a failure before a flood": {"echo '🔴 CC FAIL — [go]'; yes | head -c 200000; echo CC PASS", contract.Fail, 0, "go"},
		"a line without its end":   {"printf 'CC PASS'", contract.Pass, 0, "auto"},
		"a carriage return":        {`printf 'checking 10%%\rCC PASS\r\n'`, contract.Pass, 0, "auto"},
		"it knows no stack":        {"echo '⚠️  Aucun stack détecté'", contract.Skipped, 0, "auto"},
		"it speaks of a pass":      {"echo 'expected the line CC PASS'; echo 'CC PASSED'", contract.Skipped, 0, "auto"},
		"a pass and a wrong code":  {"echo CC PASS; exit 2", contract.Error, 2, "auto"},
		"it uses flags wrongly":    {"cd --stack", contract.Error, 2, "auto"},
		"it is not found":          {"exec bmad-no-such-command", contract.Error, 127, "auto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.put(kitScript, "#!/usr/bin/env bash\n"+tt.script+"\n")
			b.allow()
			got := b.check(contract.Call{}, tt.want)
			if got.ExitCode == nil || *got.ExitCode != tt.exit || got.Stack != tt.stack || got.Command != "bash "+kitScript {
				t.Errorf("got %+v, want the exit code %d and the stack %q", got, tt.exit, tt.stack)
			}
			if strings.ContainsRune(got.Output, '\x1b') || len(got.Output) > 4<<10 {
				t.Errorf("the output has %d bytes: %.80q", len(got.Output), got.Output)
			}
		})
	}
}

// TestScriptRunsAsItWasAllowed: neither a new nor a changed script runs, and one that has come
// back to a former content is asked about again.
func TestScriptRunsAsItWasAllowed(t *testing.T) {
	b := newBench(t)
	const first, second = "echo first; echo CC PASS\n", "touch ran; echo CC PASS\n"
	b.put(kitScript, first)
	b.refuse(contract.Call{}, fault.NotAllowed, "you have not allowed it in this project yet")
	if got := b.allow(); len(got) != 1 || got[0] != "contract "+kitScript {
		t.Fatalf("asked for %q", got)
	}
	if got := b.check(contract.Call{}, contract.Pass); got.Output != "first\nCC PASS" {
		t.Errorf("got %+v", got)
	}
	b.put(kitScript, second)
	b.refuse(contract.Call{}, fault.NotAllowed, kitScript+" has changed since you allowed it")
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("the changed script ran")
	}
	if got := b.allow(); len(got) != 1 || !strings.Contains(got[0], "has changed since you allowed it") {
		t.Errorf("asked for %q", got)
	}
	b.check(contract.Call{}, contract.Pass)
	b.put(kitScript, first)
	b.refuse(contract.Call{}, fault.NotAllowed, "has changed")
}

// TestScriptIsWhatWasChecked replaces the file of a script while it runs: bash, which reads a
// file piece by piece, would run the new text.
func TestScriptIsWhatWasChecked(t *testing.T) {
	b := newBench(t)
	b.put(kitScript, `printf 'touch ran; echo CC FAIL\n%.0s' {1..50} > "$0"
sleep 0
[[ $(dirname "$0") == "`+filepath.Join(b.dir, filepath.Dir(kitScript))+`" && $# == 0 ]] && echo CC PASS
`)
	b.allow()
	b.check(contract.Call{}, contract.Pass)
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("the replaced file ran")
	}
}

// TestScriptEnvironment: the stack is in CC_STACK and nowhere else, whatever the server's own
// environment has.
func TestScriptEnvironment(t *testing.T) {
	b := newBench(t)
	t.Setenv("CC_STACK", "inherited")
	t.Setenv("BMAD_LANGUAGE", "en")
	b.put(kitScript, `echo "stack=${CC_STACK-none} ci=$CI bmad=${BMAD_LANGUAGE-none} args=$# in=$(cat)"; pwd; echo CC PASS`)
	b.put("web/x", "")
	b.allow()
	real, err := filepath.EvalSymlinks(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[contract.Call]string{
		{}:                         "stack=none ci=1 bmad=none args=0 in=\n" + real + "\nCC PASS",
		{Stack: "auto", Dir: "."}:  "stack=none ci=1 bmad=none args=0 in=\n" + real + "\nCC PASS",
		{Stack: "k8s", Dir: "web"}: "stack=k8s ci=1 bmad=none args=0 in=\n" + real + "/web\nCC PASS",
		{Stack: "go", Dir: real}:   "stack=go ci=1 bmad=none args=0 in=\n" + real + "\nCC PASS",
		{Dir: filepath.Join(real, "web", "..", "web")}: "stack=none ci=1 bmad=none args=0 in=\n" + real + "/web\nCC PASS",
	} {
		if got := b.check(call, contract.Pass); got.Output != want {
			t.Errorf("%+v: got %q, want %q", call, got.Output, want)
		}
	}
}

// TestHostileArguments: arguments of a caller never reach a shell, and no folder outside of the
// project is entered.
func TestHostileArguments(t *testing.T) {
	b := newBench(t)
	b.put(kitScript, "touch ran; echo CC PASS")
	b.put("a file", "")
	b.allow()
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(b.dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, stack := range []string{"go; touch ran", "$(touch ran)", "--stack=go", "Go", "go\nPATH=.", "react"} {
		b.refuse(contract.Call{Stack: stack}, fault.InvalidArgument, "unknown stack")
	}
	for _, dir := range []string{"..", "../..", "/", outside, "out", "out/x", "missing", "a file", "a\x00b", "`touch ran`", "-", "--changed-only", filepath.Join(b.dir, "..")} {
		b.refuse(contract.Call{Dir: dir}, fault.InvalidArgument, "working_dir")
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("something ran")
	}
	inside := "a $(touch x) '; touch x #"
	b.put(inside+"/y", "")
	b.check(contract.Call{Dir: inside}, contract.Pass)
	if _, err := os.Stat(filepath.Join(b.dir, inside, "ran")); err != nil {
		t.Error("it did not run in the folder of that name")
	}
}

// TestUnreadableScript: a script that is no regular file of the project is refused, and not waited
// for.
func TestUnreadableScript(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "cc.sh")
	if err := os.WriteFile(outside, []byte("echo CC PASS"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"a link out": func(path string) error { return os.Symlink(outside, path) },
		"a folder":   func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe":     func(path string) error { return exec.Command("mkfifo", path).Run() },
		"too large":  func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("#", 200<<10)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put(filepath.Dir(kitScript)+"/x", "")
			if err := make(filepath.Join(b.dir, kitScript)); err != nil {
				t.Fatal(err)
			}
			b.refuse(contract.Call{}, fault.Storage, "cannot be read")
			if got := b.allow(); len(got) != 0 {
				t.Errorf("asked for %q", got)
			}
		})
	}
}

// TestVerifyComesFirst: the settings' command is the contract if there is one, with the allowance
// that runs have for it.
func TestVerifyComesFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		settings string
		want     contract.Status
		exit     int
	}{
		"it passes":         {"verify: echo fine", contract.Pass, 0},
		"that of qa":        {"stages:\n  qa:\n    verify: echo fine\n", contract.Pass, 0},
		"it fails":          {"verify: exit 3", contract.Fail, 3},
		"it is not found":   {"verify: bmad-no-such-command", contract.Error, 127},
		"it cannot execute": {"verify: ./a-file", contract.Error, 126},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.put(kitScript, "echo CC PASS")
			b.put("a-file", "no program")
			b.put(config.ProjectFile, tt.settings)
			b.refuse(contract.Call{}, fault.NotAllowed, "was not run: you have not allowed it in this project yet")
			if got := b.allow(); len(got) != 1 || !strings.HasPrefix(got[0], "verify ") {
				t.Fatalf("asked for %q", got)
			}
			got := b.check(contract.Call{Stack: "go"}, tt.want)
			if got.ExitCode == nil || *got.ExitCode != tt.exit || "verify: "+got.Command != strings.TrimSpace(tt.settings[strings.Index(tt.settings, "verify"):]) {
				t.Errorf("got %+v", got)
			}
			b.refuse(contract.Call{Dir: "_bmad"}, fault.InvalidArgument, "for the whole project")
		})
	}
}

// TestVerifyNotes: a file of the command that has changed is named, as in a run.
func TestVerifyNotes(t *testing.T) {
	b := newBench(t)
	b.put(config.ProjectFile, "verify: sh check.sh")
	b.put("check.sh", "echo fine")
	b.allow()
	b.put("check.sh", "echo other")
	if got := b.check(contract.Call{}, contract.Pass); len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "check.sh has changed since you allowed it") {
		t.Errorf("got %+v", got)
	}
}

// TestBoundedOutput keeps the end of a flood, in lines.
func TestBoundedOutput(t *testing.T) {
	b := newBench(t)
	b.put(config.ProjectFile, "verify: seq 1 200000")
	b.allow()
	got := b.check(contract.Call{}, contract.Pass)
	if len(got.Output) > 4<<10 || len(got.Output) < 3<<10 || !strings.HasSuffix(got.Output, "\n199999\n200000") || strings.HasPrefix(got.Output, "0") {
		t.Errorf("got %d bytes: %.40q", len(got.Output), got.Output)
	}
}

// TestTimeout ends the whole group of a script that takes too long.
func TestTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(config.ProjectFile, "verify_timeout: 1s")
	b.put(kitScript, "echo CC PASS; sleep 600 & echo $! > child; wait")
	b.allow()
	got := b.check(contract.Call{}, contract.Error)
	if got.ExitCode != nil || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "longer than verify_timeout allows") {
		t.Errorf("got %+v", got)
	}
	b.waitForEnd("child")
}

// waitForEnd waits until the process whose number a file has is gone.
func (b *bench) waitForEnd(name string) {
	b.t.Helper()
	pid, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	for exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run() == nil {
		if b.t.Context().Err() != nil {
			b.t.Fatal("it still runs")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// waitForFile waits until a file of the project exists.
func (b *bench) waitForFile(name string) {
	b.t.Helper()
	for b.t.Context().Err() == nil {
		if _, err := os.Stat(filepath.Join(b.dir, name)); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestGivenUp ends the group when the call is given up, and lets a call that waits for the same
// run the contract itself.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Hidden files are not part of the work, so that the second call shares the first.
	b.put(kitScript, "mkdir -p .x; if [[ -e .x/child ]]; then echo CC PASS; else sleep 600 & echo $! > .x/new; mv .x/new .x/child; wait; fi")
	b.allow()
	ctx, cancel := context.WithCancel(t.Context())
	var both sync.WaitGroup
	both.Go(func() {
		if got, err := b.runner.Run(ctx, b.open(), contract.Call{}, nil); err == nil && got.Status != contract.Error {
			t.Errorf("got %+v, want no outcome", got)
		}
	})
	b.waitForFile(".x/child")
	both.Go(func() { b.check(contract.Call{}, contract.Pass) })
	cancel()
	both.Wait()
	b.waitForEnd(".x/child")
}

// noting is a context that reports when somebody waits for its end.
type noting struct {
	context.Context
	waits func()
}

func (n noting) Done() <-chan struct{} {
	n.waits()
	return n.Context.Done()
}

// TestTwoAtOnce: a call for the same waits and shares the result; any other is refused.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Hidden files are not part of the work.
	b.put(kitScript, "mkdir -p .x; echo run >> .x/runs; until [[ -e .x/go ]]; do sleep 0.02; done; echo CC PASS; wc -l < .x/runs")
	b.put("web/x", "")
	b.allow()
	var all, waiting sync.WaitGroup
	run := func(ctx context.Context) {
		p := b.open()
		all.Go(func() {
			if got, err := b.runner.Run(ctx, p, contract.Call{}, nil); err != nil || got.Status != contract.Pass || strings.Join(strings.Fields(got.Output), " ") != "CC PASS 1" {
				t.Errorf("got %+v, %v; want the result of the only run", got, err)
			}
		})
	}
	run(t.Context())
	b.waitForFile(".x/runs")
	for range 3 {
		waiting.Add(1)
		run(noting{t.Context(), sync.OnceFunc(waiting.Done)})
	}
	b.refuse(contract.Call{Stack: "go"}, fault.Conflict, "for another stack or folder")
	b.refuse(contract.Call{Dir: "web"}, fault.Conflict, "for another stack or folder")
	waiting.Wait()
	b.put("web/x", "changed")
	b.refuse(contract.Call{}, fault.Conflict, "files have changed since it began")
	b.put(".x/go", "")
	all.Wait()
	if got := b.check(contract.Call{}, contract.Pass); !strings.HasSuffix(got.Output, "2") {
		t.Errorf("got %+v, want a run of its own", got)
	}
}

// TestProposals: a project without a contract gets a proposal, and nothing runs.
func TestProposals(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		call  contract.Call
		stack string
		want  string
	}{
		"nothing":            {nil, contract.Call{}, "auto", ""},
		"go":                 {[]string{"go.mod"}, contract.Call{}, "go", "go build ./... && go vet ./... && go test ./..."},
		"typescript":         {[]string{"package.json"}, contract.Call{Stack: "typescript"}, "typescript", "npm test"},
		"python":             {[]string{"requirements-dev.txt"}, contract.Call{}, "python", "python -m pytest"},
		"terraform":          {[]string{"main.tf"}, contract.Call{}, "terraform", "terraform init -backend=false && terraform validate"},
		"ansible":            {[]string{"playbook-web.yml"}, contract.Call{}, "ansible", "ansible-lint"},
		"docker":             {[]string{"Dockerfile"}, contract.Call{}, "docker", "docker build --check ."},
		"k8s":                {[]string{"manifests/web.yaml"}, contract.Call{}, "k8s", "kubectl apply --dry-run=client -R -f manifests"},
		"two":                {[]string{"setup.py", "go.mod"}, contract.Call{}, "go, python", "go build ./... && go vet ./... && go test ./... && python -m pytest"},
		"one of two":         {[]string{"setup.py", "go.mod"}, contract.Call{Stack: "python"}, "python", "python -m pytest"},
		"another":            {[]string{"go.mod"}, contract.Call{Stack: "docker"}, "docker", ""},
		"a folder":           {[]string{"it's/go.mod"}, contract.Call{Dir: "it's"}, "go", `cd 'it'\''s' && go build ./... && go vet ./... && go test ./...`},
		"a folder by a name": {[]string{"Dockerfile/x", "go.mod/y"}, contract.Call{}, "auto", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for _, file := range tt.files {
				b.put(file, "")
			}
			got := b.check(tt.call, contract.Skipped)
			if got.Stack != tt.stack || got.Proposed != tt.want || got.Command != "" || got.ExitCode != nil || !strings.Contains(got.Hint, "bmad-mcp allow") {
				t.Errorf("got %+v, want %q of %q", got, tt.want, tt.stack)
			}
			if data, err := json.Marshal(got); err != nil || !strings.HasPrefix(string(data), `{"status":"SKIPPED","stack":`) {
				t.Errorf("%s, %v", data, err)
			}
		})
	}
}

// TestInChinese: the sentences are in the person's language, the keys and statuses are not.
func TestInChinese(t *testing.T) {
	b := newBench(t)
	b.language = lang.Language("zh")
	if got := b.check(contract.Call{}, contract.Skipped); len(got.Notes) != 1 || strings.Contains(got.Notes[0], "nothing") {
		t.Errorf("got %+v", got)
	}
}
