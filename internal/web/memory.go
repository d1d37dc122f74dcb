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

// memoryPage is the notes of one project: the newest, or those that fit a search.
type memoryPage struct {
	selection
	Path  string
	Notes []memo
	// Searched is the number of notes that a search has compared.
	Searched     int
	NothingClose bool
	More         bool
	// Problems are lines and files that cannot be used; Trouble says why no note can be read.
	Problems []string
	Trouble  *fault.Error
}

// memo is a note on a page.
type memo struct {
	memory.Found
	// From leads to the run or the project that it is from.
	From link
}

// Remembers returns the address of the project's notes.
func (p folder) Remembers() string { return "/memory?p=" + p.ID }

// memory shows the notes of a project.
func (d *Dashboard) memory(a *asked) (templ.Component, error) {
	c, err := d.choose(a, "/memory")
	if err != nil {
		return nil, err
	}
	a.page.Title, a.page.Follow = a.lang.Say("Memory"), c.Project.ID
	out := memoryPage{selection: c}
	if c.Project.ID != "" {
		if err := d.book(c.Project, func(b *memory.Book) error { return out.read(a, b) }); err != nil {
			out.Trouble = fault.From(err).Translated(a.lang)
		}
	}
	return memoryScreen(a.lang, out), a.Err()
}

// book opens the notes of a project.
func (d *Dashboard) book(p folder, do func(*memory.Book) error) error {
	open, err := d.o.Engine.Projects().Open(p.Path)
	if err != nil {
		return err
	}
	defer open.Close()
	return do(d.o.Memory.Of(open))
}

// read fills the page from the notes of its project.
func (m *memoryPage) read(a *asked, b *memory.Book) error {
	m.Path = b.Path()
	if m.Query != "" {
		found, err := b.Recall(a, memory.Query{Text: m.Query, Limit: maxRecalled})
		m.Searched, m.NothingClose = found.Searched, found.NothingClose
		for _, n := range found.Results {
			m.Notes = append(m.Notes, memo{Found: n})
		}
		m.tell(a, found.Problems)
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
	m.tell(a, list.Problems)
	return err
}

// tell names the lines and files that cannot be used.
func (m *memoryPage) tell(a *asked, problems []notes.Problem) {
	for _, p := range problems {
		m.Problems = append(m.Problems, p.In(a.lang))
	}
}
