package words

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Points returns a score without needless zeros, for example "87.5".
func Points(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// scoreLines says how the stage's document was scored: by the assistant, and by the server. Of several
// drafts it says which one was taken.
func scoreLines(s *standing.Standing) string {
	return strings.TrimPrefix(describeScore(s)+addLabel("\n", compareCandidates(s, s.Session.Current())), "\n")
}

func describeScore(s *standing.Standing) string {
	rec, p := s.Session.Current(), s.Policy
	if rec.Score == nil || p.GateScore == nil {
		return Audit(s.Language, rec.Audit)
	}
	var claim string
	needed := s.Say("%s needed", Points(*p.GateScore))
	switch {
	case rec.ClaimedScore == nil && rec.EstimatedScore == nil: // an older server kept one score of either kind
		claim = s.Say("Score %s of 100", Points(*rec.Score))
	case rec.ClaimedScore == nil && rec.ScoreNote != "":
		claim = s.Say("%s; our estimate is %s of 100", visible.Fit(visible.Line(rec.ScoreNote), 300), Points(*rec.Score))
		needed = s.Say("a stated %s needed", Points(*p.GateScore))
	case rec.ClaimedScore == nil:
		claim = s.Say("No score was stated; our estimate is %s of 100", Points(*rec.Score))
		needed = s.Say("a stated %s needed", Points(*p.GateScore))
	default:
		claim = s.Say("Score %s of 100 by the assistant", Points(*rec.Score))
		if rec.ScoreNote != "" {
			claim = s.Say("%s (%s)", claim, visible.Fit(visible.Line(rec.ScoreNote), 300))
		}
	}
	if rec.Audit == nil {
		return s.Say("%s; %s.", claim, needed)
	}
	if p.Scoring == workflow.ScoringAudited {
		needed = s.Say("%s of both", needed)
	}
	text := s.Say("%s, form %s by our check; %s.", claim, Points(rec.Audit.Score), needed)
	if s.BelowFloor() {
		text = s.Say("%s, **form %s by our check (floor %s)**; %s.", claim, Points(rec.Audit.Score), Points(*p.AuditFloor), needed)
	}
	if rec.Audit.Summary != "" {
		text += "\n" + s.Say("Our check found: %s.", visible.Line(rec.Audit.Summary))
	}
	return text
}

// Audit reports the findings of an audit if no score has to reach a gate.
func Audit(l lang.Language, a *workflow.Audit) string {
	switch {
	case a == nil:
		return ""
	case a.Summary == "":
		return l.Say("Form %s of 100 by our check.", Points(a.Score))
	}
	return l.Say("Form %s of 100 by our check: %s.", Points(a.Score), visible.Line(a.Summary))
}

var engineNames = map[workflow.Engine]string{workflow.Claude: "Claude", workflow.Codex: "Codex"}

// compareCandidates compares the drafts of several engines: the chosen one and the reason, and the place of the
// other; "" if one engine was asked.
func compareCandidates(s *standing.Standing, rec *workflow.Record) string {
	at := slices.IndexFunc(rec.Candidates, func(c workflow.Candidate) bool { return c.Taken })
	if at < 0 {
		return ""
	}
	taken := rec.Candidates[at]
	notTaken := slices.IndexFunc(rec.Candidates, func(c workflow.Candidate) bool { return !c.Taken })
	if notTaken < 0 {
		return s.Say("Only %s handed in a draft, though two workers were asked.", engineNames[taken.Engine])
	}
	other := rec.Candidates[notTaken]
	return s.Say("Taken: the draft of %s (%s), because %s. Not taken: that of %s (%s), `%s`.",
		engineNames[taken.Engine], candidateFigures(s, taken), taken.Because, engineNames[other.Engine], candidateFigures(s, other), other.Path)
}

func candidateFigures(s *standing.Standing, c workflow.Candidate) string {
	var claim string
	switch {
	case c.Verdict != "":
		claim = string(c.Verdict)
	case c.Score != nil && c.Estimated:
		claim = s.Say("estimate %s", Points(*c.Score))
	case c.Score != nil:
		claim = s.Say("score %s", Points(*c.Score))
	}
	if c.Verdict != "" {
		return claim
	}
	return joinParts(s.Language, claim, s.Say("form %s", Points(c.AuditScore)))
}

// HistoryCandidates returns the comparison of drafts as the history records it.
func HistoryCandidates(s *standing.Standing, rec *workflow.Record) string {
	return strings.ReplaceAll(compareCandidates(s, rec), "`", "")
}
