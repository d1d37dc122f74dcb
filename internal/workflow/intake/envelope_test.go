package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

func fence(s string) string { return tick + "json\n" + s + "\n" + tick }

// TestFactsBesideADocument reads the block of facts that models put at the end of
// a Markdown document, whatever polite sentence follows it.
func TestFactsBesideADocument(t *testing.T) {
	doc := "# Report\n\n## Results\n\nAll of it in words."
	dev := intake.Read(stageOf(workflow.Dev), doc+"\n\n"+fence(`{"sprints":[1],"files":["a"],"resolved":[{"id":"R1","how":"h"}]}`))
	if !slices.Equal(dev.Scope, []int{1}) || len(dev.Resolved) != 1 || dev.Document != doc {
		t.Errorf("dev: %+v", dev)
	}
	po := intake.Read(stageOf(workflow.PO), doc+"\n\n"+fence(`{"quality_score":92,"gaps":[],"questions":["Who?"]}`)+"\n\nPlease answer these.")
	if len(po.Questions) != 1 || po.Claimed == nil || *po.Claimed != 92 {
		t.Errorf("po: %+v", po)
	}
}

func TestLongProseAfterTheEnvelope(t *testing.T) {
	report := "# Rework report\n\n" + strings.Repeat("R1 was mended at its cause. ", 50)
	text := fence(`{"implementation":"`+strings.ReplaceAll(report, "\n", `\n`)+`","sprints":[1],"resolved":[{"id":"R1"}]}`) + "\n\n## Summary\n\n" + strings.Repeat("And so on. ", 400)
	a := intake.Read(stageOf(workflow.Dev), text)
	if !strings.HasPrefix(a.Document, "# Rework report") || strings.Contains(a.Document, "Summary") || len(a.Resolved) != 1 {
		t.Errorf("%.80q, %v", a.Document, a.Resolved)
	}
}

func TestExamplesAreNoDefect(t *testing.T) {
	for stage, text := range map[workflow.StageID]string{
		workflow.SM:     "# Plan\n\n## Sprint 1: a\n\n" + fence(`{"plan": "pro", "limits": {...}, "seats": 3}`),
		workflow.Review: "# R\n\nStatus: PASS\n\n" + fence(`{"report": <id>, ...}`),
		workflow.PO:     "# P\n\n" + fence("{\"prd\": \"arm64\", // x\n …}"),
	} {
		if a := intake.Read(stageOf(stage), text); !a.Defect.Empty() {
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
		a := intake.Read(stageOf(workflow.SM), text)
		if len(a.Sprints) != 1 || !strings.Contains(a.Sprints[0].Title, "Intake") || len(a.Missing) != 0 {
			t.Errorf("%.60q: %+v, %q", text, a.Sprints, a.Missing)
		}
	}
}

func TestScoresThatMoved(t *testing.T) {
	envelope := fence(`{"prd_updated":"d","quality_score":92}`) + "\n"
	for _, text := range []string{
		envelope + "Quality score: 78 → 92.", envelope + "Quality score: 92/100 (was quality score: 78/100 in round 1)",
		`{"prd_updated":"d","quality_score":{"total":92,"business":30}}`, `{"prd_updated":"d","quality_score":"92 points"}`, "## 9. Quality Score\r\n\r\n92/100",
	} {
		if c := intake.Read(stageOf(workflow.PO), text).Claimed; c == nil || *c != 92 {
			t.Errorf("%.120q: %v", text, c)
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
		text := body + "\n\n" + fence(tt.example) + "\n\n## More\n\nand the end.\n\nQuality Score: 81/100"
		a := intake.Read(stageOf(tt.stage), text)
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
		a := intake.Read(stageOf(workflow.PO), text)
		if a.Claimed == nil || *a.Claimed != 88 || !slices.Equal(a.Gaps, []string{"g"}) {
			t.Errorf("%s: %+v", text, a)
		}
		if a.Document != "# D" {
			t.Errorf("%s: document %q", text, a.Document)
		}
	}
	if a := intake.Read(stageOf(workflow.PO), "```markdown\n# D\n\ntext\n```"); a.Document != "# D\n\ntext" {
		t.Errorf("document %q", a.Document)
	}
	if a := intake.Read(stageOf(workflow.Dev), `{"implementation_summary":"# D","files":[]}`); a.Document != "# D" {
		t.Errorf("document %q", a.Document)
	}
}

func TestScoresOfOtherTimesAndForms(t *testing.T) {
	for text, want := range map[string]float64{
		fence(`{"prd_updated":"d","quality_score":92}`) + "\nPrevious quality score: 72/100, now 92.": 92,
		"Quality Score: 78/100. The target is quality score: 90.":                                     78,
		"Quality Score: 78/100\nDefinition of done: quality score: 90+":                               78,
		"Quality score: 92. 2 gaps remain.":                                                           92,
		"Quality Score (self-assessed): 92/100":                                                       92,
		"质量评分（自评）：95/100":                                                                             95,
		"质量评分为 95 分":                                                                                  95,
		"Quality Score — 92/100":                                                                      92,
		"## Quality Score\n\n92/100":                                                                  92,
		"质量评分：９５／１００":                                                                                 95,
		"| Quality score | 30+20 = 92/100 |":                                                          -1,
	} {
		got := -1.0
		if c := intake.Read(stageOf(workflow.PO), text).Claimed; c != nil {
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
		for _, s := range intake.Read(stageOf(workflow.SM), text).Sprints {
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
		a := intake.Read(stageOf(workflow.Dev), `{"implementation":"d","sprints":`+raw+`}`)
		if !slices.Equal(a.Scope, want) || !a.Defect.Empty() {
			t.Errorf("%s: %v, %q", raw, a.Scope, a.Defect)
		}
	}
	if a := intake.Read(stageOf(workflow.Dev), `{"implementation":"d","sprints":["the first"]}`); a.Defect.Empty() {
		t.Error("a scope that cannot be read is passed over")
	}
}

// TestScopeByName reads the scope of a report about a plan whose sprints have other names than numbers.
func TestScopeByName(t *testing.T) {
	lettered := []workflow.Sprint{{Number: 1, Label: "A"}, {Number: 2, Label: "B"}, {Number: 3, Label: "F1"}, {Number: 4}}
	numbered := []workflow.Sprint{{Number: 1}, {Number: 2}}
	for raw, want := range map[string]string{
		`["A"]`: "[1] , [] A", `"Sprint A and B"`: "[1 2] , [] A", `["Sprint B", 4]`: "[2 4] , [4] ", `["F1"]`: "[3] , [1] ", `[2]`: "[2] , [2] ",
		`[{"name": "Sprint B"}]`: "[2] , [] B", `["C"]`: "[] C, [] C", `"all"`: "[] , [] ",
	} {
		a := intake.Read(stageOf(workflow.Dev), `{"implementation":"d","sprints":`+raw+`}`)
		byLetter, lacks := a.Covers(lettered)
		byNumber, lacksToo := a.Covers(numbered)
		if got := fmt.Sprint(byLetter, " ", lacks, ", ", byNumber, " ", lacksToo); got != want || !a.Defect.Empty() {
			t.Errorf("%s: %s, want %s; %q", raw, got, want, a.Defect)
		}
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
		for _, q := range intake.Read(stageOf(workflow.PO), "# D\n\n"+text).Questions {
			got = append(got, q.ID+" "+q.Question)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestHostileEnvelopesAreCheap reads texts that overflowed the stack or took minutes in
// the repair library.
func TestHostileEnvelopesAreCheap(t *testing.T) {
	for _, text := range []string{
		`{"prd_draft": ` + strings.Repeat("[", 2_000_000) + "}",
		strings.Repeat(`{"prd_draft":`, 300_000) + "}",
		`{"prd_draft": "` + strings.Repeat(`a "b" c, `, 40_000) + `", "quality_score": 90}`,
		strings.Repeat("quality score: 90 ", 20_000),
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	} {
		check(t, "", intake.Read(stageOf(workflow.PO), text))
		check(t, "", intake.Read(stageOf(workflow.Review), text))
	}
}
