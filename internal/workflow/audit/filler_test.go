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

// fillerCorpus has the rows of testdata/filler/index.yaml: documents that say nothing, and
// honest ones, each with the objective of its run.
type fillerCorpus struct {
	Objectives map[string]string `yaml:"objectives"`
	Filler     []fillerRow       `yaml:"filler"`
	Honest     []fillerRow       `yaml:"honest"`
}

type fillerRow struct {
	File      string           `yaml:"file"`
	Stage     workflow.StageID `yaml:"stage"`
	Objective string           `yaml:"objective"`
	// NeedsObjective is true if only the objective shows that the document is filler.
	NeedsObjective bool `yaml:"needs_objective"`
}

var fillerFolder = filepath.Join("..", "..", "..", "testdata", "filler")

func readFillerCorpus(t *testing.T) fillerCorpus {
	t.Helper()
	var c fillerCorpus
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(fillerFolder, "index.yaml"))), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// contentChecks are the checks of the rubrics that look at the words of a text.
var contentChecks = []string{"FILLER", "JARGON", "ANNOUNCED", "OFF-OBJECTIVE"}

// TestFiller audits both sides of the corpus: what is filler by its words stays below 60, what is by the objective alone
// below every gate; honest documents lose nothing to the checks for filler, with or without an objective.
func TestFiller(t *testing.T) {
	c := readFillerCorpus(t)
	if len(c.Filler) < 20 || len(c.Honest) < 20 {
		t.Fatalf("%d documents of filler, %d honest ones", len(c.Filler), len(c.Honest))
	}
	auditRow := func(row fillerRow, objective string) workflow.Audit {
		text := readFile(t, filepath.Join(fillerFolder, filepath.FromSlash(row.File)))
		if strings.Contains(row.File, "submissions/") {
			text = intake.Read(stageOf(row.Stage), text).Document
		}
		return rubric(t, row.Stage).Audit(text, audit.Background{Objective: objective})
	}
	charged := func(a workflow.Audit) bool {
		return slices.ContainsFunc(a.Findings, func(f workflow.AuditFinding) bool { return slices.Contains(contentChecks, f.ID) })
	}
	objective := func(row fillerRow) string {
		o, ok := c.Objectives[row.Objective]
		if !ok {
			t.Fatalf("%s: there is no objective %q", row.File, row.Objective)
		}
		return o
	}
	passed := 0
	for _, row := range c.Filler {
		a, most := auditRow(row, ""), 60.0
		if row.NeedsObjective {
			a, most = auditRow(row, objective(row)), 90
		}
		if a.Score >= most {
			t.Errorf("filler %s: %s", row.File, show(a))
		}
	}
	for _, row := range c.Honest {
		a, alone := auditRow(row, objective(row)), auditRow(row, "")
		if charged(a) || charged(alone) {
			t.Errorf("honest %s: %s", row.File, show(a))
		} else {
			passed++
		}
	}
	t.Logf("%d documents of filler; honest documents not charged: %d of %d", len(c.Filler), passed, len(c.Honest))
}
