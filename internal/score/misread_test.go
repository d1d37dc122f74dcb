package score_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func fenced(s string) string { return tick + "json\n" + s + "\n" + tick }

// TestNoFailIsReadAsPass holds texts of failed work that are easily taken for a pass: they fail, state
// no verdict, or state a pass that asks the person.
func TestNoFailIsReadAsPass(t *testing.T) {
	filler := strings.Repeat("The run was long and is described here in full. ", 60)
	tests := []struct {
		text string
		want workflow.Verdict
	}{
		{"# QA\n\nVerdict: FAIL\n\n## Automated tests\n\nTest result: PASS (12 tests)", workflow.Fail},
		{"## Verdict\n\n**FAIL**\n\n### S1-1\nStatus: Pass", workflow.Fail},
		{"## Overall Status\n❌ FAIL\n\n**Status:** Pass for lint", workflow.Fail},
		{"审查结论：不通过\n\n状态：通过", workflow.Fail},
		{"测试结论：不通过\n- 状态：通过", workflow.Fail},
		{"最终结论：通过", workflow.Pass},
		{"# QA\nStatus: FAIL\n\n" + filler + "\n\n" + fenced(`{"verdict": "pass"}`), doubt},
		{"Verdict: FAIL\n\nVerdict: pass requires all criteria; two are red.", workflow.Fail},
		{"Verdict: fail\n- Verdict: pass (round 1)", workflow.Fail},
		{"Status: Pass rate 60%", ""},
		{"状态：通过率 60%，不合格", ""},
		{"Status: Approve after fixes", doubt},
		{"Status: Passed with failures in AC-3", doubt},
		{"Status: Passed with 3 failing tests", doubt},
		{"Final Status: Not ready to ship\n\nStatus: pass", doubt},
		{"Final Status: to be decided\n\nStatus: pass", doubt},
		{`{"qa_report":"# R\n\nStatus: FAIL","verdict":"pass"}`, doubt},
		{"Verdict: pass_with_risk or fail? I say fail.", doubt},
		{"**Status:** PASS (42/42 tests passed, 0 failed)", workflow.Pass},
		{`{"qa_report":"r","verdict":"FAIL (40/42 passed)"}`, workflow.Fail},
		{"Status: PASSED — 0 failed / 12 passed", workflow.Pass},
		{"## 9. Verdict\n\nPass with risk: no load test", workflow.PassWithRisk},
		{`{"qa_report":"r","verdict":{"status":"fail"}}`, workflow.Fail},
		{`{"report":"r","Verdict":"FAIL"}`, workflow.Fail},
		{`{"qa_report":"r","verdict":"pass","findings":[{"severity":"🔴 Critical","problem":"p"}]}`, doubt},
		{`{"qa_report":"r","verdict":"pass","findings":[{"severity":"Critical (P0)","problem":"p"}]}`, doubt},
		{`{"qa_report":"r","verdict":"pass","findings":{"critical":[{"problem":"p"}],"minor":[]}}`, doubt},
		{`{"qa_report":"r","verdict":"pass","issues":[{"severity":"critical","title":"p"}]}`, doubt},
		{`{"qa_report":"r","verdict":"pass","criteria":{"AC-1":"pass","AC-2":"fail"}}`, doubt},
		{`{"qa_report":"r","verdict":"pass","criteria":[{"id":"AC-1","result":false}]}`, doubt},
		{`{"qa_report":"r","verdict":"pass","criteria":[{"id":"AC-1","result":"Not met"}]}`, doubt},
		{`{"qa_report":"r","verdict":"pass","criteria":[{"id":"AC-1","result":"❌"}]}`, doubt},
		{`{"qa_report":"r","verdict":"pass","criteria":[{"id":"AC-1","result":"FAIL (2/5 pass)"}]}`, doubt},
		{"Status: pass\n\n| AC | Result |\n|--|--|\n| AC-1 | pass |\n\nand\n\n| AC | Result |\n|--|--|\n| AC-2 | FAIL |", doubt},
		{"Status: pass\n\n| AC | Note | Result |\n|--|--|--|\n| AC-1 | a \\| b | fail |", doubt},
		{"Status: pass\n\n| Criterion | Result |\n|--|--|\n| AC-1.1 signs in | ❌ |", doubt},
		{"Status: pass\n\n| Actual | AC | Result |\n|--|--|--|\n| 500 | AC-1 | fail |", doubt},
		{"Status: pass\n\n| ID | Severity | Problem | Status |\n|--|--|--|--|\n| R1 | critical | p | Verified, still broken |", doubt},
		{"Status: pass\n\n| Severity | Count |\n|--|--|\n| critical | 0 |", workflow.Pass},
	}
	for _, tt := range tests {
		a := score.Read(named(workflow.QA), tt.text)
		if got := outcome(a); got != tt.want {
			t.Errorf("%.120q: got %q, want %q; objections %q", tt.text, got, tt.want, a.Objections)
		}
	}
}

func TestWorseReportIsTheOneToActOn(t *testing.T) {
	a := score.Read(named(workflow.Review), `{"review":"all fine","verdict":"pass","findings":[]}`)
	b := score.Read(named(workflow.Review), `{"review":"broken","verdict":"fail","findings":[{"id":"R1","severity":"critical","problem":"p"}]}`)
	for _, pair := range [][2]score.Assessment{{a, b}, {b, a}} {
		second, why := score.Choose(workflow.ScoringClaimed, score.Draft{Assessment: pair[0]}, score.Draft{Assessment: pair[1]})
		m := score.Merge(pair[0], pair[1])
		if second {
			m = score.Merge(pair[1], pair[0])
		}
		if why.String() != "its verdict is the worse one" || m.Document != "broken" || m.Effective() != workflow.Fail || len(m.Findings) != 1 {
			t.Errorf("%s: %+v", why, m)
		}
	}
}

// TestDocumentIsNotReplacedByAnExample holds Markdown documents with JSON that
// looks like an envelope.
func TestDocumentIsNotReplacedByAnExample(t *testing.T) {
	body := "# Doc\n\n" + strings.Repeat("It is described in some words. ", 12)
	for _, tt := range []struct {
		stage   workflow.StageID
		example string
	}{
		{workflow.Architect, `{"architecture": "arm64", "score": 3}`},
		{workflow.Dev, `{"implementation": "v2", "files": ["a.txt"]}`},
		{workflow.PO, `{"prd_draft": "# Product requirements: …", "quality_score": 74, "gaps": [], "questions": []}`},
		{workflow.PO, `{"text": "hello", "gaps": [1]}`},
		{workflow.PO, `{"quality_score": 95, "gaps": []}`},
	} {
		text := body + "\n\n" + fenced(tt.example) + "\n\n## More\n\nand the end.\n\nQuality Score: 81/100"
		a := score.Read(named(tt.stage), text)
		if a.Document != text || a.Claimed == nil || *a.Claimed != 81 {
			t.Errorf("%s: document %.60q, score %v", tt.example, a.Document, a.Claimed)
		}
	}
}

func TestEnvelopeVariants(t *testing.T) {
	for _, text := range []string{
		`{"data":{"prd_draft":"# D","quality_score":88,"gaps":["g"]}}`,
		`{"status":"ok","result":{"prd_draft":"# D","quality_score":88,"gaps":["g"]}}`,
		`"{\"prd_draft\":\"# D\",\"quality_score\":88,\"gaps\":[\"g\"]}"`,
		`{"prdDraft":"# D","qualityScore":88,"gaps":["g"]}`,
		`{"PRD_Draft":"# D","Quality-Score":"88/100 (good)","Gaps":"g"}`,
		"{“prd_draft”: “# D”, “quality_score”: 88, “gaps”: [“g”]}",
		`{"result":{"prd_draft":"# D"},"quality_score":88,"gaps":["g"]}`,
	} {
		a := score.Read(named(workflow.PO), text)
		if a.Claimed == nil || *a.Claimed != 88 || !slices.Equal(a.Gaps, []string{"g"}) {
			t.Errorf("%s: %+v", text, a)
		}
		if a.Document != "# D" {
			t.Errorf("%s: document %q", text, a.Document)
		}
	}
	if a := score.Read(named(workflow.PO), "```markdown\n# D\n\ntext\n```"); a.Document != "# D\n\ntext" {
		t.Errorf("document %q", a.Document)
	}
	if a := score.Read(named(workflow.Dev), `{"implementation_summary":"# D","files":[]}`); a.Document != "# D" {
		t.Errorf("document %q", a.Document)
	}
}

func TestScoresOfOtherTimesAndForms(t *testing.T) {
	for text, want := range map[string]float64{
		fenced(`{"prd_updated":"d","quality_score":92}`) + "\nPrevious quality score: 72/100, now 92.": 92,
		"Quality Score: 78/100. The target is quality score: 90.":                                      78,
		"Quality Score: 78/100\nDefinition of done: quality score: 90+":                                78,
		"Quality score: 92. 2 gaps remain.":                                                            92,
		"Quality Score (self-assessed): 92/100":                                                        92,
		"质量评分（自评）：95/100":                                                                              95,
		"质量评分为 95 分":                                                                                   95,
		"Quality Score — 92/100":                                                                       92,
		"## Quality Score\n\n92/100":                                                                   92,
		"质量评分：９５／１００":                                                                                  95,
		"| Quality score | 30+20 = 92/100 |":                                                           -1,
	} {
		got := -1.0
		if c := score.Read(named(workflow.PO), text).Claimed; c != nil {
			got = *c
		}
		if got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestSprintHeadingsAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"## Sprint 1 (2 weeks): Auth":       "1 Auth",
		"## Sprint 1 Auth":                  "1 Auth",
		"## 🏃 Sprint 3: z":                  "3 z",
		"## 第1个冲刺：登录":                       "1 登录",
		"## 冲刺一：界面":                         "1 界面",
		"```markdown\n## Sprint 1: a\n```":  "1 a",
		"```\nnever closed\n## Sprint 2: b": "2 b",
		"## Sprint 1.5: Spike":              "",
		"## 第1章：简介":                         "",
		"## Sprint overview":                "",
		`{"sprint_plan":{"sprints":[{"number":1,"title":"a"},{"number":"2","name":"b"}]}}`: "1 a, 2 b",
	} {
		var got []string
		for _, s := range score.Read(named(workflow.SM), text).Sprints {
			got = append(got, fmt.Sprint(s.Number, " ", s.Title))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestScopeAsModelsWriteIt(t *testing.T) {
	for raw, want := range map[string][]int{`["1"]`: {1}, `["Sprint 1", "sprint 3"]`: {1, 3}, `1`: {1}, `[1.0]`: {1}, `[{"number": 2}]`: {2}, `[]`: nil,
		`"1, 2"`: {1, 2}, `"1-3"`: {1, 2, 3}, `["1-2", 4]`: {1, 2, 4}, `"Sprint 1 and Sprint 2"`: {1, 2}, `"all"`: nil, `["all of them"]`: nil, `""`: nil, `{"1":"done","2":"done"}`: {1, 2}, `[{"name":"Sprint 2"}]`: {2}} {
		a := score.Read(named(workflow.Dev), `{"implementation":"d","sprints":`+raw+`}`)
		if !slices.Equal(a.Scope, want) || !a.Defect.Empty() {
			t.Errorf("%s: %v, %q", raw, a.Scope, a.Defect)
		}
	}
	if a := score.Read(named(workflow.Dev), `{"implementation":"d","sprints":["the first"]}`); a.Defect.Empty() {
		t.Error("a scope that cannot be read is passed over")
	}
}

func TestMarkdownQuestionsAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"## 9. Clarifying Questions\n\n1. Who?":                "q1 Who?",
		"## Clarification Questions (3)\n\n- Who?":             "q1 Who?",
		"## Clarifying Questions\n\n### Q1: Who?\ntext":        "q1 Who?",
		"## Clarifying Questions\n\n**Q2:** When?":             "q2 When?",
		"## 澄清问题\n\n1、用什么数据库？":                                 "q1 用什么数据库？",
		"## Clarifying Questions\n\n1. Which?\n   - a\n   - b": "q1 Which?",
		"## Clarifying Questions\n\n- None":                    "",
		"## 澄清问题\n\n- 无":                                       "",
	} {
		var got []string
		for _, q := range score.Read(named(workflow.PO), "# D\n\n"+text).Questions {
			got = append(got, q.ID+" "+q.Question)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestHostileEnvelopesAreCheap reads what overflowed the stack or took minutes in
// the repair library.
func TestHostileEnvelopesAreCheap(t *testing.T) {
	for _, text := range []string{
		`{"prd_draft": ` + strings.Repeat("[", 2_000_000) + "}",
		strings.Repeat(`{"prd_draft":`, 300_000) + "}",
		`{"prd_draft": "` + strings.Repeat(`a "b" c, `, 40_000) + `", "quality_score": 90}`,
		strings.Repeat("quality score: 90 ", 20_000),
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	} {
		check(t, "", score.Read(named(workflow.PO), text))
		check(t, "", score.Read(named(workflow.Review), text))
	}
}
