package resolve

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
)

// unsetNote names the file that replaces the configuration of a module that nobody has configured.
func (r *resolver) unsetNote() string {
	note := ""
	if name := r.i.Installation.Described[r.i.Module]; name != "" && !slices.ContainsFunc(r.from, func(s settings) bool { return s.has(r.i.Module) }) {
		note = "Nobody has configured the module " + r.i.Module + " here: where the text loads its configuration, go by what the module proposes, " + r.i.Origin.URI(name) + "."
	}
	if len(r.usedProposals) > 0 {
		slices.Sort(r.usedProposals)
		note += " What nobody has set is filled in as the module proposes it: " + strings.Join(r.usedProposals, ", ") + "."
	}
	return strings.TrimSpace(note)
}

// helpNote says where the rows are that an installer would gather in one file.
func (r *resolver) helpNote(text string) string {
	if !strings.Contains(text, "bmad-help.csv") {
		return ""
	}
	if _, _, ok := r.c.LookUp(catalog.Ref{Path: "_bmad/_config/bmad-help.csv"}); ok {
		return ""
	}
	var parts []string
	for _, in := range r.i.Origin.Installations {
		for _, name := range in.Helps {
			parts = append(parts, r.i.Origin.URI(name))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "There is no bmad-help.csv, which an installer makes: what it would have stands in " + strings.Join(parts, ", ") + "."
}
