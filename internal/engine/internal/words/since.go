package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The most sections and files of a sentence, and the width of a heading in it.
const (
	namedSections = 5
	namedFiles    = 3
	headColumns   = 32
)

// Since says in how many sections a document differs from its approved text, and in which.
func Since(l lang.Language, c standing.Since) string {
	at := approvalOf(l, c)
	switch n := len(c.Sections); {
	case !c.Compared:
		return ""
	case c.Unknown:
		return l.Say("What changed since %s is unknown: the text of that time was changed, or is gone.", at)
	case n == 0:
		return l.Say("Nothing changed since %s.", at)
	}
	added, removed := changes.Words(c.Sections)
	return l.Say("%s changed since %s: %s. %s added, %d removed.",
		l.Count(len(c.Sections), "section"), at, sectionNames(l, c.Sections), l.Count(added, "word"), removed)
}

// approvalOf names the step with which a document went on.
func approvalOf(l lang.Language, c standing.Since) string {
	who := visible.Cut(visible.Line(plainMarks.Replace(c.Who())), headColumns, "…")
	switch {
	case c.Alone:
		return l.Say("it went on by the rules at round %d", c.Round)
	case c.Others && who != "":
		return l.Say("the approval of %s at round %d", who, c.Round)
	case c.Reported:
		return l.Say("the approval at round %d", c.Round)
	}
	return l.Say("your approval at round %d", c.Round)
}

func sectionNames(l lang.Language, all []changes.Section) string {
	var names []string
	for _, s := range all[:min(len(all), namedSections)] {
		names = append(names, sectionName(l, s))
	}
	return joinFirst(l, names, len(all))
}

// joinFirst joins the first names of all, and counts the others.
func joinFirst(l lang.Language, names []string, all int) string {
	text := strings.Join(names, l.Say(", "))
	if n := all - len(names); n > 0 {
		text += l.Say(" and %d more", n)
	}
	return text
}

func sectionName(l lang.Language, s changes.Section) string {
	title := headline(s.Title)
	if s.Title == "" {
		title = l.Say("the beginning")
	}
	switch s.Kind {
	case changes.Added:
		return l.Say("%s (new)", title)
	case changes.Removed:
		return l.Say("%s (gone)", title)
	case changes.Moved:
		return l.Say("%s (moved)", title)
	}
	if s.Was != "" {
		return l.Say("%s (was %s)", title, headline(s.Was))
	}
	return title
}

// headline returns a heading of a document for a sentence.
func headline(title string) string {
	return visible.Cut(plainMarks.Replace(visible.Line(title)), headColumns, "…")
}

// CodeMoved names the files of the project that have changed since a document was approved that names them; "" if there
// are none.
func CodeMoved(l lang.Language, st workflow.Stage, c standing.Since) string {
	if len(c.Moved) == 0 {
		return ""
	}
	var files []string
	for _, f := range c.Moved[:min(len(c.Moved), namedFiles)] {
		files = append(files, movedFile(l, f))
	}
	list := joinFirst(l, files, len(c.Moved))
	if c.Commit == "" {
		return l.Say("The code moved on since round %d of the %s was approved: %s.", c.Round, st.DocumentIn(l), list)
	}
	return l.Say("The code moved on since round %d of the %s was approved at commit %s: %s.", c.Round, st.DocumentIn(l), visible.Cut(visible.Line(c.Commit), 7, ""), list)
}

func movedFile(l lang.Language, f standing.MovedFile) string {
	name := visible.Line(plainMarks.Replace(f.Path))
	if f.Gone {
		name = l.Say("%s is gone", name)
	}
	if len(f.Sections) == 0 {
		return name
	}
	var titles []string
	for _, title := range f.Sections {
		titles = append(titles, headline(title))
	}
	return l.Say("%s (named in %s)", name, strings.Join(titles, l.Say(", ")))
}

// describeSince returns the sentences about the document at the gate, and about the code of all.
func describeSince(s *standing.Standing) (lines []string) {
	for _, c := range s.Since {
		st, _ := s.Workflow.Stage(c.Stage)
		if text := Since(s.Language, c); text != "" && c.Stage == s.Session.CurrentStage {
			lines = append(lines, "**"+text+"**")
		}
		if text := CodeMoved(s.Language, st, c); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// DescribeChanges returns the sentences about all documents, and the code that they name.
func DescribeChanges(l lang.Language, w *workflow.Definition, all []standing.Since) (lines []string) {
	for _, c := range all {
		st, _ := w.Stage(c.Stage)
		if text := Since(l, c); text != "" {
			lines = append(lines, l.Say("%s: %s", st.DocumentIn(l), text))
		}
		if text := CodeMoved(l, st, c); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// SinceNotes are the sentences about documents and code that changed since they were approved, for one who looks at a
// session.
func SinceNotes(s *standing.Standing) []string {
	if !s.Call.Describing() || !s.Session.CurrentState.Active() {
		return nil
	}
	lines := describeSince(s)
	for _, c := range s.Since {
		st, _ := s.Workflow.Stage(c.Stage)
		if text := Since(s.Language, c); text != "" && c.Stage != s.Session.CurrentStage {
			lines = append(lines, s.Say("%s: %s", st.DocumentIn(s.Language), text))
		}
	}
	return lines
}
