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
		{fence(`{"prd_draft":"# D, the first","quality_score":70}`) + "\n\nRevised:\n\n" + fence(`{"prd_updated":"# D, the second","quality_score":92}`), 70, "(70, 92); the lowest, 70"},
		{fence(`{"prd_draft":"<the document>","quality_score":70}`) + "\n\nMine:\n\n" + fence(`{"prd_updated":"# D","quality_score":92}`), 92, ""},
		{doc + fence(`{"quality_score":92,"gaps":[]}`) + "\n\n" + fence(`{"quality_score":70}`), 70, "(92, 70)"},
		{doc + fence(`{"quality_score":70}`) + "\n\n## Second round\n\nMore.\n\n" + fence(`{"quality_score":92}`), 70, "(92, 70)"},
		{fence(`{"quality_score":70}`) + "\n\n" + doc + fence(`{"quality_score":92}`), 70, "(70, 92)"},
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
		// Front matter is facts like any YAML.
		{"---\ntitle: Relay\nquality_score: 95\n---\n" + doc, 95, ""},
		{"---\nquality_score: 95\n---\n" + doc + "质量评分：91/100", 91, "(95, 91)"},
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

// TestWaysToStateAScore: a score counts in whatever way it is stated, alone and beside a higher one, which the note
// then says.
func TestWaysToStateAScore(t *testing.T) {
	const doc, higher = "# PRD\n\nThe relay keeps every event.\n\n", tick + "json\n{\"quality_score\": 95}\n" + tick
	for _, way := range []string{
		// Lines with other names.
		"Score: 60/100", "**Score:** 60/100", "- Score: 60/100", "1. Score: 60/100", "## Score: 60/100", "Final score: 60/100", "Final Score: 60", "Overall Score: 60/100",
		"**Overall score**: 60", "**Total Score: 60/100**", "Self-assessment: 60/100", "Self-assessment: 60", "Self-assessment score — 60/100", "Rating: 60/100",
		"Quality: 60/100", "Quality rating: 60", "Total: 60/100", "📊 Score: 60/100 ✅", "<b>Score: 60/100</b>", "**Document score:** 60 out of 100", "Score: 60/100 (revised)",
		"Score: 60/100. The goals are vague.", "Score (0–100): 60", "Score: 60 of 100", "Score: 60 points out of 100", "Score → 60/100", "Estimated score: 60/100", "Score = 60/100", "SCORE: 60 / 100",
		"最终得分：60", "质量分：60/100", "质量评价：60/100", "评分 60/100", "整体质量评分：60",
		"评分：60", "评分：60/100", "**评分**：60 分", "自评：60/100", "自评分：60", "最终评分：60/100", "综合评分：60 分", "得分：60/100", "总分：60/100", "总得分：60 分 / 100 分",
		// With the usual name.
		"Quality Score 60/100", "The quality score of this draft is 60/100.", "The quality score of this draft is 60.", "My quality score for this PRD: 60/100", "Quality score at 60/100",
		"The quality score stands at 60", "Quality score is still at 60", "Quality-Score: 60", "Quality Score: ~60", "Quality score: about 60", "Quality Score\n=============\n\n60/100", "Quality Score:\n60/100", "**Quality Score**\n\n60/100", "本文档质量评分为 60 分", "质量评分现为 60", "质量得分：60",
		// Sentences.
		"I rate this draft 60/100.", "I would score this document 60 out of 100.", "I'd give this PRD a 60/100.", "This draft scores 60/100.", "The document is now at 60/100.",
		"Self-assessed at 60/100.", "我给这份文档打 60 分。", "本文档得 60 分。", "我自评为 60/100。",
		// Tables and sections.
		"| Score | 60/100 |", "| Item | Value |\n|---|---|\n| Overall | 60/100 |", "| Part | Max | Score |\n|---|---|---|\n| **Total** | 100 | **60/100** |",
		"| Metric | Score |\n|---|---|\n| **Overall Score** | 60 |", "| Part | Weight | Score |\n|---|---|---|\n| **Total** | 100% | **60/100** |", "| Document | Quality Score |\n|---|---|\n| PRD | 60/100 |",
		"## Quality Score\n\n| Part | Score |\n|---|---|\n| Goals | 28/30 |\n| **Total** | **60/100** |", "## Quality Score\n\n- Goals: 28/30\n- Total: 60", "## Self-Assessment\n\nTotal: 60",
		"## 5. Quality Score (by the author)\n\n**60/100**", "## 质量评分\n\n- 目标：28/30\n- 总分：60",
		// Later than something.
		"Quality Score: 60 / 100 (after revision)", "Quality Score: 60/100 (after the second review)", "Quality score: 60/100 after round 2", "质量评分：60/100（修订后）",
		"**Changelog:**\n- v1.1: goals added\n\n**Quality Score**: 60/100", "## Change log\n\n- v1: quality score: 40/100\n\nOverall score: 60/100",
		// Blocks.
		tick + "YAML\nquality_score: 60\n" + tick, tick + "yaml\nquality_score: 60\n" + tick, tick + "yml\nscore: 60\ngaps:\n  - none\n" + tick, tick + "json\n{\"quality_score\": 60}\n" + tick + "\n\nRevised:",
		tick + "json\n{\"score\": 60, \"gaps\": []}\n" + tick, tick + "json\n{\"overall_score\": \"60/100\"}\n" + tick, `{"quality_score": {"total": 60}}`,
	} {
		for place, text := range map[string]string{"alone": doc + way, "above": doc + way + "\n\n" + higher, "below": doc + higher + "\n\n" + way} {
			a := intake.Read(stageOf(workflow.PO), text)
			said := strings.Contains(a.ScoreNote.String(), "the lowest, 60, counts")
			if a.Claimed == nil || *a.Claimed != 60 || said != (place != "alone") {
				t.Errorf("%s, %q: score %v, note %q", place, way, a.Claimed, a.ScoreNote)
			}
		}
	}
}

// TestNoScores: figures of the product, targets and small numbers are not the document's score, beside it
// too. note is a part of what is said of them.
func TestNoScores(t *testing.T) {
	const doc, stated = "# PRD\n\nThe relay keeps every event.\n\n", "\n\n" + tick + "json\n{\"quality_score\": 95}\n" + tick
	for _, tt := range []struct{ text, note string }{
		{"Lighthouse score: 60/100", ""}, {"- Risk score: 12", ""}, {"- Score: 12", ""}, {"| Score | 12 |", ""}, {"Credit score: 60/100", ""}, {"Total: 85%", ""},
		{"| Part | Share |\n|---|---|\n| Total | 100% |", ""}, {"Total: 60/100 tests pass", ""}, {"The final score is 3 to 1.", ""}, {"## Scoring\n\n- Total: 60", ""}, {"Quality: good", ""},
		{"Quality score 2 is the next version.", ""}, {"The rider gives the driver 4 of 5 stars.", ""}, {"总分：60", ""}, {"用户给司机打 60 分。", ""}, {"评分规则：每题 60 分", ""},
		{"The quality score of the gate is 60/100.", "not the stated score"}, {"I would give the previous draft 60/100.", "not the stated score"}, {"This draft is expected to reach 60/100.", "not the stated score"},
		{"Quality score: 60 after the open points are closed", "under a condition"}, {"> This draft scores 60/100.", ""}, {"The form has “I rate this draft 60/100.”", "quotation"},
		{"## History\n\n- Quality score: 60/100\n\n| Score | 60/100 |", "not the stated score"}, {tick + "yaml\nscore: 60\nmodel: x\n" + tick, ""},
		{tick + "json\n{\"quality_score\": 60, \"model\": \"x\"}\n" + tick + "\n\n## End\n\nx", "an example"}, {tick + "json\n{\"prd_draft\": \"…\", \"quality_score\": 60}\n" + tick + "\n\n# PRD\n\nx", "an example"},
		{"Quality Score: 0.92", "0.92 looks like a score of 10 or of 1"}, {"Quality Score: 9.2", "9.2 looks like"}, {"质量评分：9", "9 looks like"}, {`{"quality_score": 0.92}`, "0.92 looks like"}, {`{"quality_score": "9.2"}`, "9.2 looks like"},
		{"Score: 9.2/10", "9.2/10 is not a score"},
	} {
		if a := intake.Read(stageOf(workflow.PO), doc+tt.text); a.Claimed != nil || tt.note == "" && !a.ScoreNote.Empty() || !strings.Contains(a.ScoreNote.String(), tt.note) {
			t.Errorf("%q: score %v, note %q", tt.text, a.Claimed, a.ScoreNote)
		}
		if a := intake.Read(stageOf(workflow.PO), doc+tt.text+stated); a.Claimed == nil || *a.Claimed != 95 {
			t.Errorf("%q beside one: score %v, note %q", tt.text, a.Claimed, a.ScoreNote)
		}
	}
	for text, want := range map[string]float64{"Quality Score: 5/100": 5, "Quality Score: 9%": 9, "Quality Score: 0": 0, "Quality Score: 10": 10} {
		if a := intake.Read(stageOf(workflow.PO), doc+text); a.Claimed == nil || *a.Claimed != want {
			t.Errorf("%q: score %v, note %q", text, a.Claimed, a.ScoreNote)
		}
	}
}
