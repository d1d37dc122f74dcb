package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

const tick = "```"

var longDoc = "# PRD\n\n" + strings.Repeat("The relay stores every webhook before it answers. ", 60)

func TestClaimedScore(t *testing.T) {
	tests := []struct {
		name, text string
		want       float64 // -1: none
	}{
		{"json number", `{"prd_draft": "d", "quality_score": 92}`, 92},
		{"json float", `{"prd_draft": "d", "quality_score": 92.5}`, 92.5},
		{"json string", `{"prd_draft": "d", "quality_score": "95"}`, 95},
		{"json string of 100", `{"prd_draft": "d", "quality_score": "95/100"}`, 95},
		{"in the field's own block", "{\"prd_draft\": \"# D\\n\\n## Goals\\n\\n```json\\n{\\\"quality_score\\\": 70}\\n```\\n\", \"quality_score\": 95}", 70},
		{"spaces", `{ "prd_draft" : "d" , "quality_score"  :  88 }`, 88},
		{"camel", `{"prd_draft": "d", "qualityScore": 91}`, 91},
		{"plain", "# D\nQuality Score: 95/100", 95},
		{"bold", "# D\n**Quality Score**: 95 / 100", 95},
		{"bold around", "# D\n**Quality Score: 95/100**", 95},
		{"bold number", "# D\nQuality Score: **95**/100", 95},
		{"chinese", "# D\n质量评分：95/100", 95},
		{"chinese bold", "# D\n**质量评分**： 95 / 100", 95},
		{"table", "| Quality Score | 93/100 |", 93},
		{"lower case", "quality score: 71", 71},
		{"out of", "Quality Score: 90 out of 100", 90},
		{"heading", "## Quality Score: 94/100", 94},
		{"json in plain text", "the block says \"quality_score\": 92 today", 92},
		{"the lowest counts", "Quality Score: 70/100\n…\nQuality Score: 95/100", 70},
		{"the lowest counts downwards", "Quality Score: 95/100\n…\nQuality Score: 70/100", 70},
		{"last fence wins", tick + "json\n{\"prd_draft\":\"…\",\"quality_score\":75}\n" + tick + "\nnow mine\n" + tick + "json\n{\"prd_draft\":\"real\",\"quality_score\":91}\n" + tick, 91},
		{"field and lower mention inside", `{"quality_score": 92, "prd_draft": "Quality Score: 12/100"}`, 12},
		{"mention inside when no field", `{"prd_draft": "x\nQuality Score: 64/100"}`, 64},
		{"after the envelope", tick + "json\n{\"prd_draft\":\"d\",\"quality_score\":80}\n" + tick + "\nQuality Score: 84/100", 80},
		{"before the envelope only", "Quality Score: 81/100\n" + tick + "json\n{\"prd_draft\":\"d\",\"gaps\":[]}\n" + tick, 81},
		{"above", `{"prd_draft": "d", "quality_score": 101}`, -1},
		{"below", `{"prd_draft": "d", "quality_score": -1}`, -1},
		{"huge", "Quality Score: 9500/100", -1},
		{"negative", "Quality Score: -95/100", -1},
		{"of ten", "Quality Score: 9/10", -1},
		{"of a thousand", "Quality Score: 95/1000", -1},
		{"of a thousand, in words", "Quality Score: 95 out of 1000", -1},
		{"of a thousand, as a field", `{"prd_draft": "d", "quality_score": "95/1000"}`, -1},
		{"of a thousand, in Chinese", "# D\n质量评分：95／1000", -1},
		{"of ten with decimals", "Quality Score: 9.5/10", -1},
		{"range", "Quality Score: 90-95", -1},
		{"version", "Quality Score: 9.5.1", -1},
		{"invalid then valid", "Quality Score: 950/100 and Quality Score: 50/100", 50},
		{"valid then invalid", "Quality Score: 50/100 and Quality Score: 950/100", 50},
		{"NaN", `{"prd_draft": "d", "quality_score": "NaN"}`, -1},
		{"null", `{"prd_draft": "d", "quality_score": null}`, -1},
		{"target is no claim", "Quality Score Target: 90", -1},
		{"none", "# nothing", -1},
		{"denied", "# D\nQuality score: 95/100 is not reached yet", -1},
		{"denied in Chinese", "# D\n质量评分：95/100 尚未达到", -1},
		{"denied, with the present one", "# D\nQuality score: 95/100 is not reached yet, we are at 80", -1},
		{"zero", `{"prd_draft": "d", "quality_score": 0}`, 0},
		{"hundred", "Quality Score: 100/100", 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := intake.Read(stageOf(workflow.PO), tt.text).Claimed
			switch {
			case tt.want < 0 && got != nil:
				t.Errorf("got %v, want none", *got)
			case tt.want >= 0 && got == nil:
				t.Errorf("got none, want %v", tt.want)
			case tt.want >= 0 && *got != tt.want:
				t.Errorf("got %v, want %v", *got, tt.want)
			}
		})
	}
}

func TestDocument(t *testing.T) {
	example := tick + "json\n{\"prd_draft\": \"...\", \"quality_score\": 75, \"gaps\": [], \"questions\": []}\n" + tick
	real := tick + "json\n{\"prd_draft\": \"# Real\\n\\n{braces} and \\\"quotes\\\"\", \"quality_score\": 91}\n" + tick
	api := tick + "json\n{\"result\": \"accepted\", \"content\": \"x\", \"id\": \"1\"}\n" + tick
	rawInner := "{\n  \"architecture_draft\": \"# A\n\n" + tick + "json\n{\\\"result\\\": \\\"ok\\\"}\n" + tick + "\n\n| a | b |\n|---|---|\nend\",\n  \"quality_score\": 91,\n  \"gaps\": [\"g\",],\n}"
	tests := []struct {
		name  string
		stage workflow.StageID
		text  string
		want  string
	}{
		{"bare", workflow.PO, `{"prd_draft": "# D", "quality_score": 1}`, "# D"},
		{"updated before draft", workflow.PO, `{"prd_draft": "old", "prd_updated": "new"}`, "new"},
		{"bom", workflow.PO, "\ufeff{\"prd_draft\": \"# D\"}", "# D"},
		{"prose around fence", workflow.PO, "Here it is:\n" + real + "\nDone.", "# Real\n\n{braces} and \"quotes\""},
		{"example before real", workflow.PO, "The format is\n" + example + "\nand mine:\n" + real, "# Real\n\n{braces} and \"quotes\""},
		{"in a line", workflow.PO, `Result: {"prd_draft": "# D", "quality_score": 80} – end`, "# D"},
		{"raw newlines, trailing commas", workflow.Architect, rawInner, "# A\n\n" + tick + "json\n{\"result\": \"ok\"}\n" + tick + "\n\n| a | b |\n|---|---|\nend"},
		{"raw newlines in a fence", workflow.Architect, "Mine:\n" + tick + "json\n" + rawInner + "\n" + tick + "\nThat is all.", "# A\n\n" + tick + "json\n{\"result\": \"ok\"}\n" + tick + "\n\n| a | b |\n|---|---|\nend"},
		{"markdown", workflow.PO, "# Just text\n\nQuality Score: 80/100", "# Just text\n\nQuality Score: 80/100"},
		{"markdown with api example", workflow.Architect, longDoc + "\n" + api + "\nend", longDoc + "\n" + api + "\nend"},
		{"markdown with example of the format", workflow.PO, longDoc + "\n" + example + "\nend", longDoc + "\n" + example + "\nend"},
		{"markdown and facts", workflow.PO, longDoc + "\n\n" + tick + "json\n{\"quality_score\": 92, \"questions\": []}\n" + tick, strings.TrimSpace(longDoc)},
		{"generic result", workflow.Dev, `{"result": "# built"}`, "# built"},
		{"generic content with verdict", workflow.Review, `{"content": "# seen", "verdict": "pass"}`, "# seen"},
		{"wrapped", workflow.PO, `{"result": {"prd_draft": "# D", "quality_score": 70}}`, "# D"},
		{"structured", workflow.PO, `{"prd_draft": {"goal": "a < b"}, "quality_score": 70}`, "{\n  \"goal\": \"a < b\"\n}"},
		{"field of another stage", workflow.Architect, `{"prd_updated": "# D", "quality_score": 70}`, "# D"},
		{"single quotes", workflow.PO, `{'prd_draft': 'd1', 'quality_score': 70}`, "d1"},
		{"python literals", workflow.PO, `{"prd_draft": "d1", "ready_for_approval": True, "quality_score": 70}`, "d1"},
		{"comment", workflow.PO, "{\n  // my draft\n  \"prd_draft\": \"d1\",\n  \"quality_score\": 70\n}", "d1"},
		{"tilde fence", workflow.PO, "~~~json\n{\"prd_draft\": \"d1\", \"quality_score\": 70}\n~~~", "d1"},
		{"crlf", workflow.PO, "```json\r\n{\"prd_draft\": \"d1\",\r\n \"quality_score\": 70}\r\n```\r\n", "d1"},
		{"empty field falls back to the text", workflow.PO, `{"prd_draft": "", "quality_score": 70}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := intake.Read(stageOf(tt.stage), tt.text)
			if a.Document != tt.want {
				t.Errorf("got\n%q\nwant\n%q", a.Document, tt.want)
			}
			if !a.Defect.Empty() {
				t.Errorf("called defect: it %s", a.Defect)
			}
		})
	}
}

func TestUnescapedQuotesAreRepaired(t *testing.T) {
	text := tick + "json\n{\n\"prd_draft\": \"# D\n\nThe \"fast\" path\nis used\",\n\"quality_score\": 70\n}\n" + tick
	a := intake.Read(stageOf(workflow.PO), text)
	if !strings.HasPrefix(a.Document, "# D") || !strings.Contains(a.Document, "is used") || strings.Contains(a.Document, "quality_score") {
		t.Errorf("document %q", a.Document)
	}
	if a.Claimed == nil || *a.Claimed != 70 {
		t.Errorf("score %v", a.Claimed)
	}
}

func TestDefect(t *testing.T) {
	broken := "{\"prd_draft\": \"" + strings.Repeat("a \"b\", c: {d}\n", 50) + "\", \"quality_score\": 3,}"
	for text, want := range map[string]string{
		`{"prd_draft": "# D and then the`:                                             "breaks off before its closing brace",
		tick + "json\n{\"quality_score\": 95, \"prd_draft\": \"# D {\\\"a\\\":1} and": "breaks off before its closing brace",
		tick + "json\n{\"prd_draft\": \"# D\", \"gaps\": [\"a\",":                     "breaks off before its closing brace",
		broken:                 "is not valid JSON",
		"# D with { one brace": "", "{not json": "", longDoc: "",
	} {
		if a := intake.Read(stageOf(workflow.PO), text); a.Defect.String() != want {
			t.Errorf("%.60q: defect %q, want %q", text, a.Defect, want)
		}
	}
}

// TestEstimateFollowsTheAudit: a document that says nothing is not worth the 60 points that an estimate
// begins with.
func TestEstimateFollowsTheAudit(t *testing.T) {
	for _, tt := range []struct {
		text        string
		audit, want float64
	}{
		{"hello", 13, 13},
		{"hello", 60, 60},
		{"hello", 100, 60},
		{"## Executive Summary\n\n## User Stories\n\n- AC-1.1 Given", 72, 72},
		{"## Executive Summary\n\n## User Stories\n\n- AC-1.1 Given", 100, 75},
		{"", 0, 0},
	} {
		a := intake.Read(stageOf(workflow.PO), tt.text)
		if a.Audited(tt.audit); a.Estimated != tt.want || a.Score() != tt.want || a.Claimed != nil {
			t.Errorf("%q beside an audit of %v: %v, want %v", tt.text, tt.audit, a.Estimated, tt.want)
		}
	}
	a := intake.Read(stageOf(workflow.PO), "Quality Score: 95")
	if a.Audited(13); a.Score() != 95 {
		t.Errorf("the audit changes a claim to %v", a.Score())
	}
}

// TestReadyForApprovalDecidesNothing: a gate asks for the score.
func TestReadyForApprovalDecidesNothing(t *testing.T) {
	for _, ready := range []string{"true", "false", `"no"`} {
		a := intake.Read(stageOf(workflow.PO), `{"prd_updated":"# P","quality_score":91,"ready_for_approval":`+ready+`}`)
		if a.Claimed == nil || *a.Claimed != 91 || a.Document != "# P" || !a.ScoreNote.Empty() {
			t.Errorf("%s: %+v", ready, a)
		}
		if a := intake.Read(stageOf(workflow.PO), `{"prd_updated":"# P","ready_for_approval":`+ready+`}`); a.Claimed != nil {
			t.Errorf("%s claims %v", ready, *a.Claimed)
		}
	}
}

func TestEstimate(t *testing.T) {
	all := "Executive Summary, Business Goals, User Stories, Functional Requirements, Technical Requirements, Success Metrics"
	tests := []struct {
		text string
		want float64
	}{
		{"", 60},
		{"nothing", 60},
		{"## executive summary", 65},
		{"Executive Summary and Business Goals", 70},
		{"latency 20%", 65},
		{"latency <100 ms", 65},
		{"users > 500", 65}, {"at least ≥ 3", 65}, {"<= 20", 65}, {"5 ms", 65}, {"5 msx", 60}, {"a -> b", 60}, {"3 of 4", 60},
		{"Acceptance Criteria", 65},
		{all, 85},
		{all + " acceptance criteria 99.9%", 85},
		{"执行摘要 业务目标 验收标准", 75},
	}
	for _, tt := range tests {
		if got, _ := intake.Estimate("po", tt.text); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestMissingNamesWhatAndWorth(t *testing.T) {
	_, got := intake.Estimate("po", "Executive Summary, Business Goals, User Stories, Functional Requirements, 20%")
	want := []string{
		`add a section "Technical Requirements" (+5)`, `add a section "Success Metrics" (+5)`,
		"give every story testable acceptance criteria (+5)",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q", got)
	}
	if zh := got[1].In("zh"); zh != `增加一节 "成功指标"（+5）` {
		t.Errorf("in Chinese %q", zh)
	}
}

func TestQuestions(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"ids kept", `{"prd_draft":"d","questions":[{"id":"a","question":"A?","context":"c"},{"id":"b","question":"B?"}]}`, []string{"a A? c", "b B? "}},
		{"ids given", `{"prd_draft":"d","questions":["A?",{"question":"B?"},{"id":"q1","question":"C?"}]}`, []string{"q2 A? ", "q3 B? ", "q1 C? "}},
		{"repeated ids", `{"prd_draft":"d","questions":[{"id":"q1","question":"A?"},{"id":"q1","question":"B?"}]}`, []string{"q1 A? ", "q2 B? "}},
		{"number ids", `{"prd_draft":"d","questions":[{"id":1,"question":"A?"}]}`, []string{"1 A? "}},
		{"empty ones dropped", `{"prd_draft":"d","questions":[{"id":"q1"},"  ",null,3]}`, nil},
		{"markdown list", "# D\n\n## Clarifying Questions\n\n1. **Q1:** Who pays?\n2. What is the budget?\n\n## Next\n- not one", []string{"q1 Who pays? ", "q2 What is the budget? "}},
		{"open questions are a section", "# D\n\n## Open Questions\n\n- Who pays?", nil},
		{"chinese heading", "# D\n\n## 澄清问题\n\n- 谁付费？", []string{"q1 谁付费？ "}},
	}
	for _, tt := range tests {
		var got []string
		for _, q := range intake.Read(stageOf(workflow.PO), tt.text).Questions {
			got = append(got, q.ID+" "+q.Question+" "+q.Context)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestMerge(t *testing.T) {
	a := intake.Read(stageOf(workflow.PO), `{"prd_draft":"low","quality_score":70,"gaps":["No metrics.","x"],"questions":[{"id":"q1","question":"Who pays?"}]}`)
	b := intake.Read(stageOf(workflow.PO), `{"prd_draft":"high","quality_score":80,"gaps":["no metrics","y"],"questions":[{"id":"q1","question":"who  pays"},{"id":"q1","question":"When?"}]}`)
	m := intake.Merge(b, a)
	if m.Document != "high" || *m.Claimed != 80 {
		t.Errorf("taken %q", m.Document)
	}
	if !slices.Equal(m.Gaps, []string{"no metrics", "y", "x"}) {
		t.Errorf("gaps %q", m.Gaps)
	}
	if len(m.Questions) != 2 || m.Questions[0].ID == m.Questions[1].ID {
		t.Errorf("questions %+v", m.Questions)
	}
}

// TestChoose: which of two drafts is taken, and why.
func TestChoose(t *testing.T) {
	claims := func(claimed, audited float64) intake.Draft {
		return intake.Draft{Assessment: intake.Assessment{Claimed: &claimed}, Audited: audited}
	}
	estimated := func(estimate, audited float64) intake.Draft {
		return intake.Draft{Assessment: intake.Assessment{Estimated: estimate}, Audited: audited}
	}
	for name, tt := range map[string]struct {
		scoring workflow.ScoringMode
		a, b    intake.Draft
		second  bool
		why     string
	}{
		"the higher score":          {workflow.ScoringClaimed, claims(80, 90), claims(95, 20), true, "its score is higher"},
		"the first":                 {workflow.ScoringClaimed, claims(96, 20), claims(95, 90), false, "its score is higher"},
		"the audit counts":          {workflow.ScoringAudited, claims(96, 20), claims(95, 90), true, "the lower of its two scores is higher"},
		"the claim is the lower":    {workflow.ScoringAudited, claims(70, 99), claims(80, 75), true, "the lower of its two scores is higher"},
		"a tie":                     {workflow.ScoringClaimed, claims(95, 20), claims(95, 90), true, "the scores are equal, and our check of it gives more"},
		"a tie in all":              {workflow.ScoringClaimed, claims(95, 90), claims(95, 90), false, "both are equal and it is the first"},
		"an estimate below a claim": {workflow.ScoringClaimed, estimated(60, 90), claims(70, 50), true, "its score is higher"},
	} {
		if second, why := intake.Choose(tt.scoring, tt.a, tt.b); second != tt.second || why.String() != tt.why {
			t.Errorf("%s: got %v, %q; want %v, %q", name, second, why, tt.second, tt.why)
		}
	}
}

func TestSprints(t *testing.T) {
	plan := "# Plan\n## Sprint 1: Ingest\ntext\n### Sprint 2 - Deliver **fast**\n" + tick + "\n## Sprint 9: example\n" + tick +
		"\n## Sprint 3\n## Sprint 1: again\n## Sprint planning\n## 冲刺 4：监控\n## Sprint 5：标题\n**## Sprint 6: no**"
	var got []string
	read := intake.Read(stageOf(workflow.SM), plan)
	if len(read.Missing) != 1 || !strings.Contains(read.Missing[0].String(), "Sprint 1 has two headings") {
		t.Errorf("repeated: %q", read.Missing)
	}
	for _, s := range read.Sprints {
		got = append(got, fmt.Sprintf("%d %s", s.Number, s.Title))
	}
	want := []string{"1 Ingest", "2 Deliver fast", "3 Sprint 3", "4 监控", "5 标题"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestDevEnvelope(t *testing.T) {
	a := intake.Read(stageOf(workflow.Dev), `{"implementation":"# built","sprints":[1,3],"resolved":[{"id":"R1","how":"mended"},"R2"]}`)
	if a.Document != "# built" || !slices.Equal(a.Scope, []int{1, 3}) || len(a.Resolved) != 2 || a.Resolved[1].ID != "R2" {
		t.Errorf("got %+v", a)
	}
}

// stageOf returns a stage of the default workflow.
func stageOf(id workflow.StageID) workflow.Stage {
	st, _ := workflow.Default().Stage(id)
	return st
}
