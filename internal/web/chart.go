package web

import (
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// chart is the scores of a stage over its rounds.
type chart struct {
	Label  string
	Rounds []scores
	// Claimed and Audited are the lines of the drawing, as points of SVG; Gate is the height of
	// the gate's line, -1 without one.
	Claimed, Audited string
	Gate             float64
	Width            int
}

// scores are those of one round; nil if the round has none.
type scores struct {
	Round            int
	Claimed, Audited *float64
}

// chartWidth is the width of a drawing, and chartEdge the space at its sides, in its own units: a
// point of a score is one high.
const chartWidth, chartEdge = 240, 10

// charts returns the charts of the stages that took more than one round.
func charts(s *workflow.Session) []chart {
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
			c.draw()
			out = append(out, c)
		}
	}
	return out
}

// draw lays the rounds out over the width.
func (c *chart) draw() {
	c.Width = chartWidth
	for i, r := range c.Rounds {
		x := chartEdge + i*(chartWidth-2*chartEdge)/(len(c.Rounds)-1)
		c.Claimed += point(x, r.Claimed)
		c.Audited += point(x, r.Audited)
	}
}

// auditOf returns the audited score of a submission. Only that of the latest one of a stage is known
// of sessions that an older program wrote.
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

// point returns a corner of a line of a drawing; "" if there is no score.
func point(x int, score *float64) string {
	if score == nil {
		return ""
	}
	return itoa(x) + "," + strconv.FormatFloat(100-*score, 'f', 1, 64) + " "
}
