package audit

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const chinese = lang.Language("zh")

// spokenFor matches the parts of a finding that may be in Latin letters: quotations, code, ids and values.
var spokenFor = regexp.MustCompile("`[^`]*`|“[^”]*”|\"[^\"]*\"")

var english = regexp.MustCompile(`[A-Za-z][a-z']*(?:[ ,;:]+[A-Za-z][a-z']*){3}`)

// TestFindingsInChinese: every built-in check, with every document that fails it, says its
// finding in Chinese, at the same line and price as in English.
func TestFindingsInChinese(t *testing.T) {
	t.Parallel()
	bodies := []string{
		"", "# T\n\nTODO\n", "# 登录\n\n全文很短。\n", strings.Repeat("lorem ipsum dolor sit amet ", 40), strings.Repeat("x", maxRead+1),
		"# T\n\n## Scalability\n\nIt scales well.\n\n## Success Metrics\n\nMore users.\n\n## Technical Requirements\n\nFast.\n\n## Security\n\n",
		"# T\n\n## User Stories\n\nAs a cook, I want a bell.\n\nAs a waiter, I want a bell.\n\n### US-7\n\n- AC-7.1 it is fast\n- it works well\n\n### US-7\n\nThe 5 user stories are world-class.\n",
		"# T\n\n## Open Questions\n\n1. Who pays?\n2. When?\n3. Where?\n4. Why?\n\nAll tests pass.\n\n42 passed, 3 failed\n",
		"# T\n\n## Sprint 1: a\n\n### S1-1 b\n\n### S1-1 c\n\n## Sprint 2: b\n\ntext\n\n## Sprint 3: c\n\n| Id | Severity | Problem |\n|---|---|---|\n| R1 | major | bad |\n",
		"# T\n\n| Criterion | Result | Evidence |\n|---|---|---|\n| AC-1.1 | pass | ok |\n| AC-1.2 | pass | |\n| AC-1.3 | pass | |\n",
		"# T\n\n" + strings.Repeat("The same long sentence about nothing stands here once more today.\n\n", 6),
	}
	earlier := map[workflow.StageID]string{
		workflow.PO: "## Functional Requirements\n\n- FR-1 (Must): it rings\n- FR-2 (Must): it stops\n- FR-3 (Must): it waits\n- AC-4.1 it rings in 1 s\n",
	}
	seen := map[string]bool{}
	for _, st := range stagesOf(t) {
		r, err := Load(nil, workflow.Default(), st)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range bodies {
			if len(body) > maxRead && st.ID != workflow.PO {
				continue
			}
			for _, b := range []Background{{Objective: "a bell for the kitchen of the restaurant"}, {Earlier: earlier}} {
				said := r.Audit(body, b)
				b.Language = chinese
				got := r.Audit(body, b)
				if got.Score != said.Score || len(got.Findings) != len(said.Findings) {
					t.Fatalf("%s: %v points in Chinese, %v in English", st.ID, got.Score, said.Score)
				}
				for i, f := range got.Findings {
					seen[f.ID] = true
					if e := said.Findings[i]; f.ID != e.ID || f.Line != e.Line || f.Points != e.Points {
						t.Errorf("%s: %+v in Chinese, %+v in English", st.ID, f, e)
					}
					for _, text := range []string{f.Problem, f.Fix, got.Summary} {
						if m := english.FindString(spokenFor.ReplaceAllString(text, "")); m != "" || !strings.ContainsFunc(text, isHan) {
							t.Errorf("%s %s is not Chinese: %q", st.ID, f.ID, text)
						}
					}
				}
			}
		}
	}
	if len(seen) < 45 {
		t.Errorf("only %d kinds of findings were seen", len(seen))
	}
}

// stagesOf returns the built-in stages, and one whose rubric is that of its kind.
func stagesOf(t *testing.T) []workflow.Stage {
	t.Helper()
	stages := slices.DeleteFunc(workflow.Default().Stages, func(st workflow.Stage) bool { return !st.Audited() })
	return append(stages, workflow.Stage{ID: "notes", Kind: workflow.KindDocument})
}

// TestSectionsInChinese: a section is found under the name by which a finding asks for it.
func TestSectionsInChinese(t *testing.T) {
	t.Parallel()
	for _, st := range stagesOf(t) {
		r, err := Load(nil, workflow.Default(), st)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.checks {
			if name := chinese.Word(c.Name); c.Name != "" && !markdown.MatchesName(markdown.NameOf(name), c.Names) {
				t.Errorf("%s %s asks for %q, which it does not know", st.ID, c.ID, name)
			}
		}
	}
}

// TestOwnRubricStays: the texts of a person's own rubric stay in their language.
func TestOwnRubricStays(t *testing.T) {
	t.Parallel()
	st, _ := workflow.Default().Stage(workflow.PO)
	r, err := Parse("po.yaml", nil, st, []byte("checks:\n- {id: BELL, kind: section, severity: major, points: 9, name: Bell, problem: 'no bell, {name}', fix: draw a bell for us}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := r.Audit("# T\n\ntext\n", Background{Language: chinese}).Findings
	if len(got) != 1 || got[0].Problem != "no bell, Bell" || got[0].Fix != "draw a bell for us" {
		t.Errorf("got %+v", got)
	}
}
