package words

import (
	"fmt"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Points writes a score as people do.
func Points(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// standing says how the stage's document was scored: by the assistant, and by the server.
func scores(s *standing.Standing) string {
	rec, p := s.Current(), s.Policy
	if rec.Score == nil || p.GateScore == nil {
		return Audit(rec.Audit)
	}
	var claim string
	gate := "the gate is " + Points(*p.GateScore)
	switch {
	case rec.ClaimedScore == nil && rec.EstimatedScore == nil: // an older server kept one score of either kind
		claim = fmt.Sprintf("Score %s of 100", Points(*rec.Score))
	case rec.ClaimedScore == nil && rec.ScoreNote != "":
		claim = fmt.Sprintf("%s; our estimate is %s of 100", Clip(visible.Line(rec.ScoreNote), 300), Points(*rec.Score))
		gate = "the gate asks for a stated " + Points(*p.GateScore)
	case rec.ClaimedScore == nil:
		claim = fmt.Sprintf("No score was stated; our estimate is %s of 100", Points(*rec.Score))
		gate = "the gate asks for a stated " + Points(*p.GateScore)
	default:
		claim = fmt.Sprintf("Score: claims %s of 100", Points(*rec.Score))
		if rec.ScoreNote != "" {
			claim += " (" + Clip(visible.Line(rec.ScoreNote), 300) + ")"
		}
	}
	if rec.Audit == nil {
		return claim + "; " + gate + "."
	}
	audit := ", audit " + Points(rec.Audit.Score)
	if p.Scoring == workflow.ScoringAudited {
		gate += " for both"
	}
	if rec.Audit.Summary != "" {
		return claim + audit + "; " + gate + ".\nThe audit found: " + rec.Audit.Summary + "."
	}
	return claim + audit + "; " + gate + "."
}

// Audit reports the findings of an audit where no score has to reach a gate.
func Audit(a *workflow.Audit) string {
	if a == nil {
		return ""
	}
	text := fmt.Sprintf("Audit %s of 100", Points(a.Score))
	if a.Summary != "" {
		text += ": " + a.Summary
	}
	return text + "."
}
