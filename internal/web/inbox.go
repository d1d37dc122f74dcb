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

// maxLeads bounds the runs of the inbox whose question is read, since each costs a look at its
// documents.
const maxLeads = 20

// card is a run on a page that lists several.
type card struct {
	engine.Row
	Project projectLink
	Href    string
	// Place is its stage, and the state of that.
	Place string
	// Lead names the decision, if the run waits for the person; "" if it was not read.
	Lead string
}

// projectLink names a project.
type projectLink struct {
	folder
	// Waits counts the runs that wait for the person, Active those that an assistant works on.
	Waits, Active int
	// Trouble says why the project cannot be read.
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

// inbox shows the runs that wait for the person in all projects.
func (d *Dashboard) inbox(a *asked) (templ.Component, error) {
	a.page.Title = a.lang.Say("Inbox")
	a.page.Follow = everything
	var body inboxPage
	var running []card
	var stages []workflow.Stage
	var print prints
	for _, p := range d.projects.all() {
		row := projectLink{folder: p}
		board, err := d.o.Engine.Board(a, address(p), engine.MaxBoard, a.lang)
		if err != nil {
			if a.Err() != nil {
				return nil, a.Err()
			}
			row.Trouble = lang.Of(err).In(a.lang)
		}
		row.Broken = board.Broken
		print.rows(board.Rows)
		own := d.o.Engine.Stages(address(p))
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
		d.lead(a, &body.Waiting[i])
	}
	body.Stages = columns(stages, running)
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

// withStages adds the stages of a project to those of others.
func withStages(stages, own []workflow.Stage) []workflow.Stage {
	for _, st := range own {
		if !slices.ContainsFunc(stages, func(known workflow.Stage) bool { return known.ID == st.ID }) {
			stages = append(stages, st)
		}
	}
	return stages
}

// labelOf returns the label of a stage, or its id if the settings do not have its workflow.
func labelOf(stages []workflow.Stage, id workflow.StageID) string {
	for _, st := range stages {
		if st.ID == id {
			return st.Label
		}
	}
	return string(id)
}

// columns puts runs under their stages, without those that have none.
func columns(stages []workflow.Stage, cards []card) []column {
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

// board shows the runs of one project.
func (d *Dashboard) board(a *asked) (templ.Component, error) {
	p, err := d.projects.named(a)
	if err != nil {
		return nil, err
	}
	board, err := d.o.Engine.Board(a, address(p), engine.MaxBoard, a.lang)
	if err != nil {
		return nil, err
	}
	var print prints
	print.rows(board.Rows)
	a.page.Title, a.page.Follow, a.page.Print = p.Name, p.ID, print.sum()
	body := boardPage{Project: projectLink{folder: p, Broken: board.Broken}, More: board.More, List: a.r.URL.Query().Get("view") == "list"}
	stages := d.o.Engine.Stages(address(p))
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
		d.lead(a, &body.Waiting[i])
	}
	body.Stages = columns(stages, body.Running)
	slices.SortStableFunc(body.Done, func(a, b card) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.TaskName, b.TaskName))
	})
	return boardScreen(a.lang, body), nil
}

// lead adds to a card the question of its gate. A card that cannot be read keeps only its place: its own page
// says why.
func (d *Dashboard) lead(a *asked, c *card) {
	q, err := d.o.Engine.Gate(a, request.Request{Address: project.Address{Cwd: c.Project.Path, Session: c.SessionID}, Caller: request.Caller{Language: a.lang}})
	if err == nil {
		c.Lead = q.Lead
	}
}

// short leads from a short address to the page.
func (d *Dashboard) short(w http.ResponseWriter, r *http.Request) {
	for _, p := range d.projects.all() {
		board, err := d.o.Engine.Board(r.Context(), address(p), engine.MaxBoard, "")
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
	d.screens.screen("inbox", nowhere).ServeHTTP(w, r)
}
