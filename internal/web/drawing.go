package web

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
)

// drawing is a trace drawn as boxes in columns, with a curve for each link.
type drawing struct {
	Width, Height int
	Columns       []drawnColumn
	Boxes         []box
	Curves        []curve
	// Left is how many lines of the table are not drawn.
	Left int
}

type drawnColumn struct {
	X    int
	Name string
}

// box is a requirement, story, criterion, sprint, or evidence; or a hole.
type box struct {
	X, Y          int
	Text, Whole   string
	Href          string
	State         trace.State
	IsHole        bool
	column        int
	wanted, times int
}

// curve is a link between two boxes, as a path.
type curve struct {
	Path   string
	IsHole bool
}

// Measures of the drawing, in pixels; maxDrawn bounds its lines.
const (
	boxWidth   = 232
	boxHeight  = 24
	boxGap     = 6
	columnGap  = 88
	drawingTop = 26
	maxDrawn   = 60
	maxColumns = 30 // of the text in a box
)

// draw draws the lines of a trace; of too many, those with a hole or a failure first.
func (t *tracer) draw(lines []trace.Line) drawing {
	drawn := chooseDrawn(lines)
	s := sketch{tracer: t, at: map[spot]int{}}
	for i, name := range []string{t.lang.Say("Requirement"), t.lang.Say("Story"), t.lang.Say("Criterion"), t.lang.Say("Evidence")} {
		s.out.Columns = append(s.out.Columns, drawnColumn{i * (boxWidth + columnGap), name})
	}
	for row, line := range drawn {
		s.row = row
		s.addLine(line)
	}
	s.settle()
	s.out.Left = len(lines) - len(drawn)
	return s.out
}

// chooseDrawn returns the lines to draw, in their order.
func chooseDrawn(lines []trace.Line) (out []trace.Line) {
	if len(lines) <= maxDrawn {
		return lines
	}
	var chosen []int
	for _, urgent := range []bool{true, false} {
		for i, l := range lines {
			if isUrgent := l.State == trace.Failed || len(l.Missing) > 0; isUrgent == urgent && len(chosen) < maxDrawn {
				chosen = append(chosen, i)
			}
		}
	}
	slices.Sort(chosen)
	for _, i := range chosen {
		out = append(out, lines[i])
	}
	return out
}

// sketch collects the boxes of a drawing. at has the places of the boxes, links the pairs of boxes.
type sketch struct {
	*tracer
	out   drawing
	at    map[spot]int
	links [][2]int
	row   int
}

// spot tells boxes apart; row is 0 for all but holes.
type spot struct {
	column, row int
	text        string
}

// addLine adds the boxes of a line, and the links from each column to the next one with a box.
func (s *sketch) addLine(l trace.Line) {
	var before []int
	for i, cell := range s.boxesOf(l) {
		var here []int
		for _, b := range cell {
			b.column = i
			here = append(here, s.add(b))
		}
		if len(here) == 0 {
			continue
		}
		for _, a := range before {
			for _, b := range here {
				s.links = append(s.links, [2]int{a, b})
			}
		}
		before = here
	}
}

// boxesOf returns the boxes of a line for each column: requirement, story, criterion with its sprints, and evidence. Of
// several stories it is the first, which the criterion stands below.
func (s *sketch) boxesOf(l trace.Line) (out [4][]box) {
	cells := s.Cells(s.lang, l)
	for _, id := range l.Requirements {
		out[0] = append(out[0], box{Text: id, Href: s.places["r"+id]})
	}
	noSprint := l.Missing[trace.InNoSprint] || l.Missing[trace.CriterionNowhere]
	switch {
	case l.Missing[trace.WithoutStory]:
		out[1] = []box{{Text: cells[1].Text, IsHole: true}}
	case len(l.Stories) > 0:
		out[1] = []box{{Text: l.Stories[0], Href: s.places["s"+l.Stories[0]]}}
	}
	if l.Criterion != "" {
		one := box{Text: l.Criterion, Href: s.places["c"+l.Criterion], State: l.State, IsHole: noSprint || l.Missing[trace.WithoutCriterion]}
		switch {
		case l.Missing[trace.WithoutCriterion]:
			one.Text += " · " + cells[0].Text
		case noSprint:
			one.Text += " · " + cells[3].Text
		case len(l.Sprints) > 0:
			one.Text += " · " + s.lang.Say("Sprint %s", cells[3].Text)
		}
		out[2] = []box{one}
	}
	switch proofs := slices.Concat(l.Row.Places(), l.Row.Proofs()); {
	case l.Missing[trace.WithoutRow], l.Missing[trace.WithoutEvidence]:
		text := trace.WithoutRow.Text(s.lang)
		if l.Missing[trace.WithoutEvidence] {
			text = trace.WithoutEvidence.Text(s.lang)
		}
		out[3] = []box{{Text: text, IsHole: true}}
	case len(proofs) > 0:
		out[3] = []box{{Text: proofs[0], Href: s.hrefs(l.Row.Place)}}
	}
	return out
}

// add adds a box once, and returns its place. Each hole is a box of its own.
func (s *sketch) add(b box) int {
	key := spot{column: b.column, text: b.Text}
	if b.IsHole {
		key.row = s.row
	}
	at, known := s.at[key]
	if !known {
		at = len(s.out.Boxes)
		s.at[key] = at
		b.X = s.out.Columns[b.column].X
		b.Whole, b.Text = b.Text, visible.Shorten(visible.Line(b.Text), maxColumns, "…")
		s.out.Boxes = append(s.out.Boxes, b)
	}
	found := &s.out.Boxes[at]
	found.wanted, found.times = found.wanted+s.row*(boxHeight+boxGap), found.times+1
	return at
}

// settle places each box at the middle of its lines, below the one before, and draws the curves.
func (s *sketch) settle() {
	order := make([]int, len(s.out.Boxes))
	for i := range order {
		order[i] = i
	}
	boxes := s.out.Boxes
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(boxes[a].wanted/boxes[a].times, boxes[b].wanted/boxes[b].times) })
	free := make([]int, len(s.out.Columns))
	for _, i := range order {
		b := &boxes[i]
		b.Y = max(free[b.column], drawingTop+b.wanted/b.times)
		free[b.column] = b.Y + boxHeight + boxGap
		s.out.Height = max(s.out.Height, free[b.column])
	}
	s.out.Width = len(s.out.Columns)*(boxWidth+columnGap) - columnGap
	drawn := map[[2]int]bool{}
	for _, l := range s.links {
		a, b := boxes[l[0]], boxes[l[1]]
		if drawn[l] {
			continue
		}
		drawn[l] = true
		x, y, to, down := a.X+boxWidth, a.Y+boxHeight/2, b.X, b.Y+boxHeight/2
		s.out.Curves = append(s.out.Curves, curve{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x, y, x+columnGap/2, y, to-columnGap/2, down, to, down), a.IsHole || b.IsHole})
	}
}
