package web

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// maxLeads bounds the questions read for the inbox: each costs a look at the documents of a run.
const maxLeads = 20

// card is a run in a list.
type card struct {
	engine.Row
	Project projectLink
	Href    string
	// Place describes stage and state of the run.
	Place string
	// Lead names the pending decision; "" if there is none or it was not read.
	Lead string
}

// projectLink names a project.
type projectLink struct {
	folder
	// Waits is the number of runs waiting for the person, Active of runs in the hands of an assistant.
	Waits, Active int
	// Trouble says why the project cannot be read; "" if it can.
	Trouble string
	Broken  []string
}

// inboxPage is the runs of all projects.
type inboxPage struct {
	Waiting  []card
	Stages   []column
	Projects []projectLink
}

// boardPage is the runs of one project.
type boardPage struct {
	Project       projectLink
	Waiting, Done []card
	Stages        []column
	Running       []card
	More          bool
	List          bool
}

// showInbox shows the runs of all projects, first the ones waiting for the person.
func (d *Dashboard) showInbox(a *asked) (templ.Component, error) {
	a.page.Title = a.lang.Say("Inbox")
	a.page.Follow = everything
	var body inboxPage
	var running []card
	var stages []workflow.Stage
	var print prints
	for _, p := range d.projects.all() {
		row := projectLink{folder: p}
		board, err := d.o.Engine.Board(a, addressOf(p), engine.MaxBoard, a.lang)
		if err != nil {
			if a.Err() != nil {
				return nil, a.Err()
			}
			row.Trouble = lang.Of(err).In(a.lang)
		}
		row.Broken = board.Broken
		print.addRows(board.Rows)
		own := d.o.Engine.Stages(addressOf(p))
		stages = withStages(stages, own)
		for _, r := range board.Rows {
			switch c := newCard(a, p, own, r); {
			case r.CurrentState.WaitsForHuman():
				row.Waits++
				body.Waiting = append(body.Waiting, c)
			case r.CurrentState.Active():
				row.Active++
				running = append(running, c)
			}
		}
		body.Projects = append(body.Projects, row)
	}
	a.page.Print = print.sum()
	slices.SortStableFunc(body.Waiting, func(a, b card) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	for i := range min(len(body.Waiting), maxLeads) {
		d.readLead(a, &body.Waiting[i])
	}
	body.Stages = groupByStage(stages, running)
	return inboxScreen(a.lang, body), nil
}

// newCard describes a run.
func newCard(a *asked, p folder, stages []workflow.Stage, r engine.Row) card {
	c := card{Row: r, Project: projectLink{folder: p}, Href: p.Run(r.TaskName), Place: story.Place(a.lang, labelOf(stages, r.CurrentStage), r.CurrentState)}
	if r.CurrentState.WaitsForHuman() {
		c.Href = p.Document(r.TaskName, r.CurrentStage)
	}
	return c
}

// column is the runs of one stage.
type column struct {
	Stage workflow.StageID
	Label string
	Cards []card
}

// withStages appends the stages of a project that stages does not have yet.
func withStages(stages, own []workflow.Stage) []workflow.Stage {
	for _, st := range own {
		if !slices.ContainsFunc(stages, func(known workflow.Stage) bool { return known.ID == st.ID }) {
			stages = append(stages, st)
		}
	}
	return stages
}

// labelOf returns the label of a stage, or the id if the workflow is not in the settings.
func labelOf(stages []workflow.Stage, id workflow.StageID) string {
	for _, st := range stages {
		if st.ID == id {
			return st.Label
		}
	}
	return string(id)
}

// groupByStage puts runs under their stages, and leaves out stages without runs.
func groupByStage(stages []workflow.Stage, cards []card) []column {
	var out []column
	for _, st := range stages {
		out = append(out, column{Stage: st.ID, Label: st.Label})
	}
	for _, c := range cards {
		i := slices.IndexFunc(out, func(col column) bool { return col.Stage == c.CurrentStage })
		if i < 0 {
			i = len(out)
			out = append(out, column{Stage: c.CurrentStage, Label: string(c.CurrentStage)})
		}
		out[i].Cards = append(out[i].Cards, c)
	}
	return slices.DeleteFunc(out, func(col column) bool { return len(col.Cards) == 0 })
}

// showBoard shows the runs of one project.
func (d *Dashboard) showBoard(a *asked) (templ.Component, error) {
	p, err := d.projects.folderOf(a)
	if err != nil {
		return nil, err
	}
	board, err := d.o.Engine.Board(a, addressOf(p), engine.MaxBoard, a.lang)
	if err != nil {
		return nil, err
	}
	var print prints
	print.addRows(board.Rows)
	a.page.Title, a.page.Follow, a.page.Print = p.Name, p.ID, print.sum()
	body := boardPage{Project: projectLink{folder: p, Broken: board.Broken}, More: board.More, List: a.r.URL.Query().Get("view") == "list"}
	stages := d.o.Engine.Stages(addressOf(p))
	for _, r := range board.Rows {
		switch c := newCard(a, p, stages, r); {
		case r.CurrentState.WaitsForHuman():
			body.Waiting = append(body.Waiting, c)
		case r.CurrentState.Active():
			body.Running = append(body.Running, c)
		default:
			body.Done = append(body.Done, c)
		}
	}
	for i := range min(len(body.Waiting), maxLeads) {
		d.readLead(a, &body.Waiting[i])
	}
	body.Stages = groupByStage(stages, body.Running)
	slices.SortStableFunc(body.Done, func(a, b card) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.TaskName, b.TaskName))
	})
	return boardScreen(a.lang, body), nil
}

// readLead adds the question of the gate to a card. If it cannot be read, the card has only the place, and
// the run's page says why.
func (d *Dashboard) readLead(a *asked, c *card) {
	q, err := d.o.Engine.Gate(a, request.Request{Address: project.Address{Cwd: c.Project.Path, Session: c.SessionID}, Caller: request.Caller{Language: a.lang}})
	if err == nil {
		c.Lead = q.Lead
	}
}

// redirectShort redirects from a short address to the run, or to the document waiting for the person.
func (d *Dashboard) redirectShort(w http.ResponseWriter, r *http.Request) {
	for _, p := range d.projects.all() {
		board, err := d.o.Engine.Board(r.Context(), addressOf(p), engine.MaxBoard, "")
		if err != nil {
			continue // the inbox says that the project cannot be read
		}
		for _, row := range board.Rows {
			if shortOf(p.Path, row.TaskName) != r.PathValue("short") {
				continue
			}
			to := p.Run(row.TaskName)
			if row.CurrentState.WaitsForHuman() {
				to = p.Document(row.TaskName, row.CurrentStage)
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
	}
	d.screens.handleScreen("inbox", showNotFound).ServeHTTP(w, r)
}
