package mcpserver

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// FuzzFormAnswer reads whatever a client sends for a form: only one of the offered
// decisions, in an accepted form, in human time, decides.
func FuzzFormAnswer(f *testing.F) {
	f.Add(`{"action":"accept","content":{"decision":"approve"}}`, 2000, false)
	f.Add(`{"action":"accept","content":{"decision":"request_changes","feedback":"x"}}`, 2000, false)
	f.Add(`{"action":"accept","content":{"decision":"approve"}}`, 999, false)
	f.Add(`{"action":"accept","content":{"decision":["approve"]}}`, 2000, false)
	f.Add(`{"action":"decline"}`, 2000, true)
	f.Add(`{"action":"accept","content":{"answer_01":"a","answer_02":7}}`, 2000, true)
	f.Add(`{"action":"accept","content":"approve"}`, 2000, false)
	f.Fuzz(func(t *testing.T, text string, tookMS int, questions bool) {
		var answer mcp.ElicitationResult
		if json.Unmarshal([]byte(text), &answer) != nil {
			return
		}
		asked := time.Unix(0, 0)
		c := &formChannel{answer: &answer, forms: newForms(func() time.Time { return asked.Add(time.Duration(tookMS) * time.Millisecond) })}
		q := engine.Question{Choices: []engine.Choice{{Decision: workflow.DecisionApprove}, {Decision: workflow.DecisionChanges}}}
		if questions {
			q = engine.Question{Questions: []workflow.Question{{ID: "q1"}, {ID: "q2"}}}
		}
		got := c.read(&form{asked: asked, limit: time.Minute}, q)
		decided := got.Decision != "" || got.Answers != nil
		if decided == (!got.Silence.Why.Empty()) {
			t.Fatalf("%s: %+v", text, got)
		}
		if decided && (answer.Action != "accept" || tookMS < 1000 || tookMS >= 60000) {
			t.Errorf("%s after %d ms decided: %+v", text, tookMS, got)
		}
		content, _ := answer.Content.(map[string]any)
		if got.Decision == workflow.DecisionApprove && content["decision"] != "approve" || got.Decision == workflow.DecisionChanges && content["decision"] != "request_changes" {
			t.Errorf("%s: %+v", text, got)
		}
	})
}

// FuzzConfirm reads whatever a model passes to bmad-confirm.
func FuzzConfirm(f *testing.F) {
	f.Add(`{"session_id":"a","stage":"po","decision":"approve","sha256":"b"}`)
	f.Add(`{"decision":null}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		if args, err := decodeConfirm([]byte(text)); err == nil && (args.sessionID == "" || args.sha256 == "" || args.decision != "approve" && args.decision != "request_changes") {
			t.Errorf("%s: %+v", text, args)
		}
	})
}
