package runner

import (
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// leastText is the shortest answer, in characters, that is a document without stating anything
// that the server reads.
const leastText = 200

// blockedLine begins an answer that reports that the work could not be done.
const blockedLine = "BLOCKED:"

// check says why an answer is not to be submitted; empty where it is. changes is true where the
// work was to change the project, changed where it did.
func check(st workflow.Stage, text string, changes, changed bool) lang.Text {
	text = strings.TrimSpace(text)
	if st.Gate == workflow.GateVerdict {
		return checkReport(text)
	}
	a := score.Read(st, text)
	states := a.Claimed != nil || len(a.Questions)+len(a.Sprints)+len(a.Scope)+len(a.Resolved) > 0
	switch {
	case text == "":
		return lang.T("the answer is empty")
	case strings.HasPrefix(text, "API Error:"):
		return lang.T("the answer is an error of the model's server: %s", clip(text, 160))
	case utf8.RuneCountInString(text) < leastText && !states:
		return lang.T("the answer %q is not the document of the stage", clip(text, 80))
	case !a.Defect.Empty():
		return lang.T("the JSON of the answer %s", a.Defect)
	case !a.FrontDefect.Empty():
		return lang.T("the front matter of the answer %s", a.FrontDefect)
	case changes && !changed && !strings.HasPrefix(text, blockedLine):
		return lang.T("the answer reports work, and no file of the project has changed")
	}
	return lang.Text{}
}

// checkReport says why an answer is not a report. What a report owes is for the server to say, which
// returns it to the engine.
func checkReport(text string) lang.Text {
	switch {
	case text == "":
		return lang.T("the answer is empty")
	case strings.HasPrefix(text, "API Error:"):
		return lang.T("the answer is an error of the model's server: %s", clip(text, 160))
	case utf8.RuneCountInString(text) < leastText && !strings.Contains(text, "{") && !strings.Contains(text, "\n") && !strings.Contains(text, ":"):
		return lang.T("the answer %q is not the document of the stage", clip(text, 80))
	}
	return lang.Text{}
}

// clip returns the beginning of a text, on one line.
func clip(text string, characters int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	return string([]rune(text)[:characters]) + "…"
}
