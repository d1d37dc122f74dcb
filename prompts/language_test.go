package prompts_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// TestLanguages: each language that is not English is named, with the parts of a document that stay English.
func TestLanguages(t *testing.T) {
	const zh = lang.Language("zh")
	const document = "\n\nWrite the document in Chinese (zh); keep ids, code, file names, JSON keys and enumeration values in English."
	for _, tt := range []struct {
		stage                     workflow.StageID
		document, spoken, written lang.Language
		want                      string
	}{
		{workflow.PO, lang.English, lang.English, lang.English, ""},
		{workflow.Dev, lang.English, lang.English, zh, "\n\nWrite the document in English. Speak English with the human."},
		{workflow.PO, lang.English, zh, lang.English, "\n\nSpeak Chinese with the human."},
		{workflow.PO, zh, lang.English, lang.English, document + " Its sections may have Chinese titles."},
		{workflow.SM, zh, zh, zh, document + " Its sections may have Chinese titles. Speak Chinese with the human."},
		{workflow.Dev, zh, zh, zh, document + " Speak Chinese with the human."},
		{workflow.Review, zh, lang.English, lang.English, document},
	} {
		if got := prompts.Languages(defaultStage(tt.stage), tt.document, tt.spoken, tt.written); got != tt.want {
			t.Errorf("%s, documents in %s, people in %s: got %q, want %q", tt.stage, tt.document, tt.spoken, got, tt.want)
		}
	}
}
