package web_test

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// codeReview fails two of the changed lines, and a file that was not changed.
const codeReview = "# Review\n\nStatus: fail\n\n```json\n" + `{"findings": [
 {"id": "R1", "severity": "critical", "file": "internal/signin/spend.go:14", "problem": "The token is spent after the session is opened.", "fix": "one UPDATE"},
 {"id": "R2", "severity": "major", "file": "routes.go", "line": 3, "problem": "The limit counts by address only.", "fix": "count by network"},
 {"id": "R3", "severity": "minor", "file": "mail.go:9", "problem": "The mail is in English only.", "fix": "translate it"}]}` + "\n```\n"

// signIn brings a run in a repository to a failed review of changed code: text, new, deleted, renamed, binary, generated
// and vendored files, a link out, a long line, and names that hide something.
func (w *world) signIn() (folder, session string) {
	w.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.t.Skip("SKIPPED: needs git")
	}
	folder = w.project("todo-web")
	sh := func(script string) {
		w.t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@x", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@x")
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("%v: %s\n%s", err, script, out)
		}
	}
	sh(`git init -q -b main .; mkdir -p internal/signin internal/limit vendor/x; seq 120 | sed 's/^/line /' >internal/limit/bucket.go; printf 'a\0b' >logo.png; seq 30 >old.txt; echo gone >gone.txt
		printf 'package signin\n\nimport (\n\t"context"\n)\n\n// spend marks a token as used.\nfunc (s *Store) spend(token string) (Session, error) {\n\trow := s.db.QueryRow("SELECT account FROM links", token)\n\treturn row, nil\n}\n' >internal/signin/spend.go
		printf 'package limit\n\nvar limits = map[string]int{"POST /links": 60}\n' >internal/limit/routes.go; git add -A; git commit -qm one`)
	yes := true
	at := w.do(folder, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "Sign in with a link sent by e-mail", TaskName: "sign-in", Workflow: "fix"}})
	submit := func(stage, text string) {
		w.do(folder, request.Request{Address: project.Address{Session: at.SessionID}, Action: workflow.ActionSubmit, Stage: stage, Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: text}}}})
	}
	submit("dev", "# Scope\n\n- AC1: a link opens one session\n")
	w.do(folder, request.Request{Address: project.Address{Session: at.SessionID}, Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes}})
	sh(`printf 'package signin\n\nimport (\n\t"context"\n\t"errors"\n)\n\n// spend marks a token as used, or says why not.\nfunc (s *Store) spend(ctx context.Context, token []byte) (Session, error) {\n\tsum := sha256.Sum256(token)\n` +
		`\trow := s.db.QueryRow(ctx, "SELECT account FROM links WHERE hash = $1", sum[:])\n\tsession, err := s.open(ctx, row)\n\t// <script>alert(1)</script>\n\t_, err = s.db.Exec(ctx, "UPDATE links SET spent = now()", sum[:])\n\treturn session, err\n}\n' >internal/signin/spend.go
		sed -i 's/60/5/' internal/limit/routes.go; sed -i 's/line 60/line sixty/' internal/limit/bucket.go; printf 'a\0c' >logo.png; git mv old.txt new.txt; rm gone.txt; echo v >vendor/x/v.go; echo s >go.sum
		ln -s /etc/passwd passwd; head -c 5000 /dev/zero | tr '\0' x >long.txt; printf 'x\342\200\256y\n' >"$(printf 'hid\342\200\256den.txt')"`)
	submit("dev", "# Development report\n\nThe token is hashed.\n")
	submit("review", codeReview)
	return folder, at.SessionID
}

// TestCodePage shows the changed code with the findings on their lines, and nothing that is not of the change.
func TestCodePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signIn()
	page := w.projectPath() + "r/sign-in/d/review"
	read := func(query string) string {
		t.Helper()
		status, text, _ := w.get(page+query, "en")
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, text)
		}
		p := readPage(t, page+query, text)
		p.check("en")
		return text
	}
	if text := read(""); !strings.Contains(text, `href="?view=code"`) {
		t.Error("no link leads to the code")
	}
	text := read("?view=code")
	for what, part := range map[string]string{
		"the file":              `data-file="internal/signin/spend.go"`,
		"a new line":            `data-l="14-14"`,
		"a word":                `<mark>ctx context.Context, `,
		"a keyword":             `<span class="k">return</span> `,
		"a string":              `(<mark>ctx, </mark><span class="t">&#34;SELECT account FROM links</span><mark><span class="t"> WHERE`,
		"markup of the code":    `&lt;script&gt;alert(1)&lt;/script&gt;`,
		"folded lines":          `56 lines without a change`,
		"a link to the finding": `>internal/signin/spend.go:14</a>`,
		"one by a short name":   `>routes.go:3</a>`,
		"one elsewhere":         `<span class="mono">mail.go:9</span>`,
		"the target of a link":  `/etc/passwd`,
		"a binary file":         `>binary</span>`,
		"a renamed file":        `renamed from old.txt`,
		"a generated file":      `generated`,
		"a vendored file":       `copied from elsewhere`,
		"a long line":           `and 3000 bytes more`,
		"a hidden name":         `hid\u202eden.txt`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is missing: %s", what, part)
		}
	}
	for _, part := range []string{"root:", "\u202e", "<script>alert", ">100</span>\n"} {
		if strings.Contains(text, part) {
			t.Errorf("%q is shown", part)
		}
	}
	if whole := read("?view=code&file=internal%2Flimit%2Fbucket.go"); !strings.Contains(whole, ">100</span>\n") || strings.Contains(whole, "without a change</a></td></tr></tbody><tbody hidden") {
		t.Error("a file that was asked for is not whole")
	}
	if beside := read("?view=code&layout=beside"); !strings.Contains(beside, "diff code split") {
		t.Error("the versions do not stand beside each other")
	}
	if vendored := read("?view=code&file=vendor%2Fx%2Fv.go"); !strings.Contains(vendored, `data-file="vendor/x/v.go"`) || !strings.Contains(vendored, `<ins>v`) {
		t.Error("a folded file does not open")
	}
	if text := read("?view=code&file=../../etc/passwd"); !strings.Contains(text, "../../etc/passwd is not among the changed files.") || !strings.Contains(text, `<b class="count" title="`) {
		t.Error("the page does not say that a file is not of the change, or lacks the number of files")
	}
	if _, text, _ := w.get(page+"?view=code", "zh"); !strings.Contains(text, "二进制") {
		t.Error("the page is not in Chinese")
	}
}
