package audit_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
)

// apart is how many points two translations of one document may differ by.
const apart = 3

// TestParallel audits pairs of a document in English and its Chinese translation. The objective
// and the earlier documents of a pair, which have its name, are in the same language.
func TestParallel(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("testdata", "parallel")
	var objectives map[string]map[string]string
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(folder, "index.yaml"))), &objectives); err != nil {
		t.Fatal(err)
	}
	pairs, err := filepath.Glob(filepath.Join(folder, "*.en.md"))
	if err != nil {
		t.Fatal(err)
	}
	count := map[workflow.StageID]int{}
	for _, path := range pairs {
		pair := strings.TrimSuffix(filepath.Base(path), ".en.md")
		id, name, _ := strings.Cut(pair, "-")
		stage := workflow.StageID(id)
		count[stage]++
		got := map[string]workflow.Audit{}
		for _, l := range []lang.Language{"en", "zh"} {
			read := func(stage workflow.StageID) string {
				text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s-%s.%s.md", stage, name, l)))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				return string(text)
			}
			b := audit.Background{Language: l, Objective: objectives[name][string(l)], Plan: workflow.SM, Earlier: map[workflow.StageID]string{}}
			for _, before := range workflow.Default().Stages {
				if before.ID == stage || stage == "document" {
					break
				}
				b.Earlier[before.ID] = read(before.ID)
			}
			got[string(l)] = ofStage(t, stage).Audit(read(stage), b)
		}
		en, zh := got["en"], got["zh"]
		t.Logf("%-24s en %5.1f  zh %5.1f  %+5.1f", pair, en.Score, zh.Score, zh.Score-en.Score)
		if ids(en) != ids(zh) {
			t.Logf("%s only in English, or only in Chinese:\n%s\n%s", pair, listFindings(en), listFindings(zh))
		}
		if math.Abs(en.Score-zh.Score) > apart {
			t.Errorf("%s: %v in English, %v in Chinese\n%s\n%s", pair, en.Score, zh.Score, listFindings(en), listFindings(zh))
		}
	}
	for _, st := range append(slices.Clone(stages), "document") {
		if n := count[workflow.StageID(st)]; n < 3 {
			t.Errorf("stage %s has %d pairs", st, n)
		}
	}
}

// ofStage returns the built-in rubric of a stage, or that of a document.
func ofStage(t *testing.T, stage workflow.StageID) audit.Rubric {
	t.Helper()
	if stage != "document" {
		return rubric(t, stage)
	}
	r, err := audit.Load(nil, nil, workflow.Stage{ID: "notes", Kind: workflow.KindDocument})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ids names the checks that a document failed.
func ids(a workflow.Audit) string {
	var out []string
	for _, f := range a.Findings {
		out = append(out, f.ID)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func listFindings(a workflow.Audit) string {
	var b strings.Builder
	for _, f := range a.Findings {
		fmt.Fprintf(&b, "  %-18s −%-4g line %-3d %s\n", f.ID, f.Points, f.Line, f.Problem)
	}
	return b.String()
}
