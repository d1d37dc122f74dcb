//go:build unix

package packaging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// found is what the stand-in of the program finds: texts of a repository that would be commands of a workflow, Markdown,
// or a mention.
const found = `{"ok":false,"strict":false,"base":"origin/main","base_commit":"0123456789abcdef","runs":[
{"task":"sign-in","path":".claude/specs/sign-in/run.json","ok":true,"finished":true,"documents":5,"people":["ann","bob"],"findings":[],"notes":[],
 "risks":[{"stage":"qa","subject":"ann","at":"2026-05-01T12:00:00Z","verdict":"fail"}]},
{"task":"x|<b>","path":".claude/specs/x|<b>/run.json","ok":false,"finished":false,"documents":0,"people":[],
 "findings":[{"rule":"gate","path":".claude/specs/x,y:z/a.md","what":"100% of @everyone\n::error::all is well","do":"[click](http://evil.example)"}],
 "notes":[{"rule":"unfinished","path":"n.md","what":"not finished","do":"wait"}],"risks":[]}],
"notes":[{"rule":"signers","path":".claude/bmad-signers","what":"the list is edited","do":"review it"}]}`

// forge is a fake of GitHub's API, with the workflow of a pull request.
type forge struct {
	t        *testing.T
	address  string
	folder   string
	bin      string
	comments []map[string]any
	refuses  bool     // the token may only read
	calls    []string // as METHOD path
	body     string   // of the last comment
	bearer   string
	event    string
}

func newForge(t *testing.T) *forge {
	t.Helper()
	for _, program := range []string{"bash", "git", "jq", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("SKIPPED: needs " + program)
		}
	}
	f := &forge{t: t, folder: t.TempDir(), bin: t.TempDir(), event: `{"pull_request":{"number":7}}`}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.address = server.URL
	f.program(1, found)
	f.git("init", "-q", "-b", "main")
	f.git("commit", "-q", "--allow-empty", "-m", "one")
	f.git("remote", "add", "origin", f.folder)
	return f
}

// ServeHTTP answers as GitHub does, with a hundred comments on a page.
func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.calls = append(f.calls, r.Method+" "+strings.TrimPrefix(r.URL.String(), "/repos/acme/shop/"))
	f.bearer = r.Header.Get("Authorization")
	if r.Method == http.MethodGet {
		page := 1
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		from := min((page-1)*100, len(f.comments))
		_ = json.NewEncoder(w).Encode(append([]map[string]any{}, f.comments[from:min(from+100, len(f.comments))]...))
		return
	}
	if f.refuses {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	var sent struct{ Body string }
	data, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(data, &sent); err != nil {
		f.t.Errorf("%v: %s", err, data)
	}
	f.body = sent.Body
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte("{}"))
}

func (f *forge) git(args ...string) {
	f.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", f.folder, "-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// program puts a stand-in of the program on the PATH, which says what it was called with.
func (f *forge) program(code int, prints string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.bin, "out"), []byte(prints), 0o600); err != nil {
		f.t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" token=$CHECK_TOKEN >'%s/called'\ncat '%s/out'\nexit %d\n", f.bin, f.bin, code)
	if err := os.WriteFile(filepath.Join(f.bin, "bmad-mcp"), []byte(script), 0o700); err != nil {
		f.t.Fatal(err)
	}
}

// run runs the script, and returns its exit code, what it prints, and the summary of the job.
func (f *forge) run(env ...string) (code int, out, summary string) {
	f.t.Helper()
	work := f.t.TempDir()
	event, steps := filepath.Join(work, "event.json"), filepath.Join(work, "summary")
	if err := os.WriteFile(event, []byte(f.event), 0o600); err != nil {
		f.t.Fatal(err)
	}
	here, err := filepath.Abs("check")
	if err != nil {
		f.t.Fatal(err)
	}
	cmd := exec.CommandContext(f.t.Context(), filepath.Join(here, "check.sh"))
	cmd.Env = append([]string{
		"PATH=" + f.bin + ":" + pathWithoutProgram(), "HOME=" + work, "TMPDIR=" + work, "GITHUB_ACTION_PATH=" + here, "GITHUB_WORKSPACE=" + f.folder, "GITHUB_API_URL=" + f.address,
		"GITHUB_REPOSITORY=acme/shop", "GITHUB_EVENT_PATH=" + event, "GITHUB_STEP_SUMMARY=" + steps, "GITHUB_BASE_REF=main", "GITHUB_REF_NAME=7/merge", "CHECK_TOKEN=secret",
	}, env...)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		f.t.Fatal(err)
	}
	text, _ := os.ReadFile(steps) // it may not have come to it
	if left, _ := filepath.Glob(work + "/tmp.*"); left != nil {
		f.t.Errorf("left behind: %v", left)
	}
	return cmd.ProcessState.ExitCode(), string(said), string(text)
}

func (f *forge) called() string {
	text, err := os.ReadFile(filepath.Join(f.bin, "called"))
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestCheckInAForge: findings are annotations, a summary and one comment; the texts of a repository are neither commands
// nor mentions; and the program does not see the token.
func TestCheckInAForge(t *testing.T) {
	f := newForge(t)
	code, out, summary := f.run()
	want := "::error file=.claude/specs/x%2Cy%3Az/a.md,title=bmad-mcp check (gate)::100%25 of @everyone%0A::error::all is well → [click](http://evil.example)\n" +
		"::notice file=n.md,title=bmad-mcp check (unfinished)::not finished → wait\n" +
		"::warning file=.claude/bmad-signers,title=bmad-mcp check (signers)::the list is edited → review it\n"
	if code != 1 || out != want {
		t.Errorf("%d: %s\nwant %s", code, out, want)
	}
	for _, part := range []string{"there are findings", `| ✓ sign-in | finished | 5 | ann, bob | 1 |`, `✗ x\|\<b\> | in work`, `\[click\](http\://evil.example)`, "@&#8203;everyone", "- sign-in, qa: fail, by ann"} {
		if !strings.Contains(summary, part) {
			t.Errorf("the summary has no %q:\n%s", part, summary)
		}
	}
	if f.called() != "check --cwd . --base refs/remotes/origin/main --json token=" {
		t.Errorf("called with %q", f.called())
	}
	if f.bearer != "Bearer secret" || !slices.Equal(f.calls, []string{"GET issues/7/comments?per_page=100&page=1", "POST issues/7/comments"}) {
		t.Errorf("%q: %q", f.bearer, f.calls)
	}
	if !strings.HasPrefix(f.body, "<!-- bmad-mcp check -->\n") || !strings.Contains(f.body, summary[:100]) {
		t.Errorf("the comment is %q", f.body)
	}
}

// TestCommentIsReplaced: the comment of the last run is written over, on whatever page it is; one of somebody who only
// begins with the mark is not.
func TestCommentIsReplaced(t *testing.T) {
	f := newForge(t)
	for i := range 150 {
		f.comments = append(f.comments, map[string]any{"id": i, "body": "x", "user": map[string]any{"type": "User"}})
	}
	f.comments[3]["body"] = "<!-- bmad-mcp check -->\nfake"
	f.comments[120]["body"], f.comments[120]["user"] = "<!-- bmad-mcp check -->\nold", map[string]any{"type": "Bot"}
	f.program(0, strings.ReplaceAll(found, `"ok":false`, `"ok":true`))
	if code, out, _ := f.run(); code != 0 {
		t.Errorf("%d: %s", code, out)
	}
	if got := f.calls[len(f.calls)-1]; got != "PATCH issues/comments/120" {
		t.Errorf("got %q", f.calls)
	}
}

// TestWithoutAComment: a read token, an event without a pull request, and the setting leave the comment out, and nothing
// else.
func TestWithoutAComment(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *forge)
		env    []string
		calls  int
		says   string
	}{
		"of a fork":        {change: func(f *forge) { f.refuses = true }, calls: 2, says: "the token may not write one"},
		"no network":       {change: func(f *forge) { f.address = "http://127.0.0.1:1" }, says: "the token may not write one"},
		"of a push":        {change: func(f *forge) { f.event = "{}" }},
		"no event":         {change: func(f *forge) { f.event = "" }},
		"not wanted":       {env: []string{"CHECK_COMMENT=false"}},
		"without a token":  {env: []string{"CHECK_TOKEN="}},
		"another base":     {env: []string{"CHECK_BASE=abc", "CHECK_STRICT=true", "CHECK_FOLDER=shop", "CHECK_COMMENT=false"}, says: "::error file=shop/n.md"},
		"of a main branch": {change: func(f *forge) { f.event = "{}" }, env: []string{"GITHUB_BASE_REF=", "GITHUB_REF_NAME=main"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForge(t)
			if c.change != nil {
				c.change(f)
			}
			code, out, summary := f.run(c.env...)
			if code != 1 || len(f.calls) != c.calls || !strings.Contains(out, c.says) || !strings.Contains(out, "::error file=") || summary == "" {
				t.Errorf("%d, %q: %s%s", code, f.calls, out, summary)
			}
		})
	}
}

// TestCheckThatCannotSay: an error of the program is told, and is no pass.
func TestCheckThatCannotSay(t *testing.T) {
	f := newForge(t)
	f.program(2, `{"status":"failed","code":"invalid_argument","error":"this clone is shallow","hint":"fetch the rest"}`)
	if code, out, summary := f.run(); code != 2 || !strings.Contains(out, "::error title=bmad-mcp check::this clone is shallow → fetch the rest") || !strings.Contains(summary, "cannot say") {
		t.Errorf("%d: %s%s", code, out, summary)
	}
	f.program(0, "Usage: bmad-mcp")
	if code, out, _ := f.run(); code != 2 || !strings.Contains(out, "ended with 0 and no result") {
		t.Errorf("%d: %s", code, out)
	}
	f.program(0, `{"ok":true,"runs":[],"notes":[]}`)
	if code, out, summary := f.run(); code != 0 || out != "" || !strings.Contains(summary, "no run in this repository") {
		t.Errorf("%d: %s%s", code, out, summary)
	}
}

// TestOutputOfTheProgram: the script reads what the program prints.
func TestOutputOfTheProgram(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "internal", "cli", "testdata", "check.json"))
	if err != nil {
		t.Fatal(err)
	}
	f := newForge(t)
	f.program(1, string(text))
	code, out, summary := f.run()
	if code != 1 || strings.Count(out, "::error file=.claude/specs/sign-out/") != 4 || !strings.Contains(summary, "✗ sign-out") || !strings.Contains(summary, "sign-in, qa: fail, by bob") {
		t.Errorf("%d: %s%s", code, out, summary)
	}
}

var input = regexp.MustCompile(`inputs\.([a-z]+)`)

// TestActionNamesItsInputs: each input of the action is passed to the script, and each that is passed is one.
func TestActionNamesItsInputs(t *testing.T) {
	text, err := os.ReadFile("check/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("check/check.sh")
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]bool{}
	for variable, value := range action.Runs.Steps[0].Env {
		passed[input.FindStringSubmatch(value)[1]] = true
		if !strings.Contains(string(script), variable) {
			t.Errorf("the script does not read %s", variable)
		}
	}
	for name, in := range action.Inputs {
		if !passed[name] || in.Description == "" {
			t.Errorf("the input %s is not passed on, or not described", name)
		}
	}
	if len(passed) != len(action.Inputs) || action.Runs.Using != "composite" || strings.Contains(action.Runs.Steps[0].Run, "{{") {
		t.Errorf("%+v", action)
	}
}

// TestOtherForges: the template of GitLab and the hook call the command that there is.
func TestOtherForges(t *testing.T) {
	f := newForge(t)
	cmd := exec.Command("check/pre-push")
	cmd.Env = []string{"PATH=" + f.bin + ":" + os.Getenv("PATH")}
	_ = cmd.Run() // it ends with the code of the stand-in
	if got := f.called(); cmd.ProcessState.ExitCode() != 1 || got != "check token=" {
		t.Errorf("%d: called with %q", cmd.ProcessState.ExitCode(), got)
	}
	text, err := os.ReadFile("check/gitlab.yml")
	if err != nil {
		t.Fatal(err)
	}
	var template map[string]struct {
		Script    []string
		Variables map[string]string
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	job := template["bmad-check"]
	f.program(0, "")
	run := exec.Command("bash", "-ec", "git() { :; }\n"+strings.Join(job.Script, "\n"))
	run.Env = []string{"PATH=" + f.bin + ":" + os.Getenv("PATH"), "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main"}
	if out, err := run.CombinedOutput(); err != nil || f.called() != "check --base refs/remotes/origin/main token=" || job.Variables["GIT_DEPTH"] != "0" {
		t.Errorf("%v: %s, called with %q", err, out, f.called())
	}
}
