package web

import (
	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// ranPage is one run without a host.
type ranPage struct {
	ranRow
	Events []eventRow
	// Whole reports whether the steps of the engines are shown, too; Cut, whether the first events are left
	// out.
	Whole, Cut bool
	// Last is the event that ended the run, nil for a run in progress.
	Last *headless.Event
}

// eventRow is an event with a sentence about it.
type eventRow struct {
	headless.Event
	Line string
}

// showHeadlessRun shows the events and the cost of a run without a host.
func (d *Dashboard) showHeadlessRun(a *asked) (templ.Component, error) {
	req, p, err := d.projects.requestOf(a)
	if err != nil {
		return nil, err
	}
	s, _, err := d.o.Engine.Session(a, req.Address)
	if err != nil {
		return nil, noTask(err)
	}
	open, err := d.o.Engine.Projects().At(project.Address{Cwd: p.Path})
	if err != nil {
		return nil, err
	}
	defer open.Close()
	kept, err := headless.Past(open.Dir, s.SessionID)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		return nil, fault.New(fault.NotFound, "%q was not run without a host",
			s.TaskName).WithHint("its own page shows it: bmad-mcp run --resume %s goes on without a host",
			s.TaskName)
	}
	a.page.Title = s.TaskName
	a.followRun(p, s)
	a.page.Trail = []link{{"/runs", a.lang.Say("Headless runs")}}
	out := ranPage{ranRow: ranRow{Kept: kept, Project: p, Href: p.Run(s.TaskName), Place: story.Place(a.lang, labelOf(s.Definition().Stages, s.CurrentStage), s.CurrentState)}}
	out.Whole = a.r.URL.Query().Get("show") == "all"
	_, events, err := headless.New(headless.Options{Engine: d.o.Engine, Folder: p.Path}).Events(a, s.SessionID)
	if err != nil {
		return nil, err
	}
	out.addEvents(a.lang, events)
	return ranScreen(a.lang, out), nil
}

// addEvents adds the events of the run to the page, at most the last maxEvents.
func (p *ranPage) addEvents(l lang.Language, events []headless.Event) {
	for i, e := range events {
		row := eventRow{e, e.Line(l)}
		switch e.Type {
		case headless.EngineEvent:
			row.Line = e.Text
		case headless.Stopped, headless.Completed:
			row.Line = e.Why
			p.Last = &events[i]
		case headless.RunStarted:
			p.Last = nil
		case headless.GateReached:
			if e.Decision == "" {
				row.Line = story.State(l, workflow.AwaitingApproval)
			}
		case headless.Questioned:
			row.Line = story.State(l, workflow.Clarifying)
		}
		if row.Line != "" && (p.Whole || e.Type != headless.EngineEvent) {
			p.Events = append(p.Events, row)
		}
	}
	p.Cut = len(p.Events) > maxEvents
	p.Events = p.Events[max(len(p.Events)-maxEvents, 0):]
}
