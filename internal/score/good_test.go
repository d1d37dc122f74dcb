package score_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestNoPassIsHeld holds texts of work that passed and are easily taken for a fail.
func TestNoPassIsHeld(t *testing.T) {
	beside := func(report string) string {
		return "# QA report\n\n" + report + "\n\n" + fenced(`{"verdict":"pass","criteria":[{"id":"AC-9","result":"pass"}],"findings":[]}`)
	}
	for _, text := range []string{
		beside("```json\n{\n\"status\": \"failed\",\n}\n```"),
		beside("- Status: failed deliveries are shown in the list (AC-2.3)"),
		beside("**Status:** blocked users get 403 as specified"),
		beside("| Severity | Description |\n|--|--|\n| Critical | data loss |"),
		beside("| Severity | Findings |\n|--|--|\n| Critical | 0 |"),
		beside("| ID | Severity | Problem | Resolution |\n|--|--|--|--|\n| R1 | critical | p | fixed in abc123, verified |"),
		beside("### Round 1\n- Verdict: fail (R1)\n\n### Round 2\n- Verdict: pass"),
		beside("| | Round 1 | Round 2 |\n|--|--|--|\n| Verdict | ❌ FAIL | ✅ PASS |"),
		beside("**Verdict:** fail → pass"),
		beside("| AC | Result in round 1 | Result in round 2 |\n|--|--|--|\n| AC-1 | fail | pass |"),
		beside("| AC | Result |\n|--|--|\n| AC-1 | ✅ PASS (was ❌ in round 1) |\n| AC-2 | pass – returns false for expired |\n| AC-3 | fail → pass |"),
		beside("All tests fail when the fix is reverted, as they should."),
		beside("All 3 tests failed in round 1; all pass now."),
		"Verdict: PASS (after rework)",
		"Status: PASS after two rounds of fixes",
		"Status: PASSED with 0 failures",
		"Status: Pass with no failing tests",
		"Status: PASS (with 42 passed, 0 failed)",
		"Status: PASS\n\n| Verdict | Meaning |\n|--|--|\n| pass | good |",
		"Status: PASS\n\n**Overall result:** 42 passed, 0 failed",
		"## Overall result\n\nFailed: 0, passed: 42\n\nStatus: pass",
		"## Verdict\r\n\r\n**PASS**\r\n",
		"## Verdict — PASS",
		"**Verdict:**\n\nPASS",
		"**审查状态**：通过",
		"测试结果：全部通过",
		"## 六、结论\n\n**通过**",
		`{"qa_report":"# Q\n\nStatus: PASS","status":"completed"}`,
		`{"qa_report":"r","verdict":"pass: criteria all met"}`,
		`{"qa_report":"r","verdict":"pass","findings":{"critical":"none"}}`,
		`{"qa_report":"r","verdict":"pass","findings":[{"severity":"non-critical","problem":"p"}]}`,
		`{"qa_report":"r","verdict":"pass","findings":[{"severity":"critical","problem":"p","status":"✓ Fixed (was still open in round 1)"}]}`,
		`{"qa_report":"r","verdict":"pass","findings":[{"severity":"critical","problem":"p","status":"已修复（未复现）"}]}`,
		`{"qa_report":"r","verdict":"pass","criteria":[{"id":"AC-1","result":"PASS with 0 failures"},{"id":"AC-2","result":"rejected with 401, as specified"}]}`,
	} {
		a := score.Read(named(workflow.QA), text)
		if got := outcome(a); got != workflow.Pass {
			t.Errorf("%.160q: got %q, objections %q", text, got, a.Objections)
		}
	}
}

// TestFactsBesideADocument reads the block of facts that models put at the end of
// a Markdown document, whatever polite sentence follows it.
func TestFactsBesideADocument(t *testing.T) {
	doc := "# Report\n\n## Results\n\nAll of it in words."
	tail := "\n\nThe full log is in qa.log."
	qa := score.Read(named(workflow.QA), doc+"\n\n"+fenced(`{"verdict":"pass","criteria":[{"id":"AC-1","result":"fail"}],"findings":[]}`)+tail)
	if outcome(qa) != doubt || len(qa.Criteria) != 1 || strings.Contains(qa.Document, "verdict") {
		t.Errorf("qa: %+v", qa)
	}
	qa = score.Read(named(workflow.QA), doc+"\n\nStatus: pass\n\n"+fenced(`{"criteria":[{"id":"AC-1","result":"fail"}]}`))
	if outcome(qa) != doubt {
		t.Errorf("qa without a verdict field: %+v", qa)
	}
	dev := score.Read(named(workflow.Dev), doc+"\n\n"+fenced(`{"sprints":[1],"files":["a"],"resolved":[{"id":"R1","how":"h"}]}`))
	if !slices.Equal(dev.Scope, []int{1}) || len(dev.Resolved) != 1 || dev.Document != doc {
		t.Errorf("dev: %+v", dev)
	}
	po := score.Read(named(workflow.PO), doc+"\n\n"+fenced(`{"quality_score":92,"gaps":[],"questions":["Who?"]}`)+"\n\nPlease answer these.")
	if len(po.Questions) != 1 || po.Claimed == nil || *po.Claimed != 92 {
		t.Errorf("po: %+v", po)
	}
}

func TestLongProseAfterTheEnvelope(t *testing.T) {
	report := "# Rework report\n\n" + strings.Repeat("R1 was mended at its cause. ", 50)
	text := fenced(`{"implementation":"`+strings.ReplaceAll(report, "\n", `\n`)+`","sprints":[1],"resolved":[{"id":"R1"}]}`) + "\n\n## Summary\n\n" + strings.Repeat("And so on. ", 400)
	a := score.Read(named(workflow.Dev), text)
	if !strings.HasPrefix(a.Document, "# Rework report") || strings.Contains(a.Document, "Summary") || len(a.Resolved) != 1 {
		t.Errorf("%.80q, %v", a.Document, a.Resolved)
	}
}

func TestExamplesAreNoDefect(t *testing.T) {
	for stage, text := range map[workflow.StageID]string{
		workflow.SM:     "# Plan\n\n## Sprint 1: a\n\n" + fenced(`{"plan": "pro", "limits": {...}, "seats": 3}`),
		workflow.Review: "# R\n\nStatus: PASS\n\n" + fenced(`{"report": <id>, ...}`),
		workflow.PO:     "# P\n\n" + fenced("{\"prd\": \"arm64\", // x\n …}"),
	} {
		if a := score.Read(named(stage), text); !a.Defect.Empty() {
			t.Errorf("%s: %q", stage, a.Defect)
		}
	}
}

func TestPlansInFences(t *testing.T) {
	for _, text := range []string{
		"Here is the plan:\n\n```markdown\n## Sprint 1: Intake\n```\n\nShall I go on?",
		"````markdown\n## Sprint 1: Intake\n```\ncode\n```\n````",
		`{"sprint_plan":"` + "```markdown\\n## Sprint 1: Intake\\n```" + `"}`,
		"```markdown\r\n## Sprint 1: Intake\r\n```",
		"## 1. Sprint 1: Intake", "### 3.1 Sprint 1: Intake", "## 一、冲刺 1：Intake",
		`{"sprints":[{"name":"Sprint 1: Intake"}]}`,
		"## Sprint 1: Intake\n### Sprint 1 Definition of Done\n## Sprint 1–2 at a glance",
	} {
		a := score.Read(named(workflow.SM), text)
		if len(a.Sprints) != 1 || !strings.Contains(a.Sprints[0].Title, "Intake") || len(a.Missing) != 0 {
			t.Errorf("%.60q: %+v, %q", text, a.Sprints, a.Missing)
		}
	}
}

func TestScoresThatMoved(t *testing.T) {
	envelope := fenced(`{"prd_updated":"d","quality_score":92}`) + "\n"
	for _, text := range []string{
		envelope + "Quality score: 78 → 92.", envelope + "Quality score: 92/100 (was quality score: 78/100 in round 1)", envelope + "| Quality score | 78 | 92 |",
		`{"prd_updated":"d","quality_score":{"total":92,"business":30}}`, `{"prd_updated":"d","quality_score":"92 points"}`, "## 9. Quality Score\r\n\r\n92/100",
	} {
		if c := score.Read(named(workflow.PO), text).Claimed; c == nil || *c != 92 {
			t.Errorf("%.120q: %v", text, c)
		}
	}
}
