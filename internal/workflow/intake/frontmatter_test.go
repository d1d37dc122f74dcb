package intake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

const (
	english = "# PRD\n\n## User Stories\n\nUS-1: As a driver, I want a receipt."
	chinese = "# 产品需求\n\n## 用户故事\n\nUS-1：作为司机，我想要收据。"
)

// TestFactsInFrontMatterAndBlock: the same facts are read in full from front matter, from a block at
// the end and from an envelope, and the document is the rest.
func TestFactsInFrontMatterAndBlock(t *testing.T) {
	for _, c := range []struct {
		document  string
		score     string
		gaps      []string
		questions []workflow.Question
	}{
		{english, "74", []string{"No figure for rides: how many?", "say \"what\" fails"}, []workflow.Question{
			{ID: "q1", Question: "Which provider: Okta or Entra?", Context: "Decides the #1 cost", Options: []string{"Okta: they have it", "None yet"}},
			{ID: "scope", Question: "Who signs in?"},
		}},
		{chinese, "82.5", []string{"没有每天的行程数：多少？", "“失败”没有写明"}, []workflow.Question{
			{ID: "q1", Question: "用哪个身份提供商：Okta 还是 Entra？", Context: "决定成本 #1", Options: []string{"Okta：已经在用", "还没有"}},
			{ID: "范围", Question: "谁登录？"},
		}},
	} {
		type item struct {
			ID       string   `json:"id"`
			Question string   `json:"question"`
			Context  string   `json:"context,omitempty"`
			Options  []string `json:"options,omitempty"`
		}
		facts := map[string]any{"quality_score": json.Number(c.score), "gaps": c.gaps}
		var items []item
		yaml := "quality_score: " + c.score + "\ngaps:\n"
		for _, g := range c.gaps {
			yaml += "  - " + g + "\n"
		}
		yaml += "questions:\n"
		for _, q := range c.questions {
			items = append(items, item{q.ID, q.Question, q.Context, q.Options})
			yaml += fmt.Sprintf("  - id: %s\n    question: %s\n", q.ID, q.Question)
			if q.Context != "" {
				yaml += "    context: " + q.Context + "\n    options:\n"
			}
			for _, o := range q.Options {
				yaml += "      - " + o + "\n"
			}
		}
		facts["questions"] = items
		block, _ := json.MarshalIndent(facts, "", "  ")
		flow, _ := json.Marshal(facts) // JSON is YAML
		facts["prd_draft"] = c.document
		envelope, _ := json.Marshal(facts)
		gaps, _ := json.Marshal(map[string]any{"gaps": c.gaps})
		if a := intake.Read(stageOf(workflow.PO), c.document+"\n\n```json\n"+string(gaps)+"\n```"); fmt.Sprint(a.Gaps) != fmt.Sprint(c.gaps) || a.Document != c.document {
			t.Errorf("a block of gaps alone: %q, %q", a.Gaps, a.Document)
		}
		for form, text := range map[string]string{
			"block":                      c.document + "\n\n```json\n" + string(block) + "\n```\n",
			"block with a word behind":   c.document + "\n\n```json\n" + string(block) + "\n```\n\nDone.",
			"bare block":                 c.document + "\n\n" + string(block),
			"envelope":                   string(envelope),
			"front matter":               "---\n" + yaml + "---\n" + c.document + "\n",
			"front matter with dots":     "---  \n" + yaml + "...\n\n" + c.document,
			"front matter as JSON texts": "---\nquality_score: " + c.score + "\n" + strings.NewReplacer(`{"gaps":`, "gaps: ", `,"quality_score":`+c.score+`,"questions":`, "\nquestions: ").Replace(strings.TrimSuffix(string(flow), "}")) + "\n---\n" + c.document,
			"front matter of Windows":    "\ufeff" + strings.ReplaceAll("---\n"+yaml+"---\n"+c.document, "\n", "\r\n"),
			"in a fence":                 "```markdown\n---\n" + yaml + "---\n" + c.document + "\n```",
		} {
			a := intake.Read(stageOf(workflow.PO), text)
			want := c.document
			if form == "block with a word behind" {
				want += "\n\nDone."
			}
			if a.Claimed == nil || fmt.Sprint(*a.Claimed) != c.score || !a.ScoreNote.Empty() || !a.Defect.Empty() || !a.FrontDefect.Empty() {
				t.Errorf("%s: score %v, %q %q %q", form, a.Claimed, a.ScoreNote, a.Defect, a.FrontDefect)
			}
			if got, want := fmt.Sprintf("%q", a.Gaps), fmt.Sprintf("%q", c.gaps); got != want {
				t.Errorf("%s: gaps %s, want %s", form, got, want)
			}
			if got, want := fmt.Sprintf("%+v", a.Questions), fmt.Sprintf("%+v", c.questions); got != want {
				t.Errorf("%s: questions\n%s, want\n%s", form, got, want)
			}
			if a.Document != want {
				t.Errorf("%s: document %q", form, a.Document)
			}
		}
	}
}

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct {
		name, text string
		// want is the score, the questions and the document.
		want string
	}{
		{"other fields stay", "---\ntitle: Rides\nquality_score: 80\nauthor:\n  name: Ada\ngaps: []\n---\n# P", "80 [] ---\ntitle: Rides\nauthor:\n  name: Ada\n---\n# P"},
		{"none of our fields", "---\ntitle: Rides\nscore: 12\n---\n# P", "<nil> [] ---\ntitle: Rides\nscore: 12\n---\n# P"},
		{"texts as questions", "---\nquestions:\n  - Who pays?\n  - Currency: euro or dollar?\n  - q7: Why?\n---\n# P", "<nil> [q1 Who pays?; q2 Currency: euro or dollar?; q7 Why?] # P"},
		{"questions by id", "---\nquestions: {q2: Who?, q1: Why?}\n---\n# P", "<nil> [q1 Why?; q2 Who?] # P"},
		{"one question", "---\nquestions: Who pays?\n---\n# P", "<nil> [q1 Who pays?] # P"},
		{"no questions", "---\nquality_score: 91\nquestions: none\n---\n# P", "91 [] # P"},
		{"Chinese names", "---\n质量评分: 88\n问题:\n  - 编号: q1\n    问题: 谁？\n    选项: [甲, 乙]\n---\n# P", "88 [q1 谁？ 甲|乙] # P"},
		{"a score as text", "---\nquality_score: \"92/100\"\n---\n# P", "92 [] # P"},
		{"no score", "---\nquality_score: 150\n---\n# P", "<nil> [] # P"},
		{"twice", "---\nquality_score: 95\nquality_score: 60\n---\n# P", "60 [] # P"},
		{"beside a block", "---\nquality_score: 95\nquestions: [Who?]\n---\n# P\n\n```json\n{\"quality_score\": 91, \"questions\": []}\n```", "91 [] # P"},
		{"beside a block without questions", "---\nquestions: [Who?]\n---\n# P\n\n```json\n{\"quality_score\": 91}\n```", "91 [q1 Who?] # P"},
		{"beside a line", "---\nquality_score: 95\n---\n# P\n\nQuality Score: 70/100", "70 [] # P\n\nQuality Score: 70/100"},
		{"a rule", "---\n\nquestions: which?\n\nProse about gaps: none.\n\n---\n# P", "<nil> [] ---\n\nquestions: which?\n\nProse about gaps: none.\n\n---\n# P"},
		{"a document between rules", "---\n# PRD\nQuestions: none\n---\nmore", "<nil> [] ---\n# PRD\nQuestions: none\n---\nmore"},
		{"never closed", "---\nquality_score: 80\n# P", "80 [] ---\nquality_score: 80\n# P"},
		{"an alias", "---\nquality_score: 80\ngaps: &g [a]\nquestions: *g\n---\n# P", "80 [] # P"},
		{"options as objects", "---\nquestions:\n  - question: Who?\n    options:\n      - {label: Staff, description: few}\n      - {label: All}\n---\n# P", "<nil> [q1 Who? Staff|All] # P"},
	} {
		a := intake.Read(stageOf(workflow.PO), c.text)
		claimed := "<nil>"
		if a.Claimed != nil {
			claimed = fmt.Sprint(*a.Claimed)
		}
		var questions []string
		for _, q := range a.Questions {
			questions = append(questions, strings.TrimSpace(q.ID+" "+q.Question+" "+strings.Join(q.Options, "|")))
		}
		if got := fmt.Sprintf("%s [%s] %s", claimed, strings.Join(questions, "; "), a.Document); got != c.want || !a.FrontDefect.Empty() {
			t.Errorf("%s: %q %q, want %q", c.name, got, a.FrontDefect, c.want)
		}
	}
}

// TestFrontMatterOfEveryKind: front matter states the fields of any stage's block.
func TestFrontMatterOfEveryKind(t *testing.T) {
	a := intake.Read(stageOf(workflow.Dev), "---\nsprints: [1, 2]\nresolved:\n  - {id: R1, how: fixed}\n---\n# Report")
	if len(a.Resolved) != 1 || fmt.Sprint(a.Scope) != "[1 2]" {
		t.Errorf("%+v", a)
	}
	block, body, defect := intake.FrontBlock(stageOf(workflow.Review), "---\nverdict: fail\nverdict: pass\nfindings:\n  - {id: R1, problem: 'breaks: always'}\n---\n# Review")
	if want := `{"verdict":"fail","verdict":"pass","findings":[{"id":"R1","problem":"breaks: always"}]}`; block != want || body != "# Review" || !defect.Empty() {
		t.Errorf("%s, %q, %q", block, body, defect)
	}
}

// TestBrokenFrontMatter is refused with its place, not read in half.
func TestBrokenFrontMatter(t *testing.T) {
	for _, text := range []string{
		"---\nquality_score: 74\nquestions: [who, why\n---\n# P",
		"---\nquality_score: 74\nquestions:\n - id: q1\n   question: \"Who\n---\n# P",
		"---\nquality_score: 74\n\tquestions: x\n---\n# P",
	} {
		if a := intake.Read(stageOf(workflow.PO), text); !strings.HasPrefix(a.FrontDefect.String(), "is not valid YAML, at line ") {
			t.Errorf("%q: %q %+v", text, a.FrontDefect, a.Questions)
		}
		if a := intake.Read(stageOf(workflow.PO), text+"\n\n```json\n{\"quality_score\": 74, \"questions\": [\"Who?\"]}\n```"); !a.FrontDefect.Empty() || len(a.Questions) != 1 {
			t.Errorf("%q: %q beside a block", text, a.FrontDefect)
		}
	}
}
