package config

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// gone has the settings of older versions, each with the replacement. A file with one is read, and a notice names it.
var gone = map[string]lang.Text{
	"form_timeout":           lang.T("a form waits ten minutes"),
	"lock_timeout":           lang.T("a call waits ten seconds for another"),
	"log_level":              lang.T("start the server with --log-level"),
	"max_iterations":         lang.T("use max_rounds"),
	"max_rework":             lang.T("use max_rounds"),
	"max_submission_bytes":   lang.T("a document has at most 5 MiB"),
	"memory_dir":             lang.T("the folder of the notes is found without it"),
	"memory_embedding_model": lang.T("write the model behind the address in memory_embeddings"),
	"memory_qdrant":          lang.T("write the address behind the model in memory_embeddings"),
	"prompts":                lang.T("prompts are in %s", PromptFolder),
	"proved":                 lang.T("use ran"),
	"provider":               lang.T("base_url means the API of OpenAI, else the key that is set decides"),
	"rubrics":                lang.T("rubrics are in %s", RubricFolder),
	"scoring":                lang.T("use audit_floor"),
	"verdict":                lang.T("the rows of a report decide"),
	"verify_output_bytes":    lang.T("the last 4,000 bytes are kept"),
}

// goneOfStage has the settings of a stage from older versions.
var goneOfStage = map[string]lang.Text{
	"audit_floor": lang.T("use audit_floor for all stages"),
	"proved":      lang.T("use ran for all stages"),
	"scoring":     lang.T("use audit_floor for all stages"),
	"verdict":     lang.T("the rows of a report decide"),
}

// replacementOf returns the replacement of a setting from older versions.
func replacementOf(key string) (lang.Text, bool) {
	text, is := gone[key]
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "stages" {
		text, is = goneOfStage[parts[2]]
	}
	return text, is
}
