package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/cli"
	"github.com/bmad-mcp/bmad-mcp/internal/proof"
	"github.com/bmad-mcp/bmad-mcp/internal/proof/prooftest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// clone is a clone of a repository, with the list of signers on the default branch of its origin.
type clone struct {
	t    testing.TB
	root string // the top of the repository
	dir  string // the project in it
}

// newClone returns a clone whose origin lists ann and bob.
func newClone(t testing.TB, inside string) *clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	root := scratch.Dir(t)
	c := &clone{t, root, filepath.Join(root, inside)}
	lines := ""
	for _, who := range []string{"ann", "bob"} {
		lines += signature.Line(who, prooftest.KeyOf(t, who).Public(), "") + "\n"
	}
	c.write(proof.SignersFile, lines)
	c.write(".gitignore", ".bmad-task/\n")
	six, err := os.ReadFile(filepath.Join("..", "..", "testdata", "person", "bmad-mcp", "workflows", "six.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c.write(".claude/bmad-workflows/six.yaml", string(six))
	c.git("init", "-q", "-b", "main")
	c.commit("list the signers")
	c.merge()
	c.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	c.git("checkout", "-q", "-b", "work")
	return c
}

// git runs git in the project, and returns what it prints.
func (c *clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Dir = c.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *clone) commit(says string) { c.git("add", "-A"); c.git("commit", "-q", "-m", says) }

// merge makes the present commit that of the default branch of origin.
func (c *clone) merge() { c.git("update-ref", "refs/remotes/origin/main", "HEAD") }

func (c *clone) write(name, text string) {
	c.t.Helper()
	name = filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// add writes the files of a run.
func (c *clone) add(p *prooftest.Play) {
	c.t.Helper()
	for name, text := range p.Files {
		c.write(name, string(text))
	}
	commit := c.git("rev-parse", "HEAD")
	files, err := proof.Write(p.S, proof.Facts{
		Program: "1.2.3", Root: c.git("rev-list", "--max-parents=0", "HEAD"), Writer: workflow.Person{Subject: p.People[0]}, Head: "x",
		Work: proof.Work{ApprovedCommit: commit, TestedCommit: commit, TestedClean: true},
	}, prooftest.KeyOf(c.t, p.People[0]).Sign)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, f := range files {
		c.write(f.Path(), string(f.Body))
	}
}

// check runs the command, and returns what it prints and its exit code.
func (c *clone) check(args ...string) (out, errOut string, code int) {
	c.t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(append([]string{"--cwd", c.dir, "check"}, args...), strings.NewReader(""), &o, &e)
	return o.String(), e.String(), code
}

// state returns the command of scripts that signs the decisions of a task with the key of a machine, and writes the
// statement about it.
func state(t testing.TB) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: state TASK MACHINE")
		}
		names, err := filepath.Glob(ts.MkAbs(filepath.Join(".bmad-task", "session-*.json")))
		ts.Check(err)
		for _, name := range names {
			var s workflow.Session
			ts.Check(workflow.Unmarshal([]byte(ts.ReadFile(name)), &s))
			if s.TaskName != args[0] {
				continue
			}
			for _, e := range s.History {
				if e.Grant != nil {
					e.Grant.Signature, err = prooftest.KeyOf(t, args[1]).Sign(e.Grant.Statement(s.SessionID, s.TaskName))
					ts.Check(err)
				}
			}
			files, err := proof.Write(&s, proof.Facts{Writer: workflow.Person{Subject: args[1]}}, prooftest.KeyOf(t, args[1]).Sign)
			ts.Check(err)
			line := signature.Line(args[1], prooftest.KeyOf(t, args[1]).Public(), "")
			ts.Check(os.WriteFile(ts.MkAbs("line"), []byte(line+"\n"), 0o600))
			for _, f := range files {
				ts.Check(os.WriteFile(ts.MkAbs(filepath.FromSlash(f.Path())), f.Body, 0o600))
			}
			return
		}
		ts.Fatalf("no task %s in %q", args[0], names)
	}
}

var hashes = regexp.MustCompile(`[0-9a-f]{40}`)

// TestCheck walks through a change with a run, from its branch to the default one.
func TestCheck(t *testing.T) {
	t.Parallel()
	c := newClone(t, "services/shop")
	if out, _, code := c.check(); code != 0 || !strings.Contains(out, "nothing to check") {
		t.Errorf("%d: %s", code, out)
	}
	c.add(prooftest.NewPlay(t, "sign-in", "ann").Finish())
	c.commit("sign in")
	if out, errOut, code := c.check("--strict"); code != 0 || out != "✓ sign-in: 5 documents as approved, by ann\n" {
		t.Errorf("%d: %s%s", code, out, errOut)
	}
	c.git("tag", "origin/main", "HEAD") // is not the default branch
	if out, errOut, code := c.check("--strict"); code != 0 {
		t.Errorf("%d: %s%s", code, out, errOut)
	}
	c.write("shop.go", "package shop\n")
	c.write("../other/other.go", "package other\n")
	c.commit("more")
	out, _, code := c.check()
	if code != 0 || !strings.Contains(out, "note: shop.go: 1 file changed since the work was tested") {
		t.Errorf("%d: %s", code, out)
	}
	if _, _, code := c.check("--strict"); code != 1 {
		t.Errorf("--strict ended with %d", code)
	}
	c.merge()
	if out, _, code := c.check("--strict"); code != 0 {
		t.Errorf("%d: %s", code, out)
	}
	c.git("checkout", "-q", "--orphan", "squashed")
	c.git("reset", "-q", "--hard", "origin/main")
	c.write(proof.SignersFile, "")
	c.write(".claude/bmad-task.yaml", "quorum: 2\n")
	if out, _, code := c.check(); code != 0 || !strings.Contains(out, "this change edits the list of signers") {
		t.Errorf("%d: %s", code, out)
	}
	c.commit("rules")
	c.merge()
	if out, _, code := c.check(); code != 1 || !strings.Contains(out, "has no valid line") {
		t.Errorf("%d: %s", code, out)
	}
}

// TestCheckAsJSON keeps the output for programs, which is a contract.
func TestCheckAsJSON(t *testing.T) {
	t.Parallel()
	c := newClone(t, "")
	p := prooftest.NewPlay(t, "sign-in", "ann", "bob").Documents().Deliver().Review()
	rec := p.S.Current()
	rec.Verdict, rec.Criteria = workflow.Fail, []workflow.Criterion{{ID: "AC-1", Result: workflow.ResultFail}, {ID: "AC-2", Result: workflow.ResultPass}}
	rec.Findings = []workflow.Finding{{ID: "F1", Severity: "critical", Problem: "x"}}
	p.Submit(workflow.EventFailed, "report")
	p.Decide(workflow.EventFinished, workflow.DecisionOverride, "report", "# Test\n")
	c.add(p)
	c.add(prooftest.NewPlay(t, "sign-out", "eve").Documents())
	c.write(".claude/specs/sign-out/notes.md", "x\n")
	c.commit("two runs")
	out, errOut, code := c.check("--json")
	if code != 1 || errOut != "" {
		t.Errorf("%d: %s", code, errOut)
	}
	golden.Check(t, filepath.Join("testdata", "check.json"), hashes.ReplaceAllString(out, "(commit)"))
}

// TestCheckCannotSay: what keeps a check from an answer is said, with the way out, and is no pass.
func TestCheckCannotSay(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		change func(c *clone)
		args   []string
		says   string
	}{
		"no default branch":               {change: func(c *clone) { c.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD") }, says: "--base origin/main"},
		"no such base":                    {args: []string{"--base", "origin/nothing"}, says: "no commit origin/nothing"},
		"a tag with the name of the base": {change: func(c *clone) { c.git("tag", "origin/main", "HEAD") }, args: []string{"--base", "origin/main"}, says: "the name of several commits"},
		"an odd base":                     {args: []string{"--base", "--upload-pack=x"}, says: "no commit --upload-pack=x"},
		"no repository":                   {change: func(c *clone) { _ = os.RemoveAll(filepath.Join(c.root, ".git")) }, says: "is not in a git repository"},
		"a shallow clone": {change: func(c *clone) {
			c.git("clone", "-q", "--depth", "1", "file://"+c.root, "shallow")
			c.dir = filepath.Join(c.root, "shallow")
		}, args: []string{"--base", "HEAD"}, says: "git fetch --unshallow"},
		"rules that cannot be read": {change: func(c *clone) {
			c.write(".claude/bmad-task.yaml", "quorum: many\n")
			c.commit("x")
			c.merge()
			c.write(".claude/bmad-task.yaml", "")
		}, says: ".claude/bmad-task.yaml, line 1"},
		"objects of another": {change: func(c *clone) { c.write(".git/objects/info/alternates", "/tmp/x\n") }, says: "takes objects from another"},
		"specs are a link": {change: func(c *clone) {
			if err := os.Rename(filepath.Join(c.dir, ".claude", "specs"), filepath.Join(c.dir, "s")); err != nil {
				c.t.Fatal(err)
			}
			if err := os.Symlink("../s", filepath.Join(c.dir, ".claude", "specs")); err != nil {
				c.t.Skip("SKIPPED: needs symbolic links")
			}
		}, says: "is a link"},
		"an argument": {args: []string{"x"}, says: "check"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t, "")
			c.add(prooftest.NewPlay(t, "sign-in", "ann").Finish())
			c.commit("sign in")
			if at.change != nil {
				at.change(c)
			}
			if out, errOut, code := c.check(at.args...); code != 2 || out != "" || !strings.Contains(errOut, at.says) {
				t.Errorf("%d: %s%s", code, out, errOut)
			}
			if out, _, code := c.check(append(at.args, "--json")...); code != 2 || !json.Valid([]byte(out)) {
				t.Errorf("%d: %s", code, out)
			}
		})
	}
}

// TestCheckOfAHostileRepository: nothing that the settings of the repository name is run.
func TestCheckOfAHostileRepository(t *testing.T) {
	t.Parallel()
	c := newClone(t, "")
	canary := filepath.Join(c.root, "canary")
	trap := filepath.Join(c.root, ".git", "trap")
	c.write(".gitattributes", "* filter=x diff=x\n")
	c.commit("attributes")
	c.add(prooftest.NewPlay(t, "sign-in", "ann").Finish())
	c.commit("sign in")
	c.write(".git/trap", "#!/bin/sh\necho x >>'"+canary+"'\ncat\n")
	if err := os.Chmod(trap, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "filter.x.clean", "filter.x.smudge", "core.sshCommand", "gpg.program", "gpg.ssh.program"} {
		c.git("config", key, trap)
	}
	_ = exec.Command("git", "-C", c.root, "status").Run() // it may fail for the trap
	if _, err := os.Stat(canary); err != nil {
		t.Fatal("the trap is none: git itself does not run it")
	}
	if err := os.Remove(canary); err != nil {
		t.Fatal(err)
	}
	if out, errOut, code := c.check("--strict"); code != 0 {
		t.Errorf("%d: %s%s", code, out, errOut)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("the trap was run")
	}
}

// BenchmarkCheck checks a repository with 500 runs, of which the base branch has half.
func BenchmarkCheck(b *testing.B) {
	c := newClone(b, "")
	for i := range 500 {
		c.add(prooftest.NewPlay(b, fmt.Sprint("task-", i), "ann").Finish())
		if i == 250 {
			c.commit("half of them")
			c.merge()
		}
	}
	c.commit("all of them")
	for b.Loop() {
		if out, errOut, code := c.check(); code != 0 || strings.Count(out, "✓") != 500 {
			b.Fatalf("%d: %s%s", code, out, errOut)
		}
	}
}
