package web

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// since is the difference of a document from the text with which it went on before; nil if it did not.
type since struct {
	engine.Since
	approved string
	// Says is the sentence about the sections, Code the one about the files that the document names.
	Says, Code string
	page       render.Page
}

// maxCompared bounds each of the texts compared in the view of changes, in bytes.
const maxCompared = 512 << 10

// readApproval reads the text with which the document went on before the shown round.
func (d *Dashboard) readApproval(a *asked, req request.Request, st workflow.Stage, r engine.Round) (*since, error) {
	all, err := d.o.Engine.Since(a, req.Address)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c engine.Since) bool { return c.Stage == st.ID })
	if i < 0 {
		return nil, nil
	}
	out := &since{Since: all[i], Code: engine.DescribeMoved(a.lang, st, all[i])}
	isSaved := r.Iteration == engine.SavedRound && r.Edited
	isLater := r.Iteration > all[i].Round || isSaved
	if out.Compared = isLater && st.Kind != workflow.KindVerdict; !out.Compared {
		return out, nil
	}
	texts, err := d.o.Engine.Submissions(a, req.Address, st.ID, all[i].Round)
	if err != nil {
		return nil, err
	}
	out.Unknown, out.approved = texts[0].Edited, texts[0].Text
	out.Compared = max(len(r.Text), len(out.approved)) <= maxCompared
	return out, nil
}

// isShown reports whether there is a view of the changes.
func (s *since) isShown() bool { return s != nil && s.Compared && !s.Unknown }

// count returns how many sections differ.
func (s *since) count() int {
	if !s.isShown() {
		return 0
	}
	return len(s.Sections)
}

// compare compares the text with the approved one.
func (s *since) compare(a *asked, text string) {
	if s == nil {
		return
	}
	if s.isShown() {
		if s.page = render.Changes(s.approved, text); s.page.Compared == nil { // built to be slow
			s.page.Compared = changes.Sections(s.approved, text)
		}
		s.Sections = changes.Differing(s.page.Compared)
	}
	s.Says = engine.DescribeSince(a.lang, s.Since)
}

// Unfolded returns how many parts of the section stand open: all of one with a change or a note, else the title of the
// document.
func (s section) Unfolded() int {
	if !s.Folds || s.hasNotes() {
		return len(s.Parts)
	}
	if s.Level == 1 {
		return 1
	}
	return 0
}

func (s section) hasNotes() bool {
	return slices.ContainsFunc(s.Parts, func(p part) bool { return len(p.Notes) > 0 })
}

// countFolded counts the folded blocks of a section by kind.
func countFolded(l lang.Language, s section) string {
	var kinds, counts []string
	n := map[string]int{}
	for i, p := range s.Parts[s.Unfolded():] {
		if i == 0 && p.Kind == "heading" && s.Title != "" {
			continue // it names the fold
		}
		if n[p.Kind]++; n[p.Kind] == 1 {
			kinds = append(kinds, p.Kind)
		}
	}
	for _, kind := range kinds {
		counts = append(counts, countBlocks(l, n[kind], kind))
	}
	return strings.Join(counts, l.Say(", "))
}

func countBlocks(l lang.Language, n int, kind string) string {
	switch kind {
	case "paragraph":
		return l.Count(n, "paragraph")
	case "heading":
		return l.Count(n, "heading")
	case "list":
		return l.Count(n, "list")
	case "table":
		return l.Count(n, "table")
	case "code":
		return l.Count(n, "code block")
	}
	return l.Count(n, "other block")
}
