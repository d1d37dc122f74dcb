package engine_test

import (
	"crypto/ed25519"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/agent"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/proof"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// inGit makes a project a repository with a commit.
func (b *bench) inGit() {
	b.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		b.t.Skip("git is not installed")
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = b.dir
		if said, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("%v: %s", err, said)
		}
	}
}

// TestStatementOfARun: in a repository, each document that is saved or taken back, and the end, is stated in a signed
// file beside the documents, and nothing else writes one.
func TestStatementOfARun(t *testing.T) {
	b := newBench(t)
	b.inGit()
	name := filepath.Join(b.dir, ".claude", "specs", "x", proof.StatementFile)
	read := func() *proof.Statement {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		armored, err := os.ReadFile(filepath.Join(filepath.Dir(name), proof.SignatureFile))
		if err != nil {
			t.Fatal(err)
		}
		signer, err := trust.UserState(b.state).ReadSigner()
		if err != nil {
			t.Fatal(err)
		}
		of, err := signature.Unarmor(armored)
		if err != nil {
			t.Fatal(err)
		}
		if key, err := signature.Verify(text, of); err != nil || key != signer.Public() {
			t.Fatalf("signed by %s: %v", key, err)
		}
		st, err := proof.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	b.acting = ann
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	if _, err := os.Stat(name); err == nil {
		t.Fatal("stated before anything was approved")
	}
	b.at("architect/generating", confirm(true))
	st := read()
	if d := st.Predicate.Decisions; len(d) != 1 || d[0].Subject != "ann" || d[0].Signature == "" || len(st.Subject) != 1 || st.Predicate.Repository.Root == "" {
		t.Errorf("%+v", st)
	}
	before := b.read(".claude/specs/x/" + proof.StatementFile)
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\nQuality Score: 96"))
	if b.read(".claude/specs/x/"+proof.StatementFile) != before {
		t.Error("a step that saves nothing is stated")
	}
	b.at("po/refining", request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "shorter"}})
	if st := read(); len(st.Subject) != 0 || len(st.Predicate.Invalid) != 1 {
		t.Errorf("taken back: %+v", st)
	}

	for what, set := range map[string]func(b *bench){
		"outside of a repository": func(*bench) {},
		"if it is not wanted":     func(b *bench) { b.inGit(); b.settings("proof: false\n") },
	} {
		b := newBench(t)
		set(b)
		b.to(workflow.Architect, workflow.Generating)
		found, err := filepath.Glob(filepath.Join(b.dir, ".claude", "specs", "*", "*"))
		if err != nil || len(found) != 1 || strings.Contains(found[0], proof.StatementFile) {
			t.Errorf("%s: %v, %v", what, found, err)
		}
	}
}

// TestStatementOfTheTestedWork: the statement says whether the tested commit holds all of the tested work, so that a
// reviewer is told of what has changed since, and of nothing else.
func TestStatementOfTheTestedWork(t *testing.T) {
	for name, tt := range map[string]struct {
		commits, clean bool
	}{"committed before QA": {true, true}, "not committed": {false, false}} {
		b := newBench(t)
		b.inGit()
		b.to(workflow.QA, workflow.Generating)
		if tt.commits {
			b.git("add", "-A")
			b.git("commit", "-q", "-m", "work")
		}
		b.onTo(workflow.QA, workflow.Completed)
		found, err := filepath.Glob(filepath.Join(b.dir, ".claude", "specs", "*", proof.StatementFile))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		st, err := proof.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if w := st.Predicate.Work; w == nil || w.TestedCommit == "" || w.TestedClean != tt.clean || len(w.Changed) > 0 {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// git runs git in the project.
func (b *bench) git(args ...string) {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Dir = b.dir
	if said, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%v: %s", args, said)
	}
}

// TestDecisionsByAnAgent: the key that a person has chosen signs their decisions and statements; without its agent they
// decide nothing.
func TestDecisionsByAnAgent(t *testing.T) {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	keys, err := ring.List()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.inGit()
	l, err := net.Listen("unix", filepath.Join(b.state, "agent"))
	if err != nil {
		t.Skip("no sockets of Unix: " + err.Error())
	}
	defer func() { _ = l.Close() }()
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	b.environ = []string{"BMAD_SIGN_WITH=" + keys[0].String(), "BMAD_PROOF=words"}
	b.acting = ann
	b.restart()
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	yes := confirm(true)
	yes.Feedback = "as agreed on Monday"
	before := b.snapshot()
	b.refused(yes, fault.Storage, "there is no SSH agent that signs the decision with the key of sign_with (SHA256:")
	if b.snapshot() != before {
		t.Error("a refused decision changed files")
	}
	b.agent = l.Addr().String()
	b.restart()
	b.at("architect/generating", yes)
	statement, err := os.ReadFile(filepath.Join(b.dir, ".claude", "specs", "x", proof.StatementFile))
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := signature.ParseKey(keys[0].String())
	if err != nil {
		t.Fatal(err)
	}
	armored := b.read(".claude/specs/x/" + proof.SignatureFile)
	of, err := signature.Unarmor([]byte(armored))
	if err != nil {
		t.Fatal(err)
	}
	if key, err := signature.Verify(statement, of); err != nil || key != chosen {
		t.Errorf("the statement is signed by %s, %v", key, err)
	}
	st, err := proof.Parse(statement)
	if err != nil {
		t.Fatal(err)
	}
	d, g := st.Predicate.Decisions[0], b.stored().Last().Grant
	if key, err := signature.Verify(g.Statement(b.session, "x"), d.Signature); err != nil || key != chosen || d.Words != yes.Feedback {
		t.Errorf("the decision is signed by %s, %v; its words are %q", key, err, d.Words)
	}
	if _, v, _, err := b.engine.Inspect(ctx, project.Address{Cwd: b.dir, Session: b.session}); err != nil || v.Status != workflow.ChainHolds {
		t.Errorf("the history: %+v, %v", v, err)
	}
}
