package web

import (
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// chart is the scores of a stage, round by round.
type chart struct {
	Label  string
	Rounds []scores
	// Claimed and Audited are the lines of the drawing, as points of SVG; Gate is the height of the gate's
	// line, -1 for a stage without a score gate.
	Claimed, Audited string
	Gate             float64
	Width            int
}

// scores are the scores of one round; nil for a missing one.
type scores struct {
	Round            int
	Claimed, Audited *float64
}

// chartWidth is the width of a drawing, and chartEdge the space at the sides. One unit is the height of one
// point of a score.
const chartWidth, chartEdge = 240, 10

// chartsOf returns the charts of the stages with more than one round.
func chartsOf(s *workflow.Session) []chart {
	var out []chart
	for _, st := range s.Definition().Stages {
		c := chart{Label: st.Label, Gate: -1}
		if st.Gate == workflow.GateScore {
			c.Gate = 100 - st.GateScore
		}
		for _, e := range s.History {
			if e.Action != workflow.ActionSubmit || e.FromStage() != st.ID || e.Iteration == 0 || e.Score == nil {
				continue
			}
			c.Rounds = append(c.Rounds, scores{Round: e.Iteration, Claimed: e.Score, Audited: auditOf(s, e)})
		}
		if len(c.Rounds) > 1 {
			c.drawLines()
			out = append(out, c)
		}
	}
	return out
}

// drawLines spreads the rounds over the width.
func (c *chart) drawLines() {
	c.Width = chartWidth
	for i, r := range c.Rounds {
		x := chartEdge + i*(chartWidth-2*chartEdge)/(len(c.Rounds)-1)
		c.Claimed += svgPoint(x, r.Claimed)
		c.Audited += svgPoint(x, r.Audited)
	}
}

// auditOf returns the audited score of a submission. Sessions of older programs have it only for the latest
// submission of a stage.
func auditOf(s *workflow.Session, e workflow.Transition) *float64 {
	rec := s.Record(e.FromStage())
	if e.AuditScore != nil {
		return e.AuditScore
	}
	if rec.Audit != nil && rec.Iteration == e.Iteration {
		return &rec.Audit.Score
	}
	return nil
}

// svgPoint returns a score as a point of an SVG line; "" without a score.
func svgPoint(x int, score *float64) string {
	if score == nil {
		return ""
	}
	return itoa(x) + "," + strconv.FormatFloat(100-*score, 'f', 1, 64) + " "
}
