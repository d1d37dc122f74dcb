package audit_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// subjects is a file of testdata/subjects: objectives with their documents, and with others.
type subjects struct {
	Documents  map[string]string `yaml:"documents"`
	Own, Other []subjectPair
}

type subjectPair struct {
	Objective string                      `yaml:"objective"`
	Stage     workflow.StageID            `yaml:"stage"`
	Document  string                      `yaml:"document"`
	After     map[workflow.StageID]string `yaml:"after"`
}

// document returns a document of the file by its name, or one of testdata by its path.
func (s subjects) document(t *testing.T, stage workflow.StageID, name string) string {
	t.Helper()
	if text, ok := s.Documents[name]; ok {
		return text
	}
	folder := filepath.Join("..", "..", "..", "testdata")
	if strings.HasPrefix(name, "parallel/") {
		folder = "testdata"
	}
	text := readFile(t, filepath.Join(folder, filepath.FromSlash(name)))
	if strings.HasPrefix(name, "submissions/") {
		text = intake.Read(stageOf(stage), text).Document
	}
	return text
}

// offObjective reports whether the audit of a pair's document names another subject.
func (s subjects) offObjective(t *testing.T, p subjectPair) bool {
	t.Helper()
	known := audit.Background{Objective: p.Objective, Plan: workflow.SM, Earlier: map[workflow.StageID]string{}}
	for stage, name := range p.After {
		known.Earlier[stage] = s.document(t, stage, name)
	}
	a := rubric(t, p.Stage).Audit(s.document(t, p.Stage, p.Document), known)
	return slices.ContainsFunc(a.Findings, func(f workflow.AuditFinding) bool { return f.ID == "OFF-OBJECTIVE" })
}

// TestSubjects names documents about another subject than that of their run: at least 27 of 30,
// and charges at most 2 of 60 others, in English, in Chinese, and between both.
func TestSubjects(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			var s subjects
			if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join("testdata", "subjects", name+".yaml"))), &s); err != nil {
				t.Fatal(err)
			}
			if len(s.Own) < 60 || len(s.Other) < 30 {
				t.Fatalf("%d pairs, and %d of another subject", len(s.Own), len(s.Other))
			}
			charged, named := 0, 0
			for _, p := range s.Own {
				if s.offObjective(t, p) {
					charged++
					t.Logf("charged: %s: %s", p.Objective, p.Document)
				}
			}
			for _, p := range s.Other {
				if s.offObjective(t, p) {
					named++
				} else {
					t.Logf("not named: %s: %s", p.Objective, p.Document)
				}
			}
			t.Logf("%d of %d named, %d of %d charged", named, len(s.Other), charged, len(s.Own))
			if named < 27 || charged > 2 {
				t.Errorf("%d of %d named, want 27 or more; %d of %d charged, want 2 or fewer", named, len(s.Other), charged, len(s.Own))
			}
		})
	}
}
