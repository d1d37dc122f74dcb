package web

import (
	"time"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// Bounds of the notes on a page: of a list, and of a search.
const (
	maxNotes    = 200
	maxRecalled = 20
)

// memoryPage is the notes of one project: the newest, or the matches of a search.
type memoryPage struct {
	selection
	Path  string
	Notes []memo
	// Searched is the number of notes compared by the search.
	Searched     int
	NothingClose bool
	More         bool
	// Problems are unusable lines and files; Trouble says why no note can be read.
	Problems []string
	Trouble  *fault.Error
}

// memo is a note on a page.
type memo struct {
	memory.Found
	// From is a link to the note's run or project.
	From link
}

// Remembers returns the address of the project's notes.
func (p folder) Remembers() string { return "/memory?p=" + p.ID }

// showMemory shows the notes of a project.
func (d *Dashboard) showMemory(a *asked) (templ.Component, error) {
	c, err := d.projects.choose(a, "/memory")
	if err != nil {
		return nil, err
	}
	a.page.Title, a.page.Follow = a.lang.Say("Memory"), c.Project.ID
	out := memoryPage{selection: c}
	if c.Project.ID != "" {
		if err := d.withBook(c.Project, func(b *memory.Book) error { return out.readNotes(a, b) }); err != nil {
			out.Trouble = fault.From(err).Translated(a.lang)
		}
	}
	return memoryScreen(a.lang, out), a.Err()
}

// withBook calls do with the open notes of a project.
func (d *Dashboard) withBook(p folder, do func(*memory.Book) error) error {
	open, err := d.o.Engine.Projects().Open(p.Path)
	if err != nil {
		return err
	}
	defer open.Close()
	return do(d.o.Memory.Of(open))
}

// readNotes fills the page from the notes of the project.
func (m *memoryPage) readNotes(a *asked, b *memory.Book) error {
	m.Path = b.Path()
	if m.Query != "" {
		found, err := b.Recall(a, memory.Query{Text: m.Query, Limit: maxRecalled})
		m.Searched, m.NothingClose = found.Searched, found.NothingClose
		for _, n := range found.Results {
			m.Notes = append(m.Notes, memo{Found: n})
		}
		m.addProblems(a, found.Problems)
		return err
	}
	list, err := b.List(a, memory.Filter{})
	m.More = len(list.Notes) > maxNotes
	for _, n := range list.Notes[:min(len(list.Notes), maxNotes)] {
		row := memo{Found: memory.Found{Type: n.Type, Agent: n.Agent, Text: n.Text, Tags: n.Tags, Date: n.UpdatedAt.Time.UTC().Format(time.DateOnly), Suspicious: n.Suspicious()}}
		if n.Session != "" {
			row.From = link{m.Project.Run(n.Session), a.lang.Say("from a run")}
		}
		m.Notes = append(m.Notes, row)
	}
	m.addProblems(a, list.Problems)
	return err
}

// addProblems adds the unusable lines and files.
func (m *memoryPage) addProblems(a *asked, problems []notes.Problem) {
	for _, p := range problems {
		m.Problems = append(m.Problems, p.In(a.lang))
	}
}
