package web

import (
	"net/url"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// maxRan bounds the listed headless runs of a project, and maxEvents the listed events of a run, the latest.
const (
	maxRan    = 50
	maxEvents = 500
)

// ranRow is a headless run in a list.
type ranRow struct {
	*headless.Kept
	Project folder
	Href    string
	// Place describes stage and state of the run.
	Place string
}

// runsPage is the headless runs of all projects.
type runsPage struct {
	Rows     []ranRow
	Troubles []string
}

// showHeadlessRuns lists the headless runs of all projects.
func (d *Dashboard) showHeadlessRuns(a *asked) (templ.Component, error) {
	a.page.Title, a.page.Follow = a.lang.Say("Headless runs"), everything
	var body runsPage
	for _, p := range d.projects.all() {
		rows, err := d.headlessRunsOf(a, p)
		if a.Err() != nil {
			return nil, a.Err()
		}
		body.Rows = append(body.Rows, rows...)
		if err != nil {
			body.Troubles = append(body.Troubles, a.lang.Say("%s: %s", p.Path, lang.Of(err)))
		}
	}
	return runsScreen(a.lang, body), nil
}

// headlessRunsOf returns the headless runs of one project, the latest first.
func (d *Dashboard) headlessRunsOf(a *asked, p folder) (rows []ranRow, err error) {
	open, err := d.o.Engine.Projects().Open(p.Path)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	ids, err := headless.Ran(open.Dir)
	if len(ids) == 0 {
		return nil, err
	}
	board, err := d.o.Engine.Board(a, addressOf(p), engine.MaxBoard, a.lang)
	if err != nil {
		return nil, err
	}
	known, stages := map[string]engine.Row{}, d.o.Engine.Stages(addressOf(p))
	for _, r := range board.Rows {
		known[r.SessionID] = r
	}
	for _, id := range ids[:min(len(ids), maxRan)] {
		kept, e := headless.Past(open.Dir, id)
		if e != nil {
			err = e
			continue
		}
		if kept == nil {
			continue
		}
		row := ranRow{Kept: kept, Project: p, Href: "/runs/" + p.ID + "/" + url.PathEscape(id)}
		if r, ok := known[id]; ok {
			row.Place = story.Place(a.lang, labelOf(stages, r.CurrentStage), r.CurrentState)
		}
		rows = append(rows, row)
	}
	return rows, err
}
