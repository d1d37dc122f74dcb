package web

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/queue"
)

// Bounds of the lists of a memory page.
const (
	maxNotes    = 200
	maxFailures = 50
	maxTasks    = 200
	maxRecalled = 20
)

// memoryPage shows the memory of one project.
type memoryPage struct {
	Project folder
	Path    string
	Stats   memory.Stats
	// Query, Type and Agent choose the notes.
	Query, Agent  string
	Type          notes.Type
	Types         []notes.Type
	Agents        []string
	Found         *memory.Recalled
	Notes         []noteGroup
	Lessons       []noteRow
	Museum        memory.Museum
	Tasks         []queue.Task
	Contract      []engine.Want
	Problems      []string
	More, NoNotes bool
}

// noteGroup is the notes of one type.
type noteGroup struct {
	Type  notes.Type
	Notes []noteRow
}

// noteRow is a note with the run that taught it.
type noteRow struct {
	notes.Note
	// Run is the address of that run, "" if it has none.
	Run        string
	Suspicious bool
}

// memory shows the memory of a project: its notes, lessons, failures and queue.
func (d *Dashboard) memory(a *asked) (templ.Component, error) {
	p, err := d.projects.named(a)
	if err != nil {
		return nil, err
	}
	given := a.r.URL.Query()
	out := memoryPage{Project: p, Query: given.Get("q"), Type: notes.Type(given.Get("type")), Agent: given.Get("agent"), Types: notes.Types()}
	a.page.Title, a.page.Trail, a.page.Follow = a.lang.Say("Memory of %s", p.Name), []link{{"/memory", a.lang.Say("Memory")}}, p.ID
	if err := d.book(p, func(b *memory.Book) error { return out.read(a, b) }); err != nil {
		return nil, err
	}
	_, wants, err := d.o.Engine.Wants(address(p))
	if err != nil {
		out.Problems = append(out.Problems, lang.Of(err).In(a.lang))
	}
	for _, w := range wants {
		if w.Runs() {
			out.Contract = append(out.Contract, w)
		}
	}
	return memoryScreen(a.lang, out), nil
}

// read fills the page from the notes of its project.
func (m *memoryPage) read(a *asked, b *memory.Book) (err error) {
	m.Path = b.Path()
	if m.Stats, err = b.Stats(a, memory.Filter{}); err != nil {
		return err
	}
	m.Agents = slices.Sorted(maps.Keys(m.Stats.ByAgent))
	list, err := b.List(a, memory.Filter{Type: m.Type, Agent: m.Agent})
	if err != nil {
		return err
	}
	if m.Query != "" {
		found, err := b.Recall(a, memory.Query{Text: m.Query, Type: m.Type, Agent: m.Agent, Limit: maxRecalled})
		if err != nil {
			return err
		}
		m.Found = &found
	}
	if m.Museum, err = b.Failures(a, "", "", maxFailures); err != nil {
		return err
	}
	q, err := b.Queue()
	if err != nil {
		return err
	}
	tasks, problems, err := q.Tasks(a, "")
	if err != nil {
		return err
	}
	m.Tasks = tasks[max(len(tasks)-maxTasks, 0):]
	for _, p := range append(list.Problems, problems...) {
		m.Problems = append(m.Problems, p.In(a.lang))
	}
	m.sort(list.Notes)
	return nil
}

// sort puts notes under their types, without those that are listed elsewhere: the lessons of runs and, if no
// type was chosen, the failures, which the museum has.
func (m *memoryPage) sort(list []notes.Note) {
	m.More = len(list) > maxNotes
	groups := map[notes.Type][]noteRow{}
	for _, n := range list[:min(len(list), maxNotes)] {
		row := noteRow{Note: n, Suspicious: n.Suspicious()}
		if n.Session != "" {
			row.Run = m.Project.Run(n.Session)
		}
		if m.Type == "" && (row.Run != "" || n.Type == notes.Failures) {
			if n.Type != notes.Failures {
				m.Lessons = append(m.Lessons, row)
			}
			continue
		}
		groups[n.Type] = append(groups[n.Type], row)
	}
	for _, t := range slices.SortedFunc(maps.Keys(groups), func(a, b notes.Type) int {
		return cmp.Compare(slices.Index(notes.Types(), a), slices.Index(notes.Types(), b))
	}) {
		m.Notes = append(m.Notes, noteGroup{t, groups[t]})
	}
	m.NoNotes = m.Stats.Notes+m.Stats.Foreign == 0
}
