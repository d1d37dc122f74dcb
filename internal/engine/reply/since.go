package reply

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// SinceView is a document that has changed since it was approved, or whose code has.
type SinceView struct {
	Stage workflow.StageID `json:"stage"`
	Round int              `json:"round"`
	At    time.Time        `json:"at"`
	// ByRules is true if no person said yes.
	ByRules bool   `json:"by_rules,omitempty"`
	Commit  string `json:"commit,omitempty"`
	// Unknown is true if the approved text is gone or was changed.
	Unknown bool `json:"unknown,omitempty"`
	// Sections are the first differing sections, and Omitted counts the others.
	Sections []changes.Section `json:"sections,omitempty"`
	Omitted  int               `json:"sections_omitted,omitempty"`
	// Files are the first changed files that the document names.
	Files        []standing.MovedFile `json:"files,omitempty"`
	FilesOmitted int                  `json:"files_omitted,omitempty"`
}

// maxSince bounds the sections and the files of a view, maxTitle the bytes of a heading.
const (
	maxSince = 8
	maxTitle = 80
)

// NewSinceViews returns the views of documents about which there is something to say.
func NewSinceViews(all []standing.Since) (out []SinceView) {
	for _, c := range all {
		v := SinceView{Stage: c.Stage, Round: c.Round, At: c.At, ByRules: c.Alone, Commit: c.Commit, Unknown: c.Unknown}
		for _, section := range c.Sections[:min(len(c.Sections), maxSince)] {
			section.Title, section.Was = visible.Fit(section.Title, maxTitle), visible.Fit(section.Was, maxTitle)
			v.Sections = append(v.Sections, section)
		}
		for _, f := range c.Moved[:min(len(c.Moved), maxSince)] {
			named := f.Sections
			f.Sections = nil
			for _, title := range named {
				f.Sections = append(f.Sections, visible.Fit(title, maxTitle))
			}
			v.Files = append(v.Files, f)
		}
		v.Omitted, v.FilesOmitted = len(c.Sections)-len(v.Sections), len(c.Moved)-len(v.Files)
		out = append(out, v)
	}
	return out
}
