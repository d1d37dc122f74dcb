package intake_test

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// TestWhichScoreCounts holds documents that state several scores, or one that is not meant. want is
// -1 if none counts; note is a part of the notes about it.
func TestWhichScoreCounts(t *testing.T) {
	doc := "# PRD\n\nThe relay keeps every event.\n\n"
	for _, tt := range []struct {
		text string
		want float64
		note string
	}{
		// Several.
		{doc + "Quality Score: 95/100\n\nQuality Score: 92/100\n\nQuality Score: 40/100", 40, "several scores are stated (95, 92, 40); the lowest, 40, counts"},
		{doc + "Quality Score: 95/100\n\nQuality Score: 95/100", 95, ""},
		{doc + "质量评分：95/100\n\n最终质量评分：60/100", 60, "the lowest, 60, counts"},
		{`{"prd_draft":"# D\n\nQuality Score: 55/100","quality_score":95}`, 55, "(95, 55)"},
		{`{"prd_draft":"# D","quality_score":95}` + "\n\nQuality Score: 70/100", 70, "the lowest, 70"},
		{"Quality score: 30.\n\n" + fence(`{"prd_draft":"# D","quality_score":95}`), 30, "the lowest, 30"},
		{`{"prd_draft":"# D","quality_score":95,"score":41}`, 41, "(95, 41)"},
		// Fields.
		{`{"prd_draft":"# D","quality_score":{"total":"99","score":10}}`, 10, "(99, 10)"},
		{`{"prd_draft":"# D","quality_score":{"total":92,"business":30,"technical":28}}`, 92, ""},
		{`{"prd_draft":"# D","quality_score":40,"quality_score":95}`, 40, "(40, 95)"},
		{`{"prd_draft":"# D","quality_score":95,"quality_score":40}`, 40, "(95, 40)"},
		{`{"prd_draft":"# D","quality_score":95,"qualityScore":20}`, 20, "(95, 20)"},
		{`{"result":{"prd_draft":"# D","quality_score":95,"quality_score":12}}`, 12, "(95, 12)"},
		{`{"prd_draft":"# D","quality_score":"95 (target; we are at 40)"}`, -1, "under a condition"},
		{`{"prd_draft":"# D","quality_score":"95, if the open points are closed; currently 61"}`, -1, "under a condition"},
		{`{"prd_draft":"# D","quality_score":"88/100 (good)"}`, 88, ""},
		{`{"prd_draft":"# D","quality_score":"92 points"}`, 92, ""},
		// Code, comments, quotations.
		{doc + "```\nQuality Score: 95/100\n```\n\nQuality Score: 40/100", 40, ""},
		{doc + "```\nQuality Score: 95/100\n```", -1, "95/100 stands in a quotation or an example"},
		{doc + "<!-- Quality Score: 95/100 -->\n\nQuality Score: 40/100", 40, ""},
		{doc + "<!--\nQuality Score: 95/100\n-->", -1, "not the stated score"},
		{doc + "> Quality Score: 95/100\n\nQuality Score: 40/100", 40, ""},
		{doc + "> Quality Score: 95/100", -1, "not the stated score"},
		{doc + `The form asks for a line "Quality Score: 95/100" at the end.`, -1, "not the stated score"},
		{doc + "The form asks for “Quality Score: 95” here.\n\nQuality Score: 50/100", 50, ""},
		{doc + "模板要求写“质量评分：95/100”。\n\n质量评分：50/100", 50, ""},
		{doc + "Write `Quality Score: 95/100`.\n\nQuality Score: 50/100", 50, ""},
		{doc + "<!-- 质量评分：95/100 -->\n\n质量评分：45/100", 45, ""},
		// Conditions, targets, examples.
		{doc + "The quality score is 95 only if the open points are closed; it is 30 now.", -1, "under a condition"},
		{doc + "Quality score: 95 once the metrics are in; currently 48.", -1, "under a condition"},
		{doc + "If the review agrees, quality score: 95.\n\nQuality Score: 52/100", 52, ""},
		{doc + "Quality Score: 95 (target)\n\nQuality Score: 52/100", 52, ""},
		{doc + "Quality Score: 95 (target; we are at 40)", -1, "under a condition"},
		{doc + "Quality Score: 95 (example)", -1, "under a condition"},
		{doc + "Target quality score: 95. Actual quality score: 44.", 44, ""},
		{doc + "质量评分：95（目标；目前 40）", -1, "under a condition"},
		{doc + "质量评分为 95，前提是补充指标；现在为 30。", -1, "under a condition"},
		{doc + "如果补充指标，质量评分为 95 分。\n\n质量评分：33/100", 33, ""},
		{doc + "Quality Score: 92 (target: 90)", 92, ""},
		{doc + "Quality Score: 92/100 (gate 90)", 92, ""},
		// Progress.
		{doc + "Quality score: 78 → 92.", 92, ""},
		{doc + "Quality score: 92/100 (was quality score: 78/100 in round 1)", 92, ""},
		{doc + "Previous quality score: 72/100.\n\nQuality Score: 91/100", 91, ""},
		{doc + "## Previous round\n\nQuality Score: 60/100\n\n## Now\n\nQuality Score: 91/100", 91, ""},
		{doc + "上次质量评分：60/100。\n\n质量评分：91/100", 91, ""},
		// Tables.
		{doc + "| Metric | Target | Actual |\n|---|---|---|\n| Quality Score | 95 | 40 |", 40, "(95, 40); the lowest, 40"},
		{doc + "| Metric | Actual | Target |\n|---|---|---|\n| Quality Score | 40 | 95 |", 40, "(40, 95); the lowest, 40"},
		{doc + "| | Round 1 | Round 2 |\n|---|---|---|\n| Quality Score | 78 | 92 |", 78, "(78, 92); the lowest, 78"},
		{doc + "| Item | Value |\n|---|---|\n| Quality Score | 93/100 |", 93, ""},
		{doc + "| 指标 | 目标 | 实际 |\n|---|---|---|\n| 质量评分 | 95 | 47 |", 47, "(95, 47); the lowest, 47"},
		// Out of range.
		{doc + "Quality Score: 150", -1, "150 is not a score from 0 to 100"},
		{`{"prd_draft":"# D","quality_score":150}`, -1, "150 is not a score from 0 to 100"},
		{`{"prd_draft":"# D","quality_score":-5}`, -1, "-5 is not a score from 0 to 100"},
		{doc + "Quality Score: -5", -1, "-5 is not a score from 0 to 100"},
		{doc + "Quality Score: −5", -1, "−5 is not a score from 0 to 100"},
		{doc + "Quality Score: -5/100", -1, "-5/100 is not a score from 0 to 100"},
		{doc + "质量评分：-5分", -1, "-5 is not a score from 0 to 100"},
		{`{"prd_draft":"# D","quality_score":"−5"}`, -1, "−5 is not a score from 0 to 100"},
		{`{"prd_draft":"# D","quality_score":{"total":150}}`, -1, "150 is not a score from 0 to 100"},
		// A score in front matter is none.
		{"---\nquality_score: 95\n---\n" + doc, -1, "not the stated score"},
		{"---\nquality_score: 95\n---\n" + doc + "质量评分：91/100", 91, ""},
		{doc + "总分：150/100", -1, "150/100 is not a score from 0 to 100"},
		// A total has its maximum in a line of its own.
		{doc + "总分：92/100", 92, ""},
		{doc + "**总分：92／100**", 92, ""},
		{doc + "## 总评分: 88.5 / 100分", 88.5, ""},
		{doc + "总分：92/100\n\n质量评分：90/100", 90, "the lowest, 90"},
		{doc + "总分：92", -1, ""},
		{doc + "评分标准（总分：100/100）", -1, ""},
		{doc + "每场比赛的总分：92/100 时显示奖杯", -1, ""},
		{doc + "> 总分：92/100", -1, ""},
		{doc + "Quality Score: 95/10", -1, "95/10 is not a score from 0 to 100"},
		{doc + "Quality Score: 120%", -1, "120% is not a score from 0 to 100"},
		{doc + "Quality Score: 9.5/10", -1, "9.5/10 is not a score from 0 to 100"},
		{doc + "质量评分：150", -1, "150 is not a score from 0 to 100"},
		{doc + "质量评分：9/10", -1, "9/10 is not a score from 0 to 100"},
		{`{"prd_draft":"# D","quality_score":"95/10"}`, -1, "95/10 is not a score from 0 to 100"},
		{`{"prd_draft":"# D","quality_score":"ninety"}`, -1, `"ninety" is not a score from 0 to 100`},
		{`{"prd_draft":"# D","quality_score":1e9}`, -1, "1e9 is not a score from 0 to 100"},
		{doc + "Quality Score: 950/100\n\nQuality Score: 50/100", 50, "950/100 is not a score from 0 to 100"},
		{doc + "Quality Score: 150\n\nQuality Score: -3", -1, "150, -3 are not scores from 0 to 100"},
		{doc, -1, ""},
	} {
		a := intake.Read(stageOf(workflow.PO), tt.text)
		got := -1.0
		if a.Claimed != nil {
			got = *a.Claimed
		}
		if got != tt.want || tt.note == "" && !a.ScoreNote.Empty() || !strings.Contains(a.ScoreNote.String(), tt.note) {
			t.Errorf("%q: got %v (%q), want %v (%q)", tt.text, got, a.ScoreNote, tt.want, tt.note)
		}
	}
}
