package headless_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// runCommand runs a command line as the program does for a worker.
func runCommand(ctx context.Context, dir, line string, tail int) workflow.Evidence {
	return verify.Run(ctx, dir, line, time.Now, verify.Limits{Tail: tail, Language: lang.English})
}

// api returns a worker whose model follows a script.
func api(t *testing.T, steps ...fake.Step) (*headless.API, *fake.Provider) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	p := fake.New(steps...)
	return &headless.API{Engine: "api", Provider: func(string) (provider.Provider, error) { return p, nil }, Prices: fake.Prices(), Clock: time.Now, Command: runCommand}, p
}

func use(name string, in map[string]any) fake.Step { return fake.Call(name, in) }

// TestAPIWorks: it reads and writes the project, runs allowed commands alone, and continues its own
// conversation, within the rest of the budget.
func TestAPIWorks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.txt"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, p := api(t,
		use("edit_file", map[string]any{"file_path": "/go.txt", "old_string": "old", "new_string": "new"}),
		fake.Calls(use("bash_command", map[string]any{"command": "cat go.txt"}), use("bash_command", map[string]any{"command": "touch made"}), use("bash_command", map[string]any{"command": "touch other"})),
		fake.Calls(use("write_file", map[string]any{"file_path": "/.bmad-task/x", "content": "x"}), use("write_file", map[string]any{"file_path": "/../outside", "content": "x"})),
		fake.Text("The report."), fake.Text("The second report."))
	var kinds []string
	job := hostcli.Job{Dir: dir, Prompt: "Build it", Writes: true, Left: price.Dollar, Allow: []string{"touch made"}, Tell: func(a hostcli.Activity) { kinds = append(kinds, string(a.Kind)+" "+a.Text) }}
	out, err := w.Work(t.Context(), job)
	if err != nil || out.Text != "The report." || out.Usage[fake.Model].Output == 0 || out.Session == "" {
		t.Fatalf("%+v, %v", out, err)
	}
	for name, want := range map[string]bool{"go.txt": true, "made": true, "other": false, ".bmad-task/x": false, "../outside": false, "outside": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s exists: %v; want %v", name, err == nil, want)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "go.txt")); string(b) != "new" {
		t.Errorf("go.txt is %q", b)
	}
	told := strings.Join(kinds, "\n")
	for _, want := range []string{"began", "uses_tool edit_file /go.txt", "uses_tool bash_command touch made", "counted", "says The"} {
		if !strings.Contains(told, want) {
			t.Errorf("not told: %s\n%s", want, told)
		}
	}
	if r := p.Requests()[0]; strings.Contains(r.System, "ask_user") || !strings.Contains(r.System, dir) {
		t.Errorf("the system prompt:\n%s", r.System)
	}
	job.Session, job.Prompt = out.Session, "Rework it"
	again, err := w.Work(t.Context(), job)
	if err != nil || again.Text != "The second report." || again.Session != out.Session {
		t.Fatalf("%+v, %v", again, err)
	}
	if got := len(p.Requests()[4].Messages); got != 9 {
		t.Errorf("the conversation that goes on has %d messages; want all 9", got)
	}
	if first, second := out.Usage[fake.Model], again.Usage[fake.Model]; second.Output >= first.Output {
		t.Errorf("used %+v, then %+v: the second count has the first in it", first, second)
	}
}

// TestAPIReads: without Writes it cannot change anything.
func TestAPIReads(t *testing.T) {
	dir := t.TempDir()
	w, p := api(t, use("write_file", map[string]any{"file_path": "/a", "content": "x"}), use("bash_command", map[string]any{"command": "mkdir /d"}), fake.Text("The document."))
	if _, err := w.Work(t.Context(), hostcli.Job{Dir: dir, Prompt: "Write it"}); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != ".bmad-task" {
			t.Errorf("it made %s", e.Name())
		}
	}
	for _, tool := range p.Requests()[0].Tools {
		if tool.Name == "write_file" || tool.Name == "edit_file" {
			t.Errorf("it is offered %s", tool.Name)
		}
	}
}

func TestAPIFails(t *testing.T) {
	big := use("read_file", map[string]any{"file_path": "/a"})
	big.Usage = provider.Usage{Input: 1, Output: 60_000}
	for name, c := range map[string]struct {
		step  fake.Step
		final bool
	}{
		"no login":   {fake.Fail(&provider.Error{Status: 401, Type: "authentication_error", Message: "no"}), true},
		"overloaded": {fake.Fail(&provider.Error{Status: 529, Type: "overloaded_error", Message: "busy", Retryable: true}), false},
		"no network": {fake.Fail(&provider.Error{Message: "connection refused", Retryable: true}), false},
		"refusal":    {fake.Stop(provider.Refusal, "No."), false},
		"spent":      {big, true},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := api(t, c.step)
			out, err := w.Work(t.Context(), hostcli.Job{Dir: t.TempDir(), Prompt: "Write it", Left: price.Dollar / 10})
			var f *hostcli.Failure
			if !errors.As(err, &f) || f.Final != c.final || out == nil || out.Text != "" {
				t.Errorf("%+v, %v; want a failure, final: %v", out, err, c.final)
			}
		})
	}
}

// TestAPICancelled: a job that is given up ends, and its conversation can be continued.
func TestAPICancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	slow := fake.Step{Before: func(ctx context.Context, _ provider.Request) error { cancel(); <-ctx.Done(); return ctx.Err() }}
	w, _ := api(t, slow, fake.Text("The document."))
	job := hostcli.Job{Dir: t.TempDir(), Prompt: "Write it"}
	out, err := w.Work(ctx, job)
	if !errors.Is(err, context.Canceled) || out.Session == "" {
		t.Fatalf("%+v, %v", out, err)
	}
	job.Session = out.Session
	if out, err = w.Work(t.Context(), job); err != nil || out.Text != "The document." {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestAPIConversationFile: an edit of the file of an engine's conversation gives the engine no
// command, no file to write and no money.
func TestAPIConversationFile(t *testing.T) {
	dir := t.TempDir()
	w, p := api(t, fake.Text("The document."), fake.Calls(use("bash_command", map[string]any{"command": "touch made"}), use("write_file", map[string]any{"file_path": "/made", "content": "x"})), fake.Text("Done."))
	job := hostcli.Job{Dir: dir, Prompt: "Write it", Left: price.Dollar}
	out, err := w.Work(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, filepath.FromSlash(sdk.StateFile(out.Session)))
	data, err := os.ReadFile(name)
	var state map[string]any
	if err == nil {
		err = json.Unmarshal(data, &state)
	}
	if err != nil {
		t.Fatal(err)
	}
	state["options"] = map[string]any{"commands": []string{"touch made"}, "max_tokens": 1 << 40, "rounds": 1 << 40, "cost_limit_nano_usd": 1000 * price.Dollar}
	state["costs"] = []any{map[string]any{"model": fake.Model, "spent_nano_usd": int64(9e18), "usage": map[string]any{"output": int64(9e18)}}}
	if data, err = json.Marshal(state); err == nil {
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	job.Session, job.Left = out.Session, price.Dollar/100
	again, err := w.Work(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("it was made")
	}
	if u := again.Usage[fake.Model]; u.Output <= 0 || u.Output > 20_000 {
		t.Errorf("used %+v", u)
	}
	if r := p.Requests()[1]; r.MaxTokens > 5_000 {
		t.Errorf("an answer of %d tokens is asked for with a cent left", r.MaxTokens)
	}
}
