package runner

import (
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// leastText is the length, in characters, from which an answer without a statement for the server
// counts as a document.
const leastText = 200

// blockedLine begins an answer that reports that the work could not be done.
const blockedLine = "BLOCKED:"

// check returns the reason not to submit an answer, empty if there is none. changes is true if the
// work was to change the project, changed if it did. The engine reads the statements of an answer and
// their form, and refuses or returns it.
func check(st workflow.Stage, text string, changes, changed bool) lang.Text {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return lang.T("the answer is empty")
	case strings.HasPrefix(text, "API Error:"):
		return lang.T("the answer is an error of the model's server: %s", clip(text, 160))
	case utf8.RuneCountInString(text) < leastText && !states(st, text):
		return lang.T("the answer %q is not the document of the stage", clip(text, 80))
	case changes && !changed && !strings.HasPrefix(text, blockedLine):
		return lang.T("the answer reports work, and no file of the project has changed")
	}
	return lang.Text{}
}

// states reports whether a short text has a statement that the server reads.
func states(st workflow.Stage, text string) bool {
	if st.Gate == workflow.GateVerdict {
		return strings.ContainsAny(text, "{\n:")
	}
	a := score.Read(st, text)
	return a.Claimed != nil || len(a.Questions)+len(a.Sprints)+len(a.Scope)+len(a.Resolved) > 0
}

// clip returns the beginning of a text, on one line.
func clip(text string, characters int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	return string([]rune(text)[:characters]) + "…"
}
