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

// TestFacts: the same facts are read in full from a block at the end and from an envelope, and the document is the
// rest.
func TestFacts(t *testing.T) {
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
		for _, q := range c.questions {
			items = append(items, item{q.ID, q.Question, q.Context, q.Options})
		}
		facts["questions"] = items
		block, _ := json.MarshalIndent(facts, "", "  ")
		facts["prd_draft"] = c.document
		envelope, _ := json.Marshal(facts)
		gaps, _ := json.Marshal(map[string]any{"gaps": c.gaps})
		if a := intake.Read(stageOf(workflow.PO), c.document+"\n\n```json\n"+string(gaps)+"\n```"); fmt.Sprint(a.Gaps) != fmt.Sprint(c.gaps) || a.Document != c.document {
			t.Errorf("a block of gaps alone: %q, %q", a.Gaps, a.Document)
		}
		for form, text := range map[string]string{
			"block":                    c.document + "\n\n```json\n" + string(block) + "\n```\n",
			"block with a word behind": c.document + "\n\n```json\n" + string(block) + "\n```\n\nDone.",
			"bare block":               c.document + "\n\n" + string(block),
			"envelope":                 string(envelope),
			"block of Windows":         "\ufeff" + strings.ReplaceAll(c.document+"\n\n```json\n"+string(block)+"\n```", "\n", "\r\n"),
			"in a fence":               "````markdown\n" + c.document + "\n\n```json\n" + string(block) + "\n```\n````",
		} {
			a := intake.Read(stageOf(workflow.PO), text)
			if a.Claimed == nil || fmt.Sprint(*a.Claimed) != c.score || !a.ScoreNote.Empty() || !a.Defect.Empty() {
				t.Errorf("%s: score %v, %q %q", form, a.Claimed, a.ScoreNote, a.Defect)
			}
			if got, want := fmt.Sprintf("%q", a.Gaps), fmt.Sprintf("%q", c.gaps); got != want {
				t.Errorf("%s: gaps %s, want %s", form, got, want)
			}
			if got, want := fmt.Sprintf("%+v", a.Questions), fmt.Sprintf("%+v", c.questions); got != want {
				t.Errorf("%s: questions\n%s, want\n%s", form, got, want)
			}
			if a.Document != c.document {
				t.Errorf("%s: document %q", form, a.Document)
			}
		}
	}
}
