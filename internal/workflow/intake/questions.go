package intake

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func readQuestions(object map[string]any) []workflow.Question {
	var out []workflow.Question
	for _, k := range []string{"questions", "clarification_questions", "clarifying_questions", "open_questions"} {
		list := object[k]
		if one, ok := list.(string); ok {
			list = []any{one}
		}
		for _, item := range objectsOf(list, "question") {
			q := workflow.Question{
				ID: fieldText(item, "id", "编号"), Question: fieldText(item, "question", "text", "q", "问题"),
				Context: fieldText(item, "context", "why", "reason", "背景", "原因"), Options: answerOptions(item),
			}
			for id, text := range item {
				if only, ok := text.(string); ok && len(item) == 1 && q.ID+q.Question+q.Context == "" {
					q.ID, q.Question = id, strings.TrimSpace(only) // {"q1": "Who?"}
				}
			}
			if q.Question != "" && !noQuestion.MatchString(q.Question) {
				out = append(out, q)
			}
		}
	}
	return withIDs(out)
}

const (
	// maxOptions bounds a question's suggested answers; fewer than two offer no choice.
	maxOptions = 9
	maxOption  = 400 // bytes
)

// answerOptions returns a question's suggested answers.
func answerOptions(item map[string]any) []string {
	var out []string
	for _, key := range []string{"options", "choices", "answers", "选项"} {
		for _, text := range stringList(item[key], "label", "option", "answer", "value", "text", "title") {
			out = append(out, visible.Fit(strings.Join(strings.Fields(text), " "), maxOption))
		}
		if len(out) > 1 {
			return out[:min(len(out), maxOptions)]
		}
		out = nil
	}
	return out
}

var (
	questionHeading = pattern.New(`(?i)^#{1,6}\s*[^\w\p{Han}]*(?:\d+[.)、]?\s*)?(?:clarif(?:ying` +
		`|ication)\s+questions?|questions(?:\s+for\s+.*)?|澄清问题|需要澄清的问题)\s*(?:[(（][^)）]*[)）])?\W*$`)
	// An item as a heading or paragraph: "### Q1: …", "**Q1:** …".
	questionItem = pattern.New(`^(?:#{2,6}\s+)?\*{0,2}([qQ]\d+)\s*[:：.)]\*{0,2}\s*(.*\S)\s*$`)
	noQuestion   = pattern.New(`(?i)^\W*(?:none|n/a|no questions?|nothing|无|没有)\W*$`)
	listItem     = pattern.New(`^ ?(?:[-*+]\s+|\d+[.)]\s+|\d+、\s*)(?:\*{0,2}\(?([qQ]\d+)\)?\*{0,2}[:.：)]*\*{0,2}\s*)?(.*\S)\s*$`)
)

// markdownQuestions reads the list under a heading like "Clarifying questions".
// "Open Questions" is left alone: it is an ordinary section of a finished document.
func markdownQuestions(document string) []workflow.Question {
	var out []workflow.Question
	inside := false
	for line := range strings.Lines(document) {
		line = strings.TrimRight(line, "\r\n")
		if !inside && !strings.HasPrefix(line, "#") {
			continue
		}
		m := questionItem.FindStringSubmatch(line)
		if m == nil && strings.HasPrefix(line, "#") {
			inside = questionHeading.MatchString(line)
			continue
		}
		if m == nil {
			m = listItem.FindStringSubmatch(line)
		}
		if inside && m != nil && !noQuestion.MatchString(m[2]) {
			out = append(out, workflow.Question{ID: strings.ToLower(m[1]), Question: m[2]})
		}
	}
	return withIDs(out)
}

// withIDs gives missing ids and replaces repeated ones, so that every answer has one question.
func withIDs(questions []workflow.Question) []workflow.Question {
	questions = questions[:min(len(questions), maxItems)]
	used := map[string]bool{}
	for i := range questions {
		q := &questions[i]
		if q.ID = visible.Fit(strings.TrimSpace(q.ID), maxID); used[q.ID] {
			q.ID = ""
		}
		used[q.ID] = q.ID != ""
		q.Question = visible.Fit(q.Question, maxText)
	}
	FreshIDs(questions, func(id string) bool { return used[id] })
	return questions
}

// FreshIDs gives q1, q2, … to the questions without an id, passing over taken ones.
func FreshIDs(questions []workflow.Question, taken func(id string) bool) {
	n := 0
	for i := range questions {
		for questions[i].ID == "" {
			n++
			if id := fmt.Sprintf("q%d", n); !taken(id) {
				questions[i].ID = id
			}
		}
	}
}

// MergeQuestions appends the questions of b that a does not ask already; an id that both use for
// different questions gets a new one.
func MergeQuestions(a, b []workflow.Question) []workflow.Question {
	out := append([]workflow.Question{}, a...)
	texts, ids := map[string]bool{}, map[string]bool{}
	for _, q := range a {
		texts[fold(q.Question)], ids[q.ID] = true, true
	}
	for _, q := range b {
		if texts[fold(q.Question)] {
			continue
		}
		if ids[q.ID] {
			q.ID = ""
		}
		texts[fold(q.Question)] = true
		out = append(out, q)
	}
	if len(out) == 0 {
		return nil
	}
	return withIDs(out)
}
