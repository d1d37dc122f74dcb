package sdk

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// askUser is the tool by which an agent asks the person.
const askUser = "ask_user"

var askTool = provider.Tool{
	Name:        askUser,
	Description: "Ask the person one question, and wait for the answer. Use it for what only they can know or decide; several uses in one answer are put one after the other.",
	Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","description":"the question, in one or two sentences"},` +
		`"context":{"type":"string","description":"why it is asked, for the person"},"options":{"type":"array","items":{"type":"string"},"description":"answers to choose from; others are possible"}},"required":["question"]}`),
}

// parseQuestion reads the use of the tool. The question has the id of the use, by which the answer finds it in
// any process.
func parseQuestion(use provider.Block) (Question, error) {
	var in struct {
		Question string   `json:"question"`
		Context  string   `json:"context"`
		Options  []string `json:"options"`
	}
	if err := json.Unmarshal([]byte(use.Input), &in); err != nil {
		return Question{}, fmt.Errorf("the input is not JSON of this tool (%w); required: question", err)
	}
	if strings.TrimSpace(in.Question) == "" {
		return Question{}, fmt.Errorf("the question is missing; required: question")
	}
	return Question{ID: use.ID, Question: in.Question, Context: in.Context, Options: in.Options, Source: fromTool}, nil
}

// maxOptions bounds the options read from a text.
const maxOptions = 20

// textQuestion finds the question at the end of a text: the last line ends with a question mark, or a list of
// numbered options follows such a line.
func textQuestion(text string) (Question, bool) {
	var lines []string
	fenced := false
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if line != "" && !fenced {
			lines = append(lines, line)
		}
	}
	var options []string
	for len(lines) > 0 && len(options) < maxOptions {
		option, ok := trimNumber(lines[len(lines)-1])
		if !ok {
			break
		}
		options = append([]string{option}, options...)
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 || fenced || !endsWithQuestion(lines[len(lines)-1]) {
		if n := len(options); n > 0 && endsWithQuestion(options[n-1]) { // a list of questions
			return Question{Question: options[n-1], Source: fromText}, true
		}
		return Question{}, false
	}
	return Question{Question: strings.TrimRight(lines[len(lines)-1], "*_ "), Options: options, Source: fromText}, true
}

// endsWithQuestion reports whether a line ends with a question mark, in emphasis or not.
func endsWithQuestion(line string) bool {
	line = strings.TrimRight(line, "*_)）\"”」 :：")
	return strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？")
}

// trimNumber returns the text behind the number of a list's item, for example "2. " or "3) ".
func trimNumber(line string) (text string, ok bool) {
	digits := strings.TrimLeftFunc(strings.TrimLeft(line, "*"), unicode.IsDigit)
	if n := len(strings.TrimLeft(line, "*")) - len(digits); n == 0 || n > 3 {
		return "", false
	}
	for _, mark := range []string{". ", ") ", "、", "．", "）"} {
		if rest, found := strings.CutPrefix(digits, mark); found {
			return strings.TrimSpace(strings.TrimRight(rest, "*")), true
		}
	}
	return "", false
}
