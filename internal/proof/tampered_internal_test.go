//go:build unix

package proof

import (
	"crypto/ed25519"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/proof/prooftest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// attack is an honest repository with its run.
type attack struct {
	*repository
	p *prooftest.Play
}

// tampered are the ways to change a repository with a finished run of ann, written by her program, and the finding of
// each, as rule: path, and a part of its words. dan is a listed colleague, eve an attacker with a key of her own.
var tampered = map[string]struct {
	change func(r attack)
	want   string
	says   string
}{
	"an artifact is edited": {func(r attack) { r.write(prdPath, r.read(prdPath)+"And more.\n") }, "artifact: " + prdPath, "differs from the approved text"},
	"an artifact is edited, and its hash": {func(r attack) {
		old := workflow.Hash([]byte(r.read(prdPath)))
		r.write(prdPath, "# Other\n")
		r.unsealed(old, workflow.Hash([]byte("# Other\n")))
	}, "signature: " + statementPath + ".sig", "changed since it was signed"},
	"a colleague signs another text": {func(r attack) {
		r.write(prdPath, "# Other\n")
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Subject[0].Digest.SHA256 = workflow.Hash([]byte("# Other\n"))
			s.Predicate.Stages[0].Submitted, s.Predicate.Written.Subject = s.Subject[0].Digest.SHA256, "dan"
		})
	}, "gate: " + prdPath, "no decision matches this text"},
	"a colleague decides in her name": {func(r attack) {
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Predicate.Written.Subject = "dan"
			approval(s, "po").sign(r.t, s, "dan")
		})
	}, "gate: " + prdPath, `is listed for dan, not for "ann"`},
	"a decision in another's name keeps its signature": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { approval(s, "po").Subject = "bob" })
	}, "decision: " + statementPath, "was changed since it was signed, or"},
	"a no becomes a yes": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) {
			d := approval(s, "po")
			d.Decision = workflow.DecisionChanges
			d.sign(r.t, s, "ann")
			d.Decision = workflow.DecisionApprove
		})
	}, "decision: " + statementPath, "was changed since it was signed, or"},
	"a decision is removed": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { without(s, "sm") })
	}, "gate: " + planPath, "no decision matches this text"},
	"a decision is no signature": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { approval(s, "sm").Signature = "" })
	}, "gate: " + planPath, "no signature"},
	"a decision is moved between stages": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) {
			d := *approval(s, "po")
			without(s, "sm")
			d.Stage = "sm"
			s.Predicate.Decisions = append(s.Predicate.Decisions, d)
		})
	}, "decision: " + statementPath, "was changed since it was signed, or"},
	"a decision of another run": {func(r attack) {
		other := prooftest.NewPlay(r.t, "sign-out", "ann").Finish()
		r.add(other)
		s, err := Parse([]byte(r.read(".claude/specs/sign-out/run.json")))
		must(r.t, err)
		r.forge("sign-in", "ann", func(mine *Statement) { *approval(mine, "po") = *approval(s, "po") })
	}, "decision: " + statementPath, "belongs to another run"},
	"a decision about a stage that there is not": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) {
			d := *approval(s, "po")
			d.Stage = "nowhere"
			d.sign(r.t, s, "ann")
			s.Predicate.Decisions = append(s.Predicate.Decisions, d)
		})
	}, "decision: " + statementPath, "nowhere"},
	"a better channel is claimed": {func(r attack) {
		r.rules.Assurance = workflow.AssuranceHigh
		r.forge("sign-in", "ann", func(s *Statement) {
			d := approval(s, "po")
			d.Channel = workflow.ChannelRelayed // signed so: the host's word
			d.sign(r.t, s, "ann")
		})
	}, "gate: " + prdPath, "which counts as low"},
	"a channel that the base does not take": {func(r attack) {
		weak := prooftest.NewPlay(r.t, "sign-in", "ann")
		weak.Channel = workflow.ChannelRelayed
		r.add(weak.Documents())
		r.rules.Gate = workflow.GateStrict
	}, "gate: " + prdPath, "requires medium"},
	"an unlisted key decides": {func(r attack) {
		eve := prooftest.NewPlay(r.t, "sign-in", "ann", "eve").Finish()
		r.rules.Quorum = 2
		r.add(eve)
	}, "gate: " + prdPath, "add this line to .claude/bmad-signers on origin/main: eve namespaces="},
	"an unlisted key writes": {func(r attack) {
		r.forge("sign-in", "eve", func(s *Statement) { s.Predicate.Written.Subject = "eve" })
	}, "signer: " + statementPath, "is not in .claude/bmad-signers on origin/main"},
	"an unlisted key writes in her name": {func(r attack) {
		r.forge("sign-in", "eve", func(*Statement) {})
	}, "signer: " + statementPath, "is not in .claude/bmad-signers on origin/main"},
	"a colleague writes in her name": {func(r attack) {
		r.forge("sign-in", "dan", func(*Statement) {})
	}, "signer: " + statementPath, `is listed for dan, not for "ann"`},
	"the attacker lists herself": {func(r attack) {
		r.write(SignersFile, r.read(SignersFile)+signature.Line("ann", prooftest.KeyOf(r.t, "eve").Public(), "")+"\n")
		r.forge("sign-in", "eve", func(*Statement) {})
	}, "signer: " + statementPath, "is not in .claude/bmad-signers on origin/main"},
	"the base lists nobody": {func(r attack) { delete(r.base, SignersFile) }, "signer: " + statementPath, "has no valid line"},
	"a key that was revoked": {func(r attack) {
		r.base[SignersFile] = []byte(strings.ReplaceAll(string(r.base[SignersFile]), `ann namespaces=`, `ann valid-before="20260101",namespaces=`))
	}, "signer: " + statementPath, "was not valid at"},
	"a key that was taken off the list": {func(r attack) {
		r.base[SignersFile] = []byte(signature.Line("bob", prooftest.KeyOf(r.t, "bob").Public(), ""))
	}, "signer: " + statementPath, "is not in"},
	"a list with a pattern": {func(r attack) {
		r.base[SignersFile] = []byte(signature.Line("*", prooftest.KeyOf(r.t, "ann").Public(), ""))
	}, "signer: " + statementPath, "has no valid line"},
	"a list for not a signature": {func(r attack) {
		r.base[SignersFile] = []byte(strings.ReplaceAll(string(r.base[SignersFile]), `namespaces="bmad-mcp"`, `namespaces="git"`))
	}, "signer: " + statementPath, "has no valid line"},
	"a signature for not a signature": {func(r attack) {
		seed := sha256.Sum256([]byte("ann"))
		signer, err := ssh.NewSignerFromSigner(ed25519.NewKeyFromSeed(seed[:]))
		must(r.t, err)
		made, err := sshsig.Sign(strings.NewReader(r.read(statementPath)), signer, sshsig.HashSHA512, "git")
		must(r.t, err)
		r.write(statementPath+".sig", string(sshsig.Armor(made)))
	}, "signature: " + statementPath + ".sig", "not a signature"},
	"the signature is gone": {func(r attack) {
		must(r.t, os.Remove(r.dir.Join(statementPath+".sig")))
	}, "signature: " + statementPath + ".sig", "no signature"},
	"the signature is of another": {func(r attack) {
		r.add(prooftest.NewPlay(r.t, "sign-out", "ann").Finish())
		r.write(statementPath+".sig", r.read(".claude/specs/sign-out/run.json.sig"))
	}, "signature: " + statementPath + ".sig", "changed since it was signed"},
	"the signature is rubbish": {func(r attack) { r.write(statementPath+".sig", "x") }, "signature: " + statementPath + ".sig", "not a signature"},
	"the statement is cut": {func(r attack) {
		r.write(statementPath, r.read(statementPath)[:900])
	}, "statement: " + statementPath, "not a statement"},
	"the statement is empty": {func(r attack) { r.write(statementPath, "") }, "statement: " + statementPath, "not a statement"},
	"a key stands twice": {func(r attack) {
		r.unsealed(`"finished": true`, `"finished": true, "finished": false`)
	}, "statement: " + statementPath, "duplicate"},
	"a key stands twice, signed": {func(r attack) {
		r.sign(statementPath, "ann", strings.Replace(r.read(statementPath), `"task":`, `"task": "x", "task":`, 1))
	}, "statement: " + statementPath, "duplicate"},
	"two statements in a file": {func(r attack) {
		r.sign(statementPath, "ann", r.read(statementPath)+"{}")
	}, "statement: " + statementPath, "not a statement"},
	"text that is not UTF-8": {func(r attack) {
		r.sign(statementPath, "ann", strings.Replace(r.read(statementPath), `"1.2.3"`, "\"\xff\"", 1))
	}, "statement: " + statementPath, "UTF-8"},
	"another predicate": {func(r attack) {
		r.sign(statementPath, "ann", strings.Replace(r.read(statementPath), "#run-v1", "#run-v9", 1))
	}, "statement: " + statementPath, "does not support its predicate"},
	"another type": {func(r attack) {
		r.sign(statementPath, "ann", strings.Replace(r.read(statementPath), "Statement/v1", "Statement/v0.1", 1))
	}, "statement: " + statementPath, "not an in-toto statement"},
	"the statement is a link": {func(r attack) {
		must(r.t, os.Rename(r.dir.Join(statementPath), r.dir.Join("x.json")))
		must(r.t, os.Symlink("../../../x.json", r.dir.Join(statementPath)))
	}, "unreadable: " + statementPath, "it is a link"},
	"the statement leads out": {func(r attack) {
		must(r.t, os.Remove(r.dir.Join(statementPath)))
		must(r.t, os.Symlink("/etc/passwd", r.dir.Join(statementPath)))
	}, "unreadable: " + statementPath, "it is a link"},
	"the statement is a pipe": {func(r attack) {
		must(r.t, os.Remove(r.dir.Join(statementPath)))
		must(r.t, syscall.Mkfifo(r.dir.Join(statementPath), 0o600))
	}, "unreadable: " + statementPath, "pipe"},
	"the statement is a folder": {func(r attack) {
		must(r.t, os.Remove(r.dir.Join(statementPath)))
		must(r.t, os.Mkdir(r.dir.Join(statementPath), 0o700))
	}, "unreadable: " + statementPath, "folder"},
	"the statement has 1 GB": {func(r attack) {
		must(r.t, os.Truncate(r.dir.Join(statementPath), 1<<30))
	}, "unreadable: " + statementPath, "cannot be read"},
	"the signature is a pipe": {func(r attack) {
		must(r.t, os.Remove(r.dir.Join(statementPath+".sig")))
		must(r.t, syscall.Mkfifo(r.dir.Join(statementPath+".sig"), 0o600))
	}, "unreadable: " + statementPath + ".sig", "pipe"},
	"an artifact is a link": {func(r attack) {
		must(r.t, os.Rename(r.dir.Join(prdPath), r.dir.Join("x.md")))
		must(r.t, os.Symlink("../../../x.md", r.dir.Join(prdPath)))
	}, "unreadable: " + prdPath, "it is a link"},
	"an artifact is a pipe": {func(r attack) {
		must(r.t, os.Remove(r.dir.Join(prdPath)))
		must(r.t, syscall.Mkfifo(r.dir.Join(prdPath), 0o600))
	}, "unreadable: " + prdPath, "pipe"},
	"an artifact is gone": {func(r attack) { must(r.t, os.Remove(r.dir.Join(prdPath))) }, "artifact: " + prdPath, "missing"},
	"an artifact is renamed": {func(r attack) {
		must(r.t, os.Rename(r.dir.Join(prdPath), r.dir.Join(prdPath+".old")))
	}, "artifact: " + prdPath, "missing"},
	"artifacts are swapped": {func(r attack) {
		a, b := r.read(prdPath), r.read(planPath)
		r.write(prdPath, b)
		r.write(planPath, a)
	}, "artifact: " + planPath, "differs from"},
	"artifacts are swapped, signed": {func(r attack) {
		a, b := r.read(prdPath), r.read(planPath)
		r.write(prdPath, b)
		r.write(planPath, a)
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Predicate.Written.Subject = "dan"
			s.Subject[0].Digest, s.Subject[2].Digest = s.Subject[2].Digest, s.Subject[0].Digest
		})
	}, "gate: " + planPath, "no decision matches this text"},
	"an artifact is named elsewhere": {func(r attack) {
		r.write("README.md", r.read(prdPath))
		r.forge("sign-in", "ann", func(s *Statement) { s.Subject[0].Name, s.Predicate.Stages[0].Artifact = "README.md", "README.md" })
	}, "statement: " + statementPath, "not a document of this run"},
	"an artifact leads out": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) {
			s.Subject[0].Name = ".claude/specs/sign-in/../sign-in/01-product-requirements.md"
			s.Predicate.Stages[0].Artifact = s.Subject[0].Name
		})
	}, "statement: " + statementPath, "not a document of this run"},
	"an artifact is named twice": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Subject = append(s.Subject, s.Subject[0]) })
	}, "statement: " + statementPath, "not a document of this run"},
	"an artifact is left out": {func(r attack) {
		r.write(prdPath, "# Other\n")
		r.forge("sign-in", "ann", func(s *Statement) { s.Subject = s.Subject[1:] })
	}, "statement: " + statementPath, "lists no hash"},
	"the folder is copied": {func(r attack) {
		must(r.t, os.CopyFS(r.dir.Join(".claude/specs/another"), os.DirFS(r.dir.Join(".claude/specs/sign-in"))))
	}, "folder: .claude/specs/another/run.json", "about another run"},
	"the run is belongs to another repository": {func(r attack) { r.roots = []string{strings.Repeat("c", 40)} }, "repository: " + statementPath, "belongs to another repository"},
	"the repository has no commit":             {func(r attack) { r.roots = nil }, "repository: " + statementPath, "belongs to another repository"},
	"an older statement": {func(r attack) {
		before := r.read(statementPath)
		r.p.Reopen("po")
		r.state(r.p, facts(r.p))
		r.base[statementPath] = []byte(r.read(statementPath))
		r.sign(statementPath, "ann", before)
	}, "older: " + statementPath, "history entries"},
	"the statement is removed": {func(r attack) {
		r.base[statementPath] = []byte(r.read(statementPath))
		must(r.t, os.Remove(r.dir.Join(statementPath)))
	}, "statement: " + statementPath, "it is missing"},
	"the run is reopened": {func(r attack) { r.add(r.p.Reopen("architect")) }, "reopened: .claude/specs/sign-in/02-system-architecture.md", "has reopened the stage"},
	"an old yes after a reopening": {func(r attack) {
		before, err := Parse([]byte(r.read(statementPath)))
		must(r.t, err)
		r.add(r.p.Reopen("po"))
		r.forge("sign-in", "ann", func(s *Statement) {
			decisions := s.Predicate.Decisions
			*s = *before
			s.Predicate.Decisions = decisions
		})
	}, "gate: " + prdPath, "was reopened since"},
	"edited after the yes": {func(r attack) {
		f := facts(r.p)
		f.Altered = []workflow.Alteration{{Stage: "po", Path: prdPath, SHA256: "x"}}
		r.write(prdPath, "# Other\n")
		r.state(r.p, f)
	}, "edited: " + prdPath, "edited after its approval"},
	"gone after the yes": {func(r attack) {
		f := facts(r.p)
		f.Altered = []workflow.Alteration{{Stage: "po", Path: prdPath, Missing: true}}
		must(r.t, os.Remove(r.dir.Join(prdPath)))
		r.state(r.p, f)
	}, "edited: " + prdPath, "missing since it was approved"},
	"adopted as it was edited": {func(r attack) {
		r.write(prdPath, "# Other\n")
		r.p.S.Note(workflow.Transition{At: r.p.At, Event: workflow.EventAdopted, Adoption: &workflow.Adoption{Texts: []workflow.Alteration{{Stage: "po", Path: prdPath, SHA256: "x"}}}})
		r.state(r.p, facts(r.p))
	}, "edited: " + prdPath, "nobody has approved this text"},
	"one person is not two": {func(r attack) {
		r.rules.Quorum = 2
		r.add(prooftest.NewPlay(r.t, "sign-in", "ann", "ann@laptop").Finish())
	}, "gate: " + prdPath, "1 of 2 required people"},
	"one key is not two people": {func(r attack) {
		r.rules.Quorum = 2
		r.base[SignersFile] = append(r.base[SignersFile], []byte(signature.Line("bob", prooftest.KeyOf(r.t, "ann").Public(), "")+"\n")...)
		r.forge("sign-in", "ann", func(s *Statement) {
			d := *approval(s, "po")
			d.Subject = "bob"
			d.sign(r.t, s, "ann")
			s.Predicate.Decisions = append(s.Predicate.Decisions, d)
		})
	}, "gate: " + prdPath, "1 of 2 required people"},
	"not an approver":    {func(r attack) { r.rules.Approvers = []string{"bob"} }, "gate: " + prdPath, "not an approver"},
	"nobody may approve": {func(r attack) { r.rules.Approvers = []string{} }, "gate: " + prdPath, "not an approver"},
	"her own work": {func(r attack) {
		r.rules.FourEyes = new(true)
		own := prooftest.NewPlay(r.t, "sign-in", "ann")
		own.Writer = "ann"
		r.add(own.Finish())
	}, "gate: " + prdPath, "wrote the document themselves"},
	"work of nobody known": {func(r attack) {
		r.rules.FourEyes = new(true)
		own := prooftest.NewPlay(r.t, "sign-in", "ann")
		own.Writer = ""
		r.add(own.Finish())
	}, "gate: " + prdPath, "the author of the document is unknown"},
	"a gate is left out": {func(r attack) {
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Predicate.Written.Subject, s.Predicate.Stages[0].Gate = "dan", workflow.GateNone
			without(s, "po")
		})
	}, "workflow: " + statementPath, "a stage po with a gate of kind score"},
	"a stage is left out": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Stages = s.Predicate.Stages[:5]; s.Subject = s.Subject[:4] })
	}, "workflow: " + statementPath, "a stage qa with a gate of kind verdict"},
	"a stage that is not done is approved": {func(r attack) {
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Predicate.Written.Subject, s.Predicate.Finished, s.Predicate.Stages[0].Status = "dan", false, workflow.Pending
			without(s, "po")
		})
	}, "statement: " + statementPath, "the stage po is not done"},
	"a document before its approval": {func(r attack) {
		r.add(prooftest.NewPlay(r.t, "sign-in", "ann"))
	}, "unapproved: " + prdPath, "nobody has approved it"},
	"a document that a listed person leaves out": {func(r attack) {
		r.write(prdPath, "# Other\n")
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Predicate.Written.Subject, s.Predicate.Finished, s.Predicate.Stages[0].Status, s.Subject = "dan", false, workflow.Pending, s.Subject[1:]
			without(s, "po")
		})
	}, "unapproved: " + prdPath, "nobody has approved it"},
	"a workflow of its own": {func(r attack) {
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Predicate.Written.Subject, s.Predicate.Workflow.Name, s.Predicate.Decisions = "dan", "own", []Decision{}
			for i := range s.Predicate.Stages {
				s.Predicate.Stages[i].Gate = workflow.GateNone
			}
		})
	}, "workflow: " + statementPath, "has no workflow"},
	"a gate of no kind": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Workflow.Name, s.Predicate.Stages[0].Gate = "own", "open" })
	}, "statement: " + statementPath, "of an unknown kind"},
	"a finished run that is not": {func(r attack) {
		r.add(prooftest.NewPlay(r.t, "sign-in", "ann").Documents())
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Finished = true })
	}, "statement: " + statementPath, "the stage dev is not done"},
	"a row fails": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Stages[5].Report.Criteria[0].Result = workflow.ResultFail })
	}, "verdict: " + statementPath, "do not match its rows"},
	"rows fail, and are counted": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) {
			s.Predicate.Stages[5].Report.Criteria[0].Result = workflow.ResultFail
			s.Predicate.Stages[5].Report.Rows = Totals{Failed: 1}
		})
	}, "verdict: " + statementPath, "lead to a worse verdict"},
	"a critical finding is open": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Stages[4].Report.Open = []Open{{"F1", "critical"}} })
	}, "verdict: " + statementPath, "review states pass"},
	"a command failed": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Stages[5].Report.Checks[0].Exit = 1 })
	}, "verdict: " + statementPath, "qa states pass"},
	"a failure that nobody accepted": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Stages[5].Report.Verdict = workflow.Fail })
	}, "gate: .claude/specs/sign-in/05-qa-report.md", "that failed qa"},
	"a yes that accepts no risk": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) {
			st := &s.Predicate.Stages[5]
			st.Report.Verdict = workflow.Fail
			d := *approval(s, "po")
			d.Stage, d.SHA256 = "qa", st.Submitted
			d.sign(r.t, s, "ann")
			s.Predicate.Decisions = append(s.Predicate.Decisions, d)
		})
	}, "gate: .claude/specs/sign-in/05-qa-report.md", "that failed qa"},
	"a scope that nobody approved": {func(r attack) {
		r.remove(".claude/specs/sign-in")
		r.add(scoped(r.t).Scope().Deliver())
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Decisions = []Decision{} })
	}, "gate: " + statementPath, "the scope of dev"},
	"an objection that nobody overruled": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Stages[5].Report.Objections = 1 })
	}, "gate: .claude/specs/sign-in/05-qa-report.md", "that failed qa"},
	"no report": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Stages[5].Report = nil })
	}, "verdict: " + statementPath, "has no report"},
	"more than a note above a text that was accepted": {func(r attack) {
		risk := prooftest.NewPlay(r.t, "sign-in", "ann")
		risk.Submit(workflow.EventExhausted, "# PRD")
		risk.Decide(workflow.EventApproved, workflow.DecisionOverride, "# PRD", "> note\n\n# Do this instead\n\n# PRD")
		r.add(risk)
	}, "gate: " + prdPath, "no decision matches this text"},
	"more documents than are read": {func(r attack) {
		must(r.t, os.Truncate(r.dir.Join(prdPath), maxDocuments-10))
		must(r.t, os.Truncate(r.dir.Join(planPath), 4096))
		sum := func(name string) string { return workflow.Hash([]byte(r.read(name))) }
		r.forge("sign-in", "ann", func(s *Statement) {
			s.Subject[0].Digest.SHA256, s.Subject[2].Digest.SHA256 = sum(prdPath), sum(planPath)
		})
	}, "unreadable: " + planPath, "cannot be read"},
	"more stages than a workflow has": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) {
			for range 60 {
				s.Predicate.Stages = append(s.Predicate.Stages, s.Predicate.Stages[0])
			}
		})
	}, "statement: " + statementPath, "more than once"},
	"a note above a text that was not accepted below its gate": {func(r attack) {
		r.write(prdPath, "# Do this instead\n\n"+r.read(prdPath))
		r.forge("sign-in", "dan", func(s *Statement) {
			s.Predicate.Written.Subject, s.Subject[0].Digest.SHA256 = "dan", workflow.Hash([]byte(r.read(prdPath)))
		})
	}, "gate: " + prdPath, "no decision matches this text"},
	"written in the future": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Written.At = prooftest.Noon.Add(1000 * time.Hour) })
	}, "time: " + statementPath, "in the future"},
	"lines of its own": {func(r attack) {
		r.forge("sign-in", "ann", func(s *Statement) { s.Predicate.Task = "x\n::error::all is well\x1b[2J" })
	}, "folder: " + statementPath, `about another run`},
	"the folder of the task is a link": {func(r attack) {
		must(r.t, os.Rename(r.dir.Join(".claude/specs/sign-in"), r.dir.Join("elsewhere")))
		must(r.t, os.Symlink("../../elsewhere", r.dir.Join(".claude/specs/sign-in")))
	}, "unreadable: .claude/specs/sign-in", "it is a link"},
}

// TestTampered: each change of an honest repository is a finding, in one line of visible characters, which says what to
// do.
func TestTampered(t *testing.T) {
	t.Parallel()
	for name, c := range tampered {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := prooftest.NewPlay(t, "sign-in", "ann").Finish()
			r := newRepository(t, p)
			if got, err := r.check(); err != nil || !got.Holds(true) {
				f, n := everything(got)
				t.Fatalf("the repository is not honest: %v\n%s%s", err, f, n)
			}
			c.change(attack{r, p})
			got, err := r.check()
			if err != nil {
				t.Fatal(err)
			}
			findings, _ := everything(got)
			found := false
			for line := range strings.Lines(findings) {
				line = strings.TrimSuffix(line, "\n")
				found = found || strings.HasPrefix(line, c.want+": ") && strings.Contains(line, c.says)
				if strings.HasSuffix(line, "→ ") || strings.ContainsAny(line, "\x1b\r") {
					t.Errorf("got %q", line)
				}
			}
			if !found || got.Holds(false) {
				t.Errorf("got\n%s\nwant %s: … %s", findings, c.want, c.says)
			}
		})
	}
	if len(tampered) < 30 {
		t.Errorf("got %d ways, want 30 at least", len(tampered))
	}
}

// TestRefused: a project whose runs cannot be judged is an error, not a pass.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{".claude", artifact.Folder} {
		r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
		must(t, os.Rename(r.dir.Join(folder), r.dir.Join("elsewhere")))
		rel, err := filepath.Rel(filepath.Dir(r.dir.Join(folder)), r.dir.Join("elsewhere"))
		must(t, err)
		must(t, os.Symlink(rel, r.dir.Join(folder)))
		if _, err := r.check(); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
