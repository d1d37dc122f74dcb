package proof

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/proof/prooftest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

func TestMain(m *testing.M) { os.Exit(scratch.Run(m)) }

// root is the first commit of the repository.
const root = "5aa5c5f1e6b7c8d9a0b1c2d3e4f5a6b7c8d9e0f1"

// facts are those of a run.
func facts(p *prooftest.Play) Facts {
	return Facts{
		Program: "1.2.3", Root: root, Remote: "https://ann:secret@example.org/x.git", Writer: workflow.Person{Subject: p.People[0]}, Head: "head",
		Work: Work{ApprovedCommit: strings.Repeat("a", 40), TestedCommit: strings.Repeat("b", 40), TestedClean: true},
	}
}

// repository is a project under check, with what the base branch has.
type repository struct {
	t     testing.TB
	dir   *durable.Dir
	base  map[string][]byte
	rules Rules
	roots []string
	// changed are the files since the test; nil if its commit is not there.
	changed []string
}

// newRepository returns a project with the files of runs, whose base lists ann, bob and dan.
func newRepository(t testing.TB, plays ...*prooftest.Play) *repository {
	t.Helper()
	dir, err := durable.OpenDir(scratch.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	r := &repository{t: t, dir: dir, base: map[string][]byte{}, roots: []string{root}}
	var lines string
	for _, who := range []string{"ann", "ann@laptop", "bob", "dan"} {
		account, _, _ := strings.Cut(who, "@")
		lines += signature.Line(account, prooftest.KeyOf(t, who).Public(), "") + "\n"
	}
	r.base[SignersFile] = []byte(lines)
	r.write(SignersFile, lines)
	for _, p := range plays {
		r.add(p)
	}
	return r
}

// add writes the files of a run, and its statement.
func (r *repository) add(p *prooftest.Play) {
	r.t.Helper()
	for name, text := range p.Files {
		r.write(name, string(text))
	}
	r.state(p, facts(p))
}

// state writes the statement of a run with facts.
func (r *repository) state(p *prooftest.Play, f Facts) {
	r.t.Helper()
	files, err := Write(p.S, f, prooftest.KeyOf(r.t, p.People[0]).Sign)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range files {
		r.write(f.Path(), string(f.Body))
	}
}

func (r *repository) write(name, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.dir.Join(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.dir.Join(name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repository) remove(name string) {
	r.t.Helper()
	must(r.t, os.RemoveAll(r.dir.Join(name)))
}

func (r *repository) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.dir.Join(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// forge changes the statement of a task, and signs it with the key of a machine.
func (r *repository) forge(task, machine string, change func(s *Statement)) {
	r.t.Helper()
	name := Path(task, StatementFile)
	s, err := Parse([]byte(r.read(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	change(s)
	text, err := s.encode()
	if err != nil {
		r.t.Fatal(err)
	}
	r.sign(name, machine, string(text))
}

// sign writes a file, and its signature with the key of a machine.
func (r *repository) sign(name, machine, text string) {
	r.t.Helper()
	made, err := prooftest.KeyOf(r.t, machine).Sign([]byte(text))
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(name, text)
	r.write(name+".sig", signature.Armor(made))
}

func (r *repository) check() (Result, error) {
	r.t.Helper()
	return Check(Input{
		Project: r.dir.Tree(), Roots: r.roots, Now: prooftest.Noon.Add(48 * time.Hour),
		Base: Base{
			Name: "origin/main", Files: r.base, Rules: func(workflow.StageID) Rules { return r.rules },
			Workflow: func(name string) *workflow.Definition {
				for _, d := range append(workflow.Builtins(), workflowtest.Six()) {
					if d.Name == name {
						return d
					}
				}
				return nil
			},
		},
		Changed: func(string) ([]string, bool) { return slices.Clone(r.changed), r.changed != nil },
	})
}

// said returns the findings and notes of a check, one a line, as rule: path: what.
func said(list []Finding) string {
	var out []string
	for _, f := range list {
		what, do := f.Says(lang.English)
		out = append(out, f.Rule+": "+f.Path+": "+what+" → "+do)
	}
	return strings.Join(out, "\n")
}

// everything returns what a result says.
func everything(r Result) (findings, notes string) {
	var f, n []Finding
	for _, run := range r.Runs {
		f, n = append(f, run.Findings...), append(n, run.Notes...)
	}
	return said(f), said(append(n, r.Notes...))
}

// statementPath is where the statement of most runs is.
const statementPath = ".claude/specs/sign-in/run.json"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// approval returns the decision that opened the gate of a stage.
func approval(s *Statement, id workflow.StageID) *Decision {
	for i := range s.Predicate.Decisions {
		if d := &s.Predicate.Decisions[i]; d.Stage == id && d.opensGate() {
			return d
		}
	}
	return nil
}

// without drops the decisions about a stage.
func without(s *Statement, id workflow.StageID) {
	var out []Decision
	for _, d := range s.Predicate.Decisions {
		if d.Stage != id {
			out = append(out, d)
		}
	}
	s.Predicate.Decisions = out
}

// sign signs a decision anew with the key of a machine.
func (d *Decision) sign(t testing.TB, s *Statement, machine string) {
	var err error
	d.Signature, err = prooftest.KeyOf(t, machine).Sign(d.toGrant().Statement(s.Predicate.Session, s.Predicate.Task))
	must(t, err)
}

// unsealed replaces a text of the statement and leaves the signature as it was.
func (r *repository) unsealed(old, new string) {
	r.t.Helper()
	text := r.read(statementPath)
	if !strings.Contains(text, old) {
		r.t.Fatalf("the statement has no %q", old)
	}
	r.write(statementPath, strings.Replace(text, old, new, 1))
}

// The documents that most attacks are about.
const (
	prdPath  = ".claude/specs/sign-in/01-product-requirements.md"
	planPath = ".claude/specs/sign-in/03-sprint-plan.md"
)
