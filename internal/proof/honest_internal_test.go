package proof

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/proof/prooftest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// honest are repositories in which nothing is wrong.
var honest = map[string]struct {
	make  func(t *testing.T) *repository
	notes string // what they say, by rules
	risks int
}{
	"one run": {make: func(t *testing.T) *repository {
		return newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
	}},
	"no run": {make: func(t *testing.T) *repository { return newRepository(t) }},
	"two runs": {make: func(t *testing.T) *repository {
		return newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish(), prooftest.NewPlay(t, "sign-out", "bob").Finish())
	}},
	"not finished": {make: func(t *testing.T) *repository {
		return newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Documents())
	}, notes: "unfinished"},
	"nothing saved yet": {make: func(t *testing.T) *repository { return newRepository(t, prooftest.NewPlay(t, "sign-in", "ann")) }, notes: "unfinished"},
	"two people": {make: func(t *testing.T) *repository {
		r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann", "bob").Finish())
		r.rules.Quorum, r.rules.FourEyes, r.rules.Approvers = 2, new(true), []string{"ann", "bob", "eve"}
		return r
	}},
	"two machines of one person": {make: func(t *testing.T) *repository {
		return newRepository(t, prooftest.NewPlay(t, "sign-in", "ann", "ann@laptop").Finish())
	}},
	"strict, by a form": {make: func(t *testing.T) *repository {
		r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
		r.rules.Gate, r.rules.Assurance = workflow.GateStrict, workflow.AssuranceHigh
		return r
	}},
	"a fork": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "sign-in", "ann").Finish()
		r := newRepository(t, p)
		f := facts(p)
		f.Remote = "git@example.org:bob/x.git"
		r.state(p, f)
		r.roots = []string{root, strings.Repeat("c", 40)}
		return r
	}},
	"squashed": {make: func(t *testing.T) *repository {
		r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
		r.changed = nil // the tested commit is not there
		return r
	}},
	"nothing but our files since the test": {make: func(t *testing.T) *repository {
		r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
		r.changed = []string{".claude/specs/sign-in/run.json", ".bmad-task/x"}
		return r
	}},
	"on the base already": {make: func(t *testing.T) *repository {
		r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
		r.base[Path("sign-in", StatementFile)] = []byte(r.read(Path("sign-in", StatementFile)))
		r.changed = []string{"main.go"} // of later changes
		return r
	}},
	"line ends of Windows": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "sign-in", "ann").Finish()
		r := newRepository(t, p)
		for _, name := range []string{SignersFile, Path("sign-in", StatementFile), Path("sign-in", SignatureFile)} {
			r.write(name, strings.ReplaceAll(r.read(name), "\n", "\r\n"))
		}
		for name := range p.Files {
			r.write(name, strings.ReplaceAll(r.read(name), "\n", "\r\n"))
		}
		return r
	}},
	"a document with line ends of Windows": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "sign-in", "ann")
		p.Document("# PRD\r\n\r\nText\r\n")
		r := newRepository(t, p)
		r.write(Path("sign-in", "01-product-requirements.md"), "# PRD\n\nText\n")
		return r
	}, notes: "unfinished"},
	"reopened and finished": {make: func(t *testing.T) *repository {
		return newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish().Reopen(workflow.Architect).Finish())
	}},
	"of Codex": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "sign-in", "ann")
		p.Channel = workflow.ChannelTyped
		p.S.Current().Candidates = []workflow.Candidate{{Engine: workflow.Codex, Taken: true, Because: "the only one"}}
		r := newRepository(t, p.Finish())
		r.rules.Assurance = workflow.AssuranceMedium
		return r
	}},
	"Chinese": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "登录", "ann")
		p.S.Objective = "用链接登录"
		p.Document("# 产品需求\n\n用链接登录。")
		return newRepository(t, p.Finish())
	}},
	"a document below its gate, accepted": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "sign-in", "ann")
		text := "# PRD\n\nnot good enough"
		p.Submit(workflow.EventExhausted, text)
		p.Decide(workflow.EventApproved, workflow.DecisionOverride, text, "> **Risk accepted** on 2026-05-01: reason\n\n"+text)
		return newRepository(t, p)
	}, notes: "unfinished", risks: 1},
	"failed work, accepted": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "sign-in", "ann").Documents().Deliver().Review()
		rec := p.S.Current()
		rec.Verdict, rec.Criteria = workflow.Fail, []workflow.Criterion{{ID: "AC-1", Result: workflow.ResultFail}, {ID: "AC-2", Result: workflow.ResultPass}}
		rec.Findings = []workflow.Finding{{ID: "F1", Severity: "critical", Problem: "secret problem"}}
		p.Submit(workflow.EventFailed, "report")
		p.Decide(workflow.EventFinished, workflow.DecisionOverride, "report", "# Test, as a table\n")
		return newRepository(t, p)
	}, notes: "claimed", risks: 1},
	"a scope that was approved": {make: func(t *testing.T) *repository {
		return newRepository(t, scoped(t).Scope().Deliver())
	}, notes: "unfinished"},
	"a scope that waits": {make: func(t *testing.T) *repository { return newRepository(t, scoped(t)) }, notes: "unfinished"},
	"sent back": {make: func(t *testing.T) *repository {
		p := prooftest.NewPlay(t, "sign-in", "ann").Documents().Deliver().Review()
		p.S.Current().Verdict = workflow.Fail
		p.Submit(workflow.EventFailed, "report")
		g := p.Grant("ann", workflow.DecisionChanges, workflow.Hash([]byte("report")))
		p.Fire(workflow.EventSentBack, workflow.Transition{Action: workflow.ActionApprove, Grant: g, Person: g.Person}, "")
		return newRepository(t, p)
	}, notes: "sent-back unfinished"},
	"rows that are claimed": {make: func(t *testing.T) *repository {
		return newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Documents().Deliver().Review().Test(workflow.Criterion{ID: "AC-1", Result: workflow.ResultPass}))
	}, notes: "claimed"},
	"a change of the list that is to come": {make: func(t *testing.T) *repository {
		r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
		r.write(SignersFile, r.read(SignersFile)+"# bob has a new laptop\n")
		return r
	}, notes: "signers"},
}

// scoped returns a run by a workflow that begins with a development.
func scoped(t testing.TB) *prooftest.Play {
	t.Helper()
	for _, d := range workflow.Builtins() {
		if d.StartsByBuilding(d.First()) {
			return prooftest.NewPlayBy(d, t, "sign-in", "ann")
		}
	}
	t.Fatal("no built-in workflow begins with a development")
	return nil
}

// TestHonest: a check finds nothing wrong in an honest repository, and says the rest.
func TestHonest(t *testing.T) {
	t.Parallel()
	for name, c := range honest {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.make(t).check()
			if err != nil {
				t.Fatal(err)
			}
			findings, notes := everything(got)
			if findings != "" {
				t.Errorf("%s", findings)
			}
			var rules []string
			for line := range strings.Lines(notes) {
				rule, _, _ := strings.Cut(line, ":")
				rules = append(rules, rule)
			}
			if slices.Sort(rules); strings.Join(rules, " ") != c.notes {
				t.Errorf("got the notes %q, want %q:\n%s", rules, c.notes, notes)
			}
			if got.Holds(true) != (c.notes == "") || !got.Holds(false) {
				t.Errorf("strict: %v, else %v", got.Holds(true), got.Holds(false))
			}
			risks := 0
			for _, run := range got.Runs {
				risks += len(run.Risks)
			}
			if risks != c.risks {
				t.Errorf("got %d risks, want %d", risks, c.risks)
			}
		})
	}
	if len(honest) < 12 {
		t.Errorf("got %d repositories, want 12 at least", len(honest))
	}
}

// TestByOpenSSH: ssh-keygen alone accepts the signatures of honest runs, and refuses a changed statement.
func TestByOpenSSH(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("SKIPPED: needs ssh-keygen")
	}
	for name, c := range honest {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.make(t)
			got, err := r.check()
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range got.Runs {
				for _, name := range []string{SignersFile, run.Path + ".sig"} { // it reads no line ends of Windows
					r.write(name, strings.ReplaceAll(r.read(name), "\r\n", "\n"))
				}
				statement := strings.ReplaceAll(r.read(run.Path), "\r\n", "\n")
				who, err := Parse([]byte(statement))
				if err != nil {
					t.Fatal(err)
				}
				verify := func(text string) error {
					cmd := exec.Command(program, "-Y", "verify", "-f", SignersFile, "-I", who.Predicate.Written.Subject, "-n", "bmad-mcp", "-s", run.Path+".sig")
					cmd.Dir, cmd.Stdin = r.dir.Path(), strings.NewReader(text)
					return cmd.Run()
				}
				if err := verify(statement); err != nil {
					t.Errorf("%s: %v", run.Path, err)
				}
				if verify(strings.Replace(statement, `"finished":`, `"finished" :`, 1)) == nil {
					t.Errorf("%s: a changed statement is accepted", run.Path)
				}
			}
		})
	}
}
