package prompts

import (
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Languages returns the end of a role prompt about the languages of the stage's document and of the conversation.
// written is the language of the objective, which a model follows by itself: the end is empty if all three are
// English, the language of the prompts.
func Languages(st workflow.Stage, document, spoken, written lang.Language) string {
	text := ""
	switch {
	case document == lang.English && written != lang.English:
		text = "Write the document in English."
	case document != lang.English:
		text = fmt.Sprintf("Write the document in %s (%s); keep ids, code, file names, JSON keys and enumeration values in English.", document.Name(), document)
		if st.Kind == workflow.KindDocument || st.Kind == workflow.KindPlan {
			text += fmt.Sprintf(" Its sections may have %s titles.", document.Name())
		}
	}
	if spoken != written || spoken != lang.English {
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("Speak %s with the human.", spoken.Name())
	}
	if text == "" {
		return ""
	}
	return "\n\n" + text
}
