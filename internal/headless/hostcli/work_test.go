package hostcli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// engine has the methods of both engines.
type engine interface {
	Name() string
	Work(context.Context, hostcli.Job) (*hostcli.Outcome, error)
	Recall(hostcli.Job, []byte) (*hostcli.Outcome, error)
}

// stand returns an engine whose program is the stand-in, in a home of its own.
func stand(t *testing.T, name, home string, env ...string) engine {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + os.TempDir()}, env...)
	if name == "codex" {
		return &hostcli.Codex{Path: path, Env: env}
	}
	return &hostcli.Claude{Path: path, Env: env}
}

// TestWork has each engine read the output of its program, and compares the activities and the result.
func TestWork(t *testing.T) {
	t.Parallel()
	home := scratch.Dir(t)
	exits := map[string]string{
		"claude/budget": "1", "claude/exit-1": "1", "claude/key": "1", "claude/limit": "1", "claude/no-login": "1", "claude/overloaded": "1", "claude/turns": "1", "claude/unknown-session": "1",
		"claude/nothing": "1", "claude/unreachable": "1", "codex/key": "1", "codex/limit": "1", "codex/model": "1", "codex/nothing": "1",
	}
	words := map[string]string{
		"claude/nothing": "starting\nerror: unknown option '--disable-slash-commands'\n",
		"codex/nothing":  "warning: something\nError: thread/resume failed: no rollout found, api_key=sk-abcdefghijklmnop12345\n\nStack backtrace:\n   0: <unknown>\n",
	}
	sessions := map[string]string{"codex/continued": "01a20526-8bab-7900-9b1a-2093f678beda+300.120.0.60"}
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, _, _ := strings.Cut(name, "/")
			e := stand(t, kind, home, "STANDIN=print", "STANDIN_FILE="+file, "STANDIN_EXIT="+exits[name], "STANDIN_WORDS="+words[name])
			dir, err := os.Getwd() // the folder of the file
			if err != nil {
				t.Fatal(err)
			}
			var raw bytes.Buffer
			var got strings.Builder
			job := hostcli.Job{Dir: dir, Session: sessions[name], Model: "the-model", Writes: true, Raw: &raw}
			job.Tell = func(a hostcli.Activity) {
				line, _ := json.Marshal(a)
				got.WriteString(strings.ReplaceAll(string(line), dir, "DIR") + "\n")
			}
			out, err := e.Work(context.Background(), job)
			text, _ := json.MarshalIndent(out, "", "\t")
			got.WriteString(string(text) + "\n")
			if err != nil {
				var failure *hostcli.Failure
				if !errors.As(err, &failure) {
					t.Fatalf("%T: %v", err, err)
				}
				fmt.Fprintf(&got, "%v (final: %v, spent: %v)\n", err, failure.Final, failure.Spent)
			}
			printed, _ := os.ReadFile(file)
			if want := strings.TrimRight(string(printed), "\n"); strings.TrimRight(raw.String(), "\n") != want {
				t.Errorf("the raw lines are\n%s\nwant\n%s", raw.String(), want)
			}
			job.Tell, job.Raw = nil, nil
			recalled, again := e.Recall(job, raw.Bytes())
			if recalled.Session = out.Session; (err == nil) != (again == nil) && exits[name] == "" || !reflect.DeepEqual(recalled, out) { // which has no exit code
				t.Errorf("from the kept output: %+v, %v", recalled, again)
			}
			for at, c := range raw.Bytes() { // of a program that was killed
				if c != '\n' || at == raw.Len()-1 || err != nil || strings.Contains(raw.String()[at+1:], `"type":"item.completed"`) {
					continue
				}
				if cut, err := e.Recall(job, raw.Bytes()[:at+1]); err == nil && !strings.Contains(raw.String()[:at], `"type":"result"`) && !strings.Contains(raw.String()[:at], `"type":"turn.completed"`) {
					t.Errorf("from the beginning of the output: %+v", cut)
				}
			}
			shown := got.String()
			if out != nil && kind == "claude" && !strings.Contains(string(printed), out.Session) {
				shown = strings.ReplaceAll(shown, out.Session, "NEW") // of our own choice
			}
			golden.Check(t, strings.TrimSuffix(file, ".jsonl")+".golden", shown)
		})
	}
}

// call is a call of the stand-in.
type call struct {
	Args, Env             []string
	Prompt, Settings, Dir string
}

func record(t *testing.T, name, home string, job hostcli.Job, env ...string) (call, error) {
	t.Helper()
	file := filepath.Join(scratch.Dir(t), "call.json")
	_, err := stand(t, name, home, append(env, "STANDIN=record", "STANDIN_FILE="+file)...).Work(context.Background(), job)
	data, readErr := os.ReadFile(file)
	if readErr != nil {
		return call{}, err
	}
	var c call
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c, err
}

// TestArguments compares the command line of each kind of job.
func TestArguments(t *testing.T) {
	t.Parallel()
	const id = "01a20526-8bab-7900-9b1a-2093f678beda"
	jobs := map[string]hostcli.Job{
		"reads":     {},
		"writes":    {Writes: true, Allow: []string{"go test ./...", " npm run lint"}, Model: "m-1", Left: 1_250_000_000},
		"continues": {Writes: true, Session: id, Left: price.Dollar / 1000},
	}
	home := scratch.Dir(t)
	write(t, filepath.Join(home, ".claude/settings.json"), `{"env":{"ANTHROPIC_BASE_URL":"https://gateway.example"},"apiKeyHelper":"/bin/key","hooks":{"PreToolUse":[]},
		"permissions":{"allow":["Write","Bash(*)"],"deny":["Read(./secrets/**)"],"ask":["Bash(git push:*)"],"defaultMode":"bypassPermissions","additionalDirectories":["/"]},"enabledPlugins":{"bmad@bmad":true}}`)
	write(t, filepath.Join(home, ".codex/config.toml"), `
model = "gpt-5.5"
model_provider = "corp"
approval_policy = "never"
sandbox_mode = "danger-full-access"
notify = ["say", "done"]
[model_providers.corp]
name = "Corp \"EU\""
base_url = "https://corp.example/v1"
env_key = "CORP_KEY"
request_max_retries = 3
query_params = { version = "2" }
[model_providers.other]
experimental_bearer_token = "never-used"
[mcp_servers.bmad]
command = "bmad-mcp"
[projects."/"]
trust_level = "trusted"
`)
	for name, job := range jobs {
		for _, kind := range []string{"claude", "codex"} {
			dir := scratch.Dir(t)
			job.Dir, job.Prompt = dir, "-do \"this\"\n/and that"
			c, err := record(t, kind, home, job)
			var failure *hostcli.Failure
			if !errors.As(err, &failure) || failure.Why != "it ended without a result" {
				t.Fatalf("%s: %v", kind, err)
			}
			if real, _ := filepath.EvalSymlinks(dir); c.Prompt != job.Prompt || c.Dir != dir && c.Dir != real {
				t.Errorf("%s is told %q in %s", kind, c.Prompt, c.Dir)
			}
			args := strings.ReplaceAll(strings.Join(c.Args, "\n"), dir, "DIR")
			if at := slices.Index(c.Args, "--session-id"); at >= 0 {
				args = strings.ReplaceAll(args, c.Args[at+1], "NEW")
			}
			golden.Check(t, "testdata/args/"+kind+"-"+name+".golden", args+"\n"+strings.ReplaceAll(c.Settings, `","`, "\",\n\"")+"\n")
		}
	}
}

// TestModelOf checks which model Codex names before the work.
func TestModelOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ settings, model, want string }{
		"no settings": {"", "", "codex"},
		"settings":    {`model = "gpt-x"`, "", "gpt-x"},
		"named":       {`model = "gpt-x"`, "gpt-y", "gpt-y"},
		"broken":      {`model = `, "", "codex"},
	} {
		home := scratch.Dir(t)
		if c.settings != "" {
			write(t, filepath.Join(home, ".codex/config.toml"), c.settings)
		}
		e := stand(t, "codex", home).(interface{ ModelOf(hostcli.Job) string })
		if got := e.ModelOf(hostcli.Job{Model: c.model}); got != c.want {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
	}
}

// TestEnvironment checks that an engine neither gets our settings nor believes that it runs inside
// another.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	home := scratch.Dir(t)
	for _, kind := range []string{"claude", "codex"} {
		c, _ := record(t, kind, home, hostcli.Job{Dir: home}, "BMAD_POLICY=lax", "bmad_x=1", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CODEX_SANDBOX=seatbelt",
			"ANTHROPIC_API_KEY=k1", "OPENAI_API_KEY=k2", "CLAUDE_CODE_USE_BEDROCK=1", "MY_BMAD_X=kept")
		for _, entry := range c.Env {
			name, _, _ := strings.Cut(entry, "=")
			if strings.HasPrefix(strings.ToUpper(name), "BMAD_") || slices.Contains([]string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX"}, name) {
				t.Errorf("%s is given %s", kind, entry)
			}
		}
		for _, want := range []string{"ANTHROPIC_API_KEY=k1", "OPENAI_API_KEY=k2", "CLAUDE_CODE_USE_BEDROCK=1", "MY_BMAD_X=kept", "HOME=" + home} {
			if !slices.Contains(c.Env, want) {
				t.Errorf("%s is not given %s", kind, want)
			}
		}
	}
}

// TestRefused checks that a text that would become an option or a rule of its own starts no program.
func TestRefused(t *testing.T) {
	t.Parallel()
	home, secret := scratch.Dir(t), scratch.Dir(t)
	write(t, filepath.Join(secret, ".codex/config.toml"), "model_provider = \"corp\"\n[model_providers.corp]\nexperimental_bearer_token = \"t0psecret\"\n")
	broken := scratch.Dir(t)
	write(t, filepath.Join(broken, ".codex/config.toml"), "model_provider = \n")
	for name, c := range map[string]struct {
		kind, home string
		job        hostcli.Job
		why        string
		final      bool
	}{
		"an option as a session":          {"claude", home, hostcli.Job{Session: "--dangerously-skip-permissions"}, "not the name of one of its sessions", false},
		"an option as a session of codex": {"codex", home, hostcli.Job{Session: "--dangerously-bypass-approvals-and-sandbox"}, "not the name of one of its sessions", false},
		"a rule in a rule":                {"claude", home, hostcli.Job{Writes: true, Allow: []string{"go test", "x:*),Write,Bash(y"}}, "cannot be a rule", true},
		"any command":                     {"claude", home, hostcli.Job{Writes: true, Allow: []string{"*"}}, "cannot be a rule", true},
		"no command":                      {"claude", home, hostcli.Job{Writes: true, Allow: []string{" "}}, "cannot be a rule", true},
		"a credential in the settings":    {"codex", secret, hostcli.Job{}, "experimental_bearer_token", true},
		"settings that cannot be read":    {"codex", broken, hostcli.Job{}, "config.toml cannot be read", false},
	} {
		c.job.Dir = home
		made, err := record(t, c.kind, c.home, c.job)
		var failure *hostcli.Failure
		if !errors.As(err, &failure) || !strings.Contains(failure.Why, c.why) || failure.Final != c.final || strings.Contains(failure.Why, "t0psecret") || made.Args != nil {
			t.Errorf("%s: %+v, %v, called with %v", name, failure, err, made.Args)
		}
	}
	for _, kind := range []string{"claude", "codex"} {
		var e engine = &hostcli.Claude{Path: filepath.Join(home, "none")}
		if kind == "codex" {
			e = &hostcli.Codex{Path: filepath.Join(home, "none"), Env: []string{"HOME=" + home}}
		}
		var failure *hostcli.Failure
		if _, err := e.Work(context.Background(), hostcli.Job{Dir: home}); !errors.As(err, &failure) || !failure.Final || failure.Engine != kind {
			t.Errorf("without a program: %v", err)
		}
	}
}

// TestLongLines checks that a line that is too long is left out, and that too much output ends the
// program.
func TestLongLines(t *testing.T) {
	t.Parallel()
	home := scratch.Dir(t)
	dir, _ := os.Getwd()
	e := stand(t, "claude", home, "STANDIN=flood", "STANDIN_THEN=testdata/claude/done.jsonl")
	out, err := e.Work(context.Background(), hostcli.Job{Dir: dir})
	if err != nil || out.Text == "" {
		t.Errorf("after one line of 17 MB: %+v, %v", out, err)
	}
	if testing.Short() {
		return
	}
	var failure *hostcli.Failure
	e = stand(t, "codex", home, "STANDIN=flood", "STANDIN_MB=600", "STANDIN_THEN=testdata/codex/done.jsonl")
	if _, err = e.Work(context.Background(), hostcli.Job{Dir: dir}); !errors.As(err, &failure) || !strings.Contains(failure.Why, "it printed more than") {
		t.Errorf("after 600 MB: %v", err)
	}
}

// TestEnds checks that a call ends all that it started, be it by itself, by its time or by its context.
func TestEnds(t *testing.T) {
	t.Parallel()
	home := scratch.Dir(t)
	dir, _ := os.Getwd()
	for _, kind := range []string{"claude", "codex"} {
		for _, how := range []string{"leave", "hang", "stubborn", "cancel", "linger", "linger on", "cancel late"} {
			t.Run(kind+" "+how, func(t *testing.T) {
				t.Parallel()
				pid := filepath.Join(scratch.Dir(t), "pid")
				do := how
				switch how {
				case "cancel":
					do = "hang"
				case "cancel late":
					do = "linger"
				}
				e := stand(t, kind, home, "STANDIN="+do, "STANDIN_FILE="+pid, "STANDIN_THEN=testdata/"+kind+"/done.jsonl")
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				job := hostcli.Job{Dir: dir, Tell: func(hostcli.Activity) {}}
				switch how {
				case "cancel":
					job.Tell = func(hostcli.Activity) { cancel() } // it has begun
				case "cancel late":
					job.Raw = onResult(cancel)
				case "hang", "stubborn":
					ctx, cancel = context.WithTimeout(ctx, time.Second)
					defer cancel()
				}
				out, err := e.Work(ctx, job)
				switch {
				case (how == "leave" || do == "linger" || how == "linger on") && (err != nil || out.Text == ""):
					t.Errorf("%+v, %v", out, err)
				case how == "cancel" && !errors.Is(err, context.Canceled):
					t.Errorf("%v", err)
				case (how == "hang" || how == "stubborn") && !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("%v", err)
				}
				gone(t, pid)
			})
		}
	}
}

// onResult is a writer that is called with the last line of an engine's output.
type onResult func()

func (f onResult) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(`"type":"result"`)) || bytes.Contains(p, []byte(`"type":"turn.completed"`)) {
		f()
	}
	return len(p), nil
}

// TestAnotherTurn checks that a program is not ended while another turn follows a result.
func TestAnotherTurn(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/claude/done.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, turn, _ := bytes.Cut(data, []byte("\n"))
	dir := scratch.Dir(t)
	write(t, filepath.Join(dir, "program"), "#!/bin/sh\ncat >/dev/null\ncat one; sleep 0.3; head -n 1 two; sleep 1.5; cat two\n")
	write(t, filepath.Join(dir, "one"), string(data))
	write(t, filepath.Join(dir, "two"), strings.ReplaceAll(string(turn), `"type":"result"`, `"again":1,"type":"result"`))
	if runtime.GOOS == "windows" || os.Chmod(filepath.Join(dir, "program"), 0o700) != nil {
		t.Skip("the stand-in is a script for a shell")
	}
	var raw bytes.Buffer
	e := &hostcli.Claude{Path: filepath.Join(dir, "program"), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir()}}
	if _, err := e.Work(context.Background(), hostcli.Job{Dir: dir, Raw: &raw}); err != nil || !strings.Contains(raw.String(), `"again":1`) {
		t.Errorf("%v after\n%s", err, raw.String())
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
