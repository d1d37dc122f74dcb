package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

var corpus = filepath.Join("..", "..", "..", "testdata", "audit")

// worth is a row of the corpus's index: the bounds of a document's score, and
// the documents it is traced to.
type worth struct {
	Least     float64 `yaml:"least"`
	Most      float64 `yaml:"most"`
	PO        string  `yaml:"po"`
	Architect string  `yaml:"architect"`
	SM        string  `yaml:"sm"`
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func rubric(t testing.TB, stage workflow.StageID) audit.Rubric {
	t.Helper()
	r, err := audit.Load(nil, workflow.Default(), stageOf(stage))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCorpus audits every document of the corpus. Its goldens are read by
// people: each finding must be true, and its line the right one.
func TestCorpus(t *testing.T) {
	var index map[string]worth
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(corpus, "index.yaml"))), &index); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(corpus, "*", "*.md"))
	if err != nil || len(files) != len(index) {
		t.Fatalf("%d documents, %d rows in the index (%v)", len(files), len(index), err)
	}
	for name, w := range index {
		t.Run(name, func(t *testing.T) {
			stage := workflow.StageID(strings.Split(name, "/")[0])
			earlier := map[workflow.StageID]string{}
			for s, of := range map[workflow.StageID]string{workflow.PO: w.PO, workflow.Architect: w.Architect, workflow.SM: w.SM} {
				if of != "" {
					earlier[s] = readFile(t, filepath.Join(corpus, filepath.FromSlash(of)+".md"))
				}
			}
			document := readFile(t, filepath.Join(corpus, filepath.FromSlash(name)+".md"))
			got := rubric(t, stage).Audit(document, audit.Background{Plan: workflow.SM, Earlier: earlier})
			if w.Least > 0 && got.Score < w.Least {
				t.Errorf("%g, a good document of this kind is worth %g", got.Score, w.Least)
			}
			if w.Most > 0 && got.Score > w.Most {
				t.Errorf("%g, a bad document of this kind is worth %g at most", got.Score, w.Most)
			}
			golden.Check(t, filepath.Join(corpus, filepath.FromSlash(name)+".golden"), show(got))
			if w.Most == 0 && w.Least == 0 {
				t.Error("no bound in the index")
			}
			// Line ends and a byte order mark change nothing.
			again := rubric(t, stage).Audit("\ufeff"+strings.ReplaceAll(document, "\n", "\r\n"), audit.Background{Plan: workflow.SM, Earlier: earlier})
			if show(again) != show(got) {
				t.Errorf("with CRLF and BOM:\n%s", show(again))
			}
		})
	}
}

func show(a workflow.Audit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%g\n%s\n", a.Score, a.Summary)
	for _, f := range a.Findings {
		fmt.Fprintf(&b, "\n%d %s −%g %s: %s\n    %s\n", f.Line, f.Severity, f.Points, f.ID, f.Problem, f.Fix)
	}
	return b.String()
}

// TestRealRuns audits the documents of whole runs: none of them may fall below
// the score of a good document. First drafts are traced to the requirements of
// their own round.
func TestRealRuns(t *testing.T) {
	relay, zh := "../../../testdata/submissions/webhook-relay/", "../../../testdata/submissions/zh-booking/"
	for _, run := range []struct {
		stage           workflow.StageID
		file, prd, plan string
		least           float64
	}{
		{"po", relay + "01-po-first.md", "", "", 95},
		{"po", relay + "03-po-second.json", "", "", 98},
		{"architect", relay + "04-architect-first.md", relay + "03-po-second.json", "", 85},
		{"architect", relay + "05-architect-second.md", relay + "03-po-second.json", "", 98},
		{"sm", relay + "06-sm-first.json", relay + "03-po-second.json", "", 98},
		{"dev", relay + "07-dev-first.md", relay + "03-po-second.json", relay + "06-sm-first.json", 98},
		{"dev", relay + "09-dev-second.md", relay + "03-po-second.json", relay + "06-sm-first.json", 98},
		{"po", zh + "01-po-first.md", "", "", 95},
		{"architect", zh + "02-architect-first.md", zh + "01-po-first.md", "", 85},
		{"sm", zh + "03-sm-first.md", zh + "01-po-first.md", "", 95},
		{"dev", zh + "04-dev-first.md", zh + "01-po-first.md", zh + "03-sm-first.md", 98},
	} {
		document := func(stage workflow.StageID, name string) string {
			if name == "" {
				return ""
			}
			return intake.Read(stageOf(stage), readFile(t, name)).Document
		}
		a := rubric(t, run.stage).Audit(document(run.stage, run.file), audit.Background{Plan: workflow.SM, Earlier: map[workflow.StageID]string{
			workflow.PO: document(workflow.PO, run.prd), workflow.SM: document(workflow.SM, run.plan),
		}})
		if a.Score < run.least {
			t.Errorf("%s: %g, want %g or more\n%s", run.file, a.Score, run.least, show(a))
		}
		if slices.ContainsFunc(a.Findings, func(f workflow.AuditFinding) bool {
			return f.Problem == "" || f.Fix == "" || (f.Points <= 0) != f.Asks()
		}) {
			t.Errorf("%s: an empty finding\n%s", run.file, show(a))
		}
	}
}

// stageOf returns a stage of the default workflow.
func stageOf(id workflow.StageID) workflow.Stage {
	st, _ := workflow.Default().Stage(id)
	return st
}
