package permission_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/google/uuid"
)

// TestWants checks what is listed, in which order, what counts as allowed, and what is asked about once more.
func TestWants(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.PO, workflow.Generating)
	b.write("test.sh", "true")
	b.write("_bmad/_config/custom/cc-verify.sh", "true")
	b.command(workflow.Dev, "bash  test.sh", workflow.SetByProject)
	b.command(workflow.QA, "bash test.sh", workflow.SetByProject)
	b.p.Config.Checks, b.p.Config.OwnSources = []string{"go vet"}, []string{"https://x.test/r.git"}
	b.p.Config.Own = append(b.p.Config.Own, brought("theirs", workflow.SetByProject, "a"))
	b.write(".claude/bmad-rubrics/po.yaml", "x")
	theirs := "\nworkflow theirs.yaml (from an idea to reviewed, tested code in six stages) false [its stages: po (score), architect (score), sm (approval), dev (none), review (verdict), qa (verdict)]"
	rest := "\nrubric " + b.p.Dir.Join(".claude/bmad-rubrics/po.yaml") + " (po) false" + theirs + "\nsource https://x.test/r.git (agents and workflows) false"
	verifying := "verify bash test.sh (dev, qa) false +test.sh"
	steps := []struct {
		name string
		do   func()
		want string
	}{
		{"nothing is allowed", func() {}, verifying + "\nown_verify go vet (reports that name it) false" + rest},
		{"one is", func() { b.allow("bash test.sh") }, strings.Replace(verifying, "false", "true", 1) + "\nown_verify go vet (reports that name it) false" + rest},
		{"its file has changed", func() { b.write("test.sh", "false") }, "verify bash test.sh (dev, qa) true +test.sh\nown_verify go vet (reports that name it) false\nscript test.sh (bash test.sh) false [test.sh has changed since you allowed it on 2026-01-02]" + rest},
		{"the kit's script instead", func() { delete(b.p.Config.Verify, workflow.Dev); delete(b.p.Config.Verify, workflow.QA) }, "own_verify go vet (reports that name it) false\ncontract _bmad/_config/custom/cc-verify.sh (finished work) false" + rest},
		{"allowed", func() { b.allow("_bmad/_config/custom/cc-verify.sh") }, "own_verify go vet (reports that name it) false\ncontract _bmad/_config/custom/cc-verify.sh (finished work) true" + rest},
		{"changed since", func() { b.write("_bmad/_config/custom/cc-verify.sh", "false") }, "own_verify go vet (reports that name it) false\ncontract _bmad/_config/custom/cc-verify.sh (finished work) false [_bmad/_config/custom/cc-verify.sh has changed since you allowed it on 2026-01-02]" + rest},
	}
	for _, tt := range steps {
		tt.do()
		if got := b.listed(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	all, err := b.state.Allowances()
	if err != nil || len(all) != 3 || all[0].Kind != trust.KindScript || !all[0].At.Equal(noon.Truncate(time.Millisecond)) || !all[1].Files || all[2].Files {
		t.Errorf("recorded %+v (%v)", all, err)
	}
	for kind, files := range map[string]bool{trust.KindVerify: true, trust.KindOwnVerify: true, trust.KindContract: false, trust.KindSource: false} {
		w := permission.Want{Allowance: trust.Allowance{Project: b.p.Dir.Path(), Kind: kind, Text: kind, SHA256: workflow.Hash([]byte(kind))}}
		if err := b.Allow(ctx, w); err != nil {
			t.Fatal(err)
		}
		all, _ := b.state.Allowances()
		i := slices.IndexFunc(all, func(a trust.Allowance) bool { return a.Kind == kind && (a.Text == kind || a.Text == "") })
		if kind != trust.KindSource && (i < 0 || all[i].Files != files) {
			t.Errorf("%s: recorded with files %v, want %v", kind, i >= 0 && all[i].Files, files)
		}
	}
}

// TestScript checks the script of a kit: which one, at which size, and that it runs with the content that was allowed.
func TestScript(t *testing.T) {
	t.Parallel()
	const first, second = "_bmad/_config/custom/cc-verify.sh", "_grimoire/_config/custom/cc-verify.sh"
	b := open(t, workflow.Dev, workflow.Refining)
	if s, err := b.guard().Script(); s != nil || err != nil {
		t.Errorf("none: %v (%v)", s, err)
	}
	b.write(second, "echo $0; exit 5")
	run := func() string {
		s, err := b.guard().Script()
		if err != nil {
			return told(err)
		}
		e, err := b.guard().Run(ctx, nil, s, b.p.Dir.Path(), verify.Limits{Tail: 900, Language: lang.English})
		if err != nil {
			return told(err)
		}
		return fmt.Sprint(e.Command, " ", e.ExitCode, " ", strings.TrimSpace(e.Tail))
	}
	const refusal, hint = "not_allowed: the script %s was not run: %s", " | ask the human to read it and to type `program allow` in a terminal, in the project"
	const notYet = "you have not allowed it in this project yet; in a terminal: program allow"
	for _, tt := range []struct {
		name string
		do   func()
		want string
	}{
		{"not allowed", func() {}, fmt.Sprintf(refusal, second, notYet) + hint},
		{"allowed", func() { b.allow(second) }, "bash " + second + " 5 " + b.p.Dir.Join(second)},
		{"changed", func() { b.write(second, "exit 0") }, fmt.Sprintf(refusal, second, second+" has changed since you allowed it on 2026-01-02; in a terminal: program allow") + hint},
		{"another before it", func() { b.write(first, "exit 0") }, fmt.Sprintf(refusal, first, notYet) + hint},
		{"at most", func() { b.write(first, strings.Repeat("#", 120<<10)) }, fmt.Sprintf(refusal, first, notYet) + hint},
		{"too large", func() { b.write(first, strings.Repeat("#", 120<<10+1)) }, "storage: the script " + first + " cannot be read: "},
	} {
		tt.do()
		if got := run(); got != tt.want && !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	configured := func() string { c := b.guard().Configured(); return string(c.SetBy) + " " + c.Command }
	for _, tt := range []struct {
		stage   workflow.StageID
		command string
		want    string
	}{{"", "", " "}, {workflow.QA, "qa", "project qa"}, {workflow.Dev, "dev", "project dev"}} {
		if tt.stage != "" {
			b.command(tt.stage, tt.command, workflow.SetByProject)
		}
		if got := configured(); got != tt.want {
			t.Errorf("configured: got %q, want %q", got, tt.want)
		}
	}
	command := workflow.VerifyCommand{Command: "exit 6", SetBy: workflow.SetByProject}
	if _, err := b.guard().Verify(ctx, nil, command, verify.Limits{Language: lang.English}); told(err) != "not_allowed: the verify command `exit 6` (the project's file) was not run: "+notYet+hint {
		t.Errorf("not allowed: %s", told(err))
	}
	b.command(workflow.Dev, "exit 6", workflow.SetByProject)
	b.allow("exit 6")
	if e, err := b.guard().Verify(ctx, nil, command, verify.Limits{Language: lang.English}); err != nil || e.ExitCode != 6 || e.At.Nanosecond()%1e6 != 0 {
		t.Errorf("allowed: %+v (%v)", e, err)
	}
}

// TestOthers checks the keys of other members, and the kept commands of runs, among the things to allow.
func TestOthers(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.PO, workflow.Generating)
	signer, err := b.state.Signer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ann := signedBy(t, b, "ann", 1)
	for _, s := range []*workflow.Session{ann, signedBy(t, b, "ann", 1), signedBy(t, b, "", 2)} {
		if err := b.p.Backend.Create(ctx, s, storetest.Numbered("of")); err != nil {
			t.Fatal(err)
		}
	}
	own := b.p.Backend
	if err := own.Create(ctx, signedAs(t, b, "me", signer), storetest.Numbered("mine")); err != nil {
		t.Fatal(err)
	}
	fingerprint := ann.Signers()[0].Key.Fingerprint()
	if got, want := b.listed(), "member ann "+fingerprint+" () false [their steps of runs count for you then; compare the key with what `bmad-mcp signer` shows them]"; got != want {
		t.Errorf("members:\n got %s\nwant %s", got, want)
	}
	for name, tt := range map[string]struct {
		state  workflow.State
		change func(b *bench, kept *workflow.VerifyCommand)
		want   string
	}{
		"configured":       {workflow.Generating, func(b *bench, _ *workflow.VerifyCommand) { b.command(workflow.Dev, "true", workflow.SetByProject) }, "verify true (dev) false"},
		"no longer":        {workflow.Generating, func(*bench, *workflow.VerifyCommand) {}, "verify true (dev of the run clock) false"},
		"of an ended run":  {workflow.Completed, func(*bench, *workflow.VerifyCommand) {}, ""},
		"accepted already": {workflow.Generating, func(_ *bench, kept *workflow.VerifyCommand) { none := ""; kept.Instead, kept.Accepted = &none, true }, ""},
		"allowed before": {workflow.Generating, func(b *bench, kept *workflow.VerifyCommand) {
			b.command(workflow.Dev, "false", workflow.SetByProject)
			b.allow("false")
			kept.At = noon.Add(time.Hour)
		}, "verify false (dev) false [you allowed it before the run clock began, which is checked with `true` (the project's file); allow it again to have that run follow]\nverify true (dev of the run clock) false"},
	} {
		b := open(t, workflow.PO, workflow.Generating)
		kept := workflow.VerifyCommand{Command: "true", SetBy: workflow.SetByProject, At: noon}
		tt.change(b, &kept)
		b.s.Session.CurrentState = tt.state
		b.s.Session.VerifyCommands = map[workflow.StageID]workflow.VerifyCommand{workflow.Dev: kept}
		if err := b.p.Backend.Create(ctx, b.s.Session, storetest.Numbered("clock")); err != nil {
			t.Fatal(err)
		}
		if got := b.listed(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// signedBy returns a new session that somebody has signed with a key of their own.
func signedBy(t *testing.T, b *bench, subject string, key byte) *workflow.Session {
	t.Helper()
	s, err := signature.NewSigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{key}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return signedAs(t, b, subject, otherKey{s})
}

type otherKey struct{ signature.Signer }

func (otherKey) MAC(string) string { panic("nothing is recorded") }

func signedAs(t *testing.T, b *bench, subject string, by workflow.Signer) *workflow.Session {
	t.Helper()
	s := b.p.Config.Under(workflow.Default()).NewSession(uuid.NewString(), "x", b.p.Dir.Path(), "test", noon)
	s.History[0].Subject = subject
	if err := s.SignNew(by, ""); err != nil {
		t.Fatal(err)
	}
	return s
}
