package web

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// maxRan bounds the listed headless runs of a project, the latest.
const maxRan = 50

// ranRow is a headless run in a list.
type ranRow struct {
	*headless.Kept
	Project folder
	Href    string
	// Title is the objective, or else the name of the task.
	Title string
	// Place describes stage and state of the run.
	Place string
}

// runsPage is the headless runs of all projects.
type runsPage struct {
	Working, Resting []ranRow
	Troubles         []string
	// Starts reports whether a run can be started from here.
	Starts bool
}

// showHeadlessRuns lists the headless runs of all projects.
func (d *Dashboard) showHeadlessRuns(a *asked) (templ.Component, error) {
	a.page.Title, a.page.Follow = a.lang.Say("Runs without a host"), everything
	body := runsPage{Starts: d.o.Runs != nil && !d.door.readOnly}
	var all []ranRow
	for _, p := range d.projects.all() {
		rows, err := d.headlessRunsOf(a, p)
		if a.Err() != nil {
			return nil, a.Err()
		}
		all = append(all, rows...)
		if err != nil {
			body.Troubles = append(body.Troubles, a.lang.Say("%s: %s", p.Path, lang.Of(err)))
		}
	}
	slices.SortStableFunc(all, func(a, b ranRow) int { return b.At.Compare(a.At) })
	for _, r := range all {
		if r.Working {
			body.Working = append(body.Working, r)
		} else {
			body.Resting = append(body.Resting, r)
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
	board, err := d.board(a, p)
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
		row := ranRow{Kept: kept, Project: p, Href: p.Run(kept.TaskName), Title: kept.TaskName}
		if r, ok := known[id]; ok {
			row.Title = visible.Cut(strings.Join(strings.Fields(r.Objective), " "), maxTitle, "…")
			row.Place = story.Place(a.lang, labelOf(stages, r.CurrentStage), r.CurrentState)
		}
		rows = append(rows, row)
	}
	return rows, err
}
