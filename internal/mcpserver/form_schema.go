package mcpserver

import (
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"bmad-mcp/internal/engine"
)

// notNow is the choice that leaves a gate as it is.
const notNow = "not_now"

// answerField names the field of the i-th question: ids are the assistant's, and hosts
// need not take any text as a field's name.
func answerField(i int) string { return fmt.Sprintf("answer_%02d", i+1) }

// Limits of what a form shows, in characters.
const (
	maxFormText  = 3000
	maxFormTitle = 300
)

// params is the form of a question.
func (c *formChannel) params(q engine.Question) mcp.ElicitationParams {
	// What the server says comes before what the assistant has written; and hosts show
	// three lines before one has to ask for more.
	first, rest, _ := strings.Cut(q.Text, "\n")
	text := fmt.Sprintf("%s · %s\n%s\n", q.TaskName, q.Title, first)
	if q.Draft != "" {
		text += q.DraftLine() + "\n"
	}
	text += rest
	for i, question := range q.Questions {
		text += fmt.Sprintf("\n\n%d. %s", i+1, oneLine(question.Question))
		if question.Context != "" {
			text += "\n   (" + oneLine(question.Context) + ")"
		}
	}
	p := mcp.ElicitationParams{Message: clipRunes(text, maxFormText)}
	if len(q.Questions) > 0 {
		p.RequestedSchema = answerSchema(q)
	} else {
		p.RequestedSchema = c.decisionSchema(q)
	}
	return p
}

func (c *formChannel) decisionSchema(q engine.Question) map[string]any {
	var values, labels []string
	for _, choice := range q.Choices {
		values, labels = append(values, choice.Value()), append(labels, choice.Label)
	}
	values, labels = append(values, notNow), append(labels, "Not now: leave it as it is")
	decision := map[string]any{"type": "string", "title": "Your decision"}
	if c.titled {
		var one []map[string]any
		for i, label := range labels {
			one = append(one, map[string]any{"const": values[i], "title": label})
		}
		decision["oneOf"] = one
	} else {
		decision["enum"], decision["enumNames"] = values, labels
	}
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"decision": decision,
			"feedback": map[string]any{"type": "string", "title": "Feedback", "description": "what to change, or why; in your own words", "maxLength": engine.MaxFeedback / 4},
		},
		"required": []string{"decision"},
	}
}

func answerSchema(q engine.Question) map[string]any {
	fields := map[string]any{}
	for i, question := range q.Questions {
		field := map[string]any{"type": "string", "title": clipRunes(oneLine(question.Question), maxFormTitle), "maxLength": engine.MaxAnswer / 4}
		if question.Context != "" {
			field["description"] = clipRunes(oneLine(question.Context), maxFormTitle)
		}
		fields[answerField(i)] = field
	}
	return map[string]any{"type": "object", "properties": fields}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func clipRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
