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
	t := newTracer(a.lang, &traced, hrefsOf(p, s, facts), func(stage workflow.StageID) string { return p.Document(s.TaskName, stage) })
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

// layLanes lays the stories and criteria out by their sprints; the last lane has the ones in none.
func (t *tracer) layLanes() (out []lane) {
	for _, s := range t.Sprints {
		title := t.lang.Say("Sprint %s", s.Name)
		if s.Title != "Sprint "+s.Name && s.Title != "" {
			title = visible.Line(t.lang.Say("Sprint %s: %s", s.Name, s.Title))
		}
		out = append(out, t.fill(lane{Title: title, Status: s.Status, Href: t.hrefs(s.Place)}, s.Stage, s.Stories, s.Criteria))
	}
	var stories, criteria []string
	for _, s := range t.Stories {
		if len(s.Sprints) == 0 {
			stories = append(stories, s.ID)
		}
	}
	for _, c := range t.Criteria {
		if len(c.Sprints)+len(c.Stories) == 0 { // else the card of its story has it
			criteria = append(criteria, c.ID)
		}
	}
	last := lane{Title: t.lang.Say("In no sprint"), IsHole: true}
	if len(t.Sprints) == 0 {
		last = lane{Title: t.lang.Say("Stories")}
	}
	out = append(out, t.fill(last, "", stories, criteria))
	return slices.DeleteFunc(out, func(l lane) bool { return len(l.Cards) == 0 && l.Href == "" })
}

// fill fills a lane with stories and criteria. Where the plan has entries of its own they are the stories of the sprint,
// and the stories of the requirements are in the table.
func (t *tracer) fill(l lane, plan workflow.StageID, stories, criteria []string) lane {
	isOther := func(id string) bool { return t.stories[id].Stage != plan }
	if own := slices.DeleteFunc(slices.Clone(stories), isOther); len(own) > 0 {
		stories = own
	}
	shown := map[string]bool{}
	for _, id := range stories {
		s := t.stories[id]
		l.add(t.layCard(s.ID, s.Title, t.hrefs(s.Place), s.Criteria))
		for _, id := range s.Criteria {
			shown[id] = true
		}
	}
	alone := slices.DeleteFunc(slices.Clone(criteria), func(id string) bool { return shown[id] })
	if len(alone) > 0 {
		l.add(t.layCard("", t.lang.Say("Other criteria"), "", alone))
	}
	return l
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

func (t *tracer) layCard(id, title, href string, ids []string) storyCard {
	out := storyCard{ID: id, Title: title, Href: href}
	counts := map[trace.State]int{}
	for _, one := range ids {
		state := t.criteria[one].State
		counts[state]++
		if len(out.Marks) < maxMarks {
			out.Marks = append(out.Marks, cardMark{ID: one, Href: t.places["c"+one], State: state})
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
	out, cells := tracedLine{Text: l.Text}, t.Cells(t.lang, l)
	links := [][]link{t.linksTo("r", l.Requirements...), t.linksTo("s", l.Stories...), nil, t.linksTo("p", t.SprintNames(l.Sprints)...), nil, nil, nil}
	if l.State != "" {
		links[2] = t.linksTo("c", l.Criterion)
	}
	if l.Row != nil {
		links[4] = []link{{t.hrefs(l.Row.Place), cells[4].Text}}
		for i, place := range l.Row.Places() {
			links[6] = append(links[6], link{codeHref(t.code(l.Row.Stage), l.Row.Files[i].Path), visible.Line(place)})
		}
	}
	for i, c := range cells {
		cell := tracedCell{Cell: c}
		if !c.IsHole {
			cell.Links = links[i]
			if i == 4 {
				cell.State = l.State
			}
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}

// stateLook is the icon, the class and the sign of a state of a criterion. A sign is there without colours, too.
type stateLook struct{ Icon, Colour, Sign string }

func stateLookOf(s trace.State) stateLook {
	switch s {
	case trace.Met:
		return stateLook{"done", "good", "✓ "}
	case trace.Failed:
		return stateLook{"failed", "bad", "✗ "}
	case trace.NotRun:
		return stateLook{"warn", "warn", "! "}
	case trace.LeftOut:
		return stateLook{"close", "", "○ "}
	case trace.Open:
		return stateLook{"ring", "", "○ "}
	}
	return stateLook{}
}

// Sign returns the sign of a box.
func (b box) Sign() string {
	if b.IsHole {
		return stateLookOf(trace.Failed).Sign
	}
	return stateLookOf(b.State).Sign
}
