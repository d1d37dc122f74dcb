package start

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// TestDemoDocuments audits the documents of the demo, in each language: a newcomer sees good ones, but for
// the one draft that asks questions.
func TestDemoDocuments(t *testing.T) {
	var files []string
	for _, step := range demoSteps(lang.English) {
		files = append(files, step.file)
	}
	for _, l := range lang.All() {
		t.Run(string(l), func(t *testing.T) { auditDemo(t, l, files) })
	}
}

func auditDemo(t *testing.T, l lang.Language, files []string) {
	low := []string{"po-1.md"}
	earlier := map[workflow.StageID]string{}
	for _, file := range files {
		if file == "" {
			continue
		}
		data, err := demoText(l, file)
		if err != nil {
			t.Fatal(err)
		}
		if l != lang.English && !strings.ContainsFunc(string(data), func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%s is not in the language %s", file, l)
		}
		stage := workflow.StageID(strings.Split(file, "-")[0])
		if stageOf(stage).Gate == workflow.GateVerdict {
			owed := verdict.Contract{Owes: stageOf(stage).Owed(), Criteria: verdict.ReadCriteria(verdict.Sources{Requirements: []string{earlier[workflow.PO]}})}
			if j := verdict.Judge(verdict.Read(string(data), nil), owed); len(j.Returned) > 0 || (j.Verdict == workflow.Pass) == (file == "review-1.md") {
				t.Errorf("%s: %s, %v", file, j.Verdict, j.Returned)
			}
			continue
		}
		document := intake.Read(stageOf(stage), string(data)).Document
		if !stageOf(stage).Audited() {
			continue
		}
		rubric, err := audit.Load(nil, workflow.Default(), stageOf(stage))
		if err != nil {
			t.Fatal(err)
		}
		// Who fills in the forms themselves answers in other words than the script.
		of := audit.Background{Plan: workflow.SM, Objective: l.Say(demoObjective), Earlier: maps.Clone(earlier)}
		delete(of.Earlier, stage)
		a := rubric.Audit(document, of)
		for _, answer := range []string{"me", "a team of ten, on the web"} {
			if of.Answers = []string{answer}; rubric.Audit(document, of).Score < a.Score {
				a = rubric.Audit(document, of)
			}
		}
		switch good := a.Score >= 95; {
		case slices.Contains(low, file) && a.Score >= 90:
			t.Errorf("%s shows no gap: %g", file, a.Score)
		case !good && !slices.Contains(low, file):
			t.Errorf("%s: %g, %s", file, a.Score, a.Summary)
		}
		if len(document) > 2000 {
			t.Errorf("%s takes %d bytes: the demo is read in a minute", file, len(document))
		}
		earlier[stage] = document
	}
}

// stageOf returns a stage of the default workflow.
func stageOf(id workflow.StageID) workflow.Stage {
	st, _ := workflow.Default().Stage(id)
	return st
}
