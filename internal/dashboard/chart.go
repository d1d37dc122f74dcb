package dashboard

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

// scores are those of one round; nil where the round has none.
type scores struct {
	Round            int
	Claimed, Audited *float64
	X                int
}

// chartStep is the distance between two rounds of a drawing, in its own units.
const chartStep = 40

func itoa(n int) string { return strconv.Itoa(n) }

// charts are those of the stages that took more than one round.
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
			r := scores{Round: e.Iteration, Claimed: e.Score, Audited: auditOf(s, e), X: 10 + chartStep*len(c.Rounds)}
			c.Claimed += point(r.X, r.Claimed)
			c.Audited += point(r.X, r.Audited)
			c.Rounds = append(c.Rounds, r)
		}
		if c.Width = 20 + chartStep*(len(c.Rounds)-1); len(c.Rounds) > 1 {
			out = append(out, c)
		}
	}
	return out
}

// auditOf is the audited score of a submission. Only that of the latest one of a stage is known
// of sessions that an older program wrote.
func auditOf(s *workflow.Session, e workflow.Transition) *float64 {
	rec := s.Record(e.FromStage())
	if rec.Audit != nil && rec.Iteration == e.Iteration {
		return &rec.Audit.Score
	}
	return nil
}

// point is a corner of a line of a drawing; "" where there is no score.
func point(x int, score *float64) string {
	if score == nil {
		return ""
	}
	return itoa(x) + "," + strconv.FormatFloat(100-*score, 'f', 1, 64) + " "
}
