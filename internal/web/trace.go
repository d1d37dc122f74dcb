package web

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
)

// tracePage follows the requirements of a run to the evidence.
type tracePage struct {
	trace.Trace
	Run   string
	Found workflow.Verification
	// Holes are sentences on missing links, Unknown on those that nothing is known of.
	Holes, Unknown []string
	Lanes          []lane
	Drawing        drawing
	Lines          []tracedLine
	// More is how many lines of the table are left out.
	More int
}

// Bounds of the page: lines of the table, and stories of a lane.
const (
	maxTraced = 500
	maxInLane = 200
)

// lane is a sprint of the board with its stories, or the stories in no sprint.
type lane struct {
	Title  string
	Status workflow.SprintStatus
	Href   string
	IsHole bool
	Cards  []storyCard
	// More is how many cards are left out.
	More int
}

// storyCard is a story, or the criteria of a lane without one.
type storyCard struct {
	ID, Title, Href string
	Marks           []cardMark
	// Counts says how many criteria are met, failed and so on.
	Counts string
}

// cardMark is a criterion on a card.
type cardMark struct {
	ID, Href string
	State    trace.State
}

// tracedLine is a line of the table.
type tracedLine struct {
	Text  string
	Cells []tracedCell
}

type tracedCell struct {
	trace.Cell
	Links []link
	State trace.State
}

func (d *Dashboard) showTrace(a *asked) (templ.Component, error) {
	it, err := d.projects.inspect(a)
	if err != nil {
		return nil, err
	}
	traced, facts, err := d.o.Engine.Trace(a, it.req.Address)
	if err != nil {
		return nil, err
	}
	p, s := it.project, it.session
	a.page.Title = a.lang.Say("Traceability")
	a.followRun(p, s)
	a.page.Trail = []link{{p.Href(), p.Name}, {p.Run(s.TaskName), s.TaskName}}
	t := tracer{lang: a.lang, Trace: &traced, hrefs: hrefsOf(p, s, facts), code: func(stage workflow.StageID) string { return p.Document(s.TaskName, stage) }}
	out := tracePage{Trace: traced, Run: p.Run(s.TaskName), Found: it.found.In(a.lang), Holes: traced.Sentences(a.lang)}
	for _, u := range traced.Unknown {
		out.Unknown = append(out.Unknown, u.Text(a.lang))
	}
	lines := traced.Lines()
	out.Lanes, out.Drawing = t.layLanes(), t.draw(lines)
	for _, line := range lines[:min(len(lines), maxTraced)] {
		out.Lines = append(out.Lines, t.tableLine(line))
	}
	out.More = len(lines) - len(out.Lines)
	return traceScreen(a.lang, out), nil
}

// hrefsOf returns a function from a line of a document to its address.
func hrefsOf(p folder, s *workflow.Session, facts trace.Facts) func(trace.Place) string {
	blocks := map[workflow.StageID][]render.Block{}
	for _, d := range facts.Documents {
		blocks[d.Stage] = render.Document(d.Text).Blocks
	}
	for _, r := range facts.Reports {
		blocks[r.Stage] = render.Document(r.Text).Blocks
	}
	return func(at trace.Place) string {
		if at.Line == 0 {
			return ""
		}
		href := p.Document(s.TaskName, at.Stage)
		i, _ := slices.BinarySearchFunc(blocks[at.Stage], at.Line+1, func(b render.Block, line int) int { return b.From - line })
		if i == 0 {
			return href
		}
		return href + "#" + blocks[at.Stage][i-1].ID
	}
}

// layLanes lays the stories out by their sprints. Where the plan has entries of its own they are the stories of the
// sprint, and those of the requirements are in the table.
func (t *tracer) layLanes() (out []lane) {
	criteria := map[string]trace.Criterion{}
	for _, c := range t.Criteria {
		criteria[c.ID] = c
	}
	lay := func(l lane, of workflow.StageID, isIn func(sprints []int) bool) {
		stories := slices.DeleteFunc(slices.Clone(t.Stories), func(s trace.Story) bool { return !isIn(s.Sprints) })
		if slices.ContainsFunc(stories, func(s trace.Story) bool { return s.Stage == of }) {
			stories = slices.DeleteFunc(stories, func(s trace.Story) bool { return s.Stage != of })
		}
		shown := map[string]bool{}
		for _, s := range stories {
			l.add(t.layCard(s.ID, s.Title, t.hrefs(s.Place), s.Criteria, criteria))
			for _, id := range s.Criteria {
				shown[id] = true
			}
		}
		var alone []string
		for _, c := range t.Criteria {
			inNone := len(c.Sprints) == 0 && len(c.Stories) > 0 // the card of the story has it
			if isIn(c.Sprints) && !shown[c.ID] && !inNone {
				alone = append(alone, c.ID)
			}
		}
		if len(alone) > 0 {
			l.add(t.layCard("", t.lang.Say("Other criteria"), "", alone, criteria))
		}
		if len(l.Cards) > 0 || l.Href != "" {
			out = append(out, l)
		}
	}
	for _, s := range t.Sprints {
		title := t.lang.Say("Sprint %s", s.Name)
		if s.Title != "Sprint "+s.Name && s.Title != "" {
			title = t.lang.Say("Sprint %s: %s", s.Name, s.Title)
		}
		lay(lane{Title: title, Status: s.Status, Href: t.hrefs(s.Place)}, s.Stage, func(in []int) bool { return slices.Contains(in, s.Number) })
	}
	last := lane{Title: t.lang.Say("In no sprint"), IsHole: true}
	if len(t.Sprints) == 0 {
		last = lane{Title: t.lang.Say("Stories")}
	}
	lay(last, "", func(in []int) bool { return len(in) == 0 })
	return out
}

// add adds a card if there is room.
func (l *lane) add(c storyCard) {
	if len(l.Cards) == maxInLane {
		l.More++
		return
	}
	l.Cards = append(l.Cards, c)
}

// maxMarks is how many criteria a card names.
const maxMarks = 60

func (t *tracer) layCard(id, title, href string, ids []string, criteria map[string]trace.Criterion) storyCard {
	out := storyCard{ID: id, Title: title, Href: href}
	counts := map[trace.State]int{}
	for _, one := range ids {
		c := criteria[one]
		counts[c.State]++
		if len(out.Marks) < maxMarks {
			out.Marks = append(out.Marks, cardMark{ID: one, Href: t.hrefOf("c", one), State: c.State})
		}
	}
	var said []string
	for _, state := range []trace.State{trace.Failed, trace.NotRun, trace.Open, trace.Met, trace.LeftOut} {
		if n := counts[state]; n > 0 {
			said = append(said, strconv.Itoa(n)+" "+state.Text(t.lang))
		}
	}
	out.Counts = strings.Join(said, " · ")
	return out
}

// tableLine returns a line of the table with links.
func (t *tracer) tableLine(l trace.Line) tracedLine {
	out := tracedLine{Text: l.Text}
	for i, c := range t.Cells(t.lang, l) {
		cell := tracedCell{Cell: c}
		addLinks := func(kind string, ids ...string) {
			for _, id := range ids {
				cell.Links = append(cell.Links, link{t.hrefOf(kind, id), id})
			}
		}
		switch {
		case c.IsHole:
		case i == 0:
			addLinks("r", l.Requirements...)
		case i == 1 && len(l.Stories) > 0:
			addLinks("s", l.Stories...)
		case i == 2 && l.State != "":
			addLinks("c", l.Criterion)
		case i == 3:
			addLinks("p", t.SprintNames(l.Sprints)...)
		case i == 4:
			if cell.State = l.State; l.Row != nil {
				cell.Links = []link{{t.hrefs(l.Row.Place), c.Text}}
			}
		case i == 6 && l.Row != nil:
			for k, place := range l.Row.Places() {
				cell.Links = append(cell.Links, link{codeHref(t.code(l.Row.Stage), l.Row.Files[k].Path), visible.Line(place)})
			}
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}

// iconOf returns the icon of a state of a criterion.
func iconOf(s trace.State) string {
	switch s {
	case trace.Met:
		return "done"
	case trace.Failed:
		return "failed"
	case trace.NotRun:
		return "warn"
	case trace.LeftOut:
		return "close"
	}
	return "ring"
}

// colourOf returns the class of a state of a criterion.
func colourOf(s trace.State) string {
	return map[trace.State]string{trace.Met: "good", trace.Failed: "bad", trace.NotRun: "warn"}[s]
}

// signOf returns the sign of a box, which is there without colours, too.
func signOf(b box) string {
	switch {
	case b.IsHole, b.State == trace.Failed:
		return "✗ "
	case b.State == trace.Met:
		return "✓ "
	case b.State == trace.NotRun:
		return "! "
	case b.State != "":
		return "○ "
	}
	return ""
}
