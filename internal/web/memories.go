package web

import (
	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
)

// memoryRow is the memory of a project in a list of all.
type memoryRow struct {
	folder
	memory.Stats
	// Trouble says why it cannot be read.
	Trouble string
}

// Remembers returns the address of a project's memory.
func (p folder) Remembers() string { return "/memory/" + p.ID }

// memories lists the projects with their memories.
func (d *Dashboard) memories(a *asked) (templ.Component, error) {
	a.page.Title = a.lang.Say("Memory")
	var rows []memoryRow
	for _, p := range d.projects.all() {
		row := memoryRow{folder: p}
		err := d.book(p, func(b *memory.Book) (err error) {
			row.Stats, err = b.Stats(a, memory.Filter{})
			return err
		})
		if a.Err() != nil {
			return nil, a.Err()
		}
		if err != nil {
			row.Trouble = lang.Of(err).In(a.lang)
		}
		rows = append(rows, row)
	}
	return memoriesScreen(a.lang, rows), nil
}

// book opens the notes of a project.
func (d *Dashboard) book(p folder, do func(*memory.Book) error) error {
	if d.o.Memory == nil {
		return fault.New(fault.NotFound, "the memory of projects is switched off").WithHint("start the dashboard without that")
	}
	open, err := d.o.Engine.Projects().Open(p.Path)
	if err != nil {
		return err
	}
	defer open.Close()
	return do(d.o.Memory.Of(open))
}
