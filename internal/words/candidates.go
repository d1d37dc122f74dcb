package words

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// engineNames are those that people know the engines by.
var engineNames = map[workflow.Engine]string{workflow.Claude: "Claude", workflow.Codex: "Codex"}

// candidates compares the drafts that several engines handed in: which one was taken, and why, and
// the place of the other; "" if one engine was asked.
func candidates(s *standing.Standing, rec *workflow.Record) string {
	at := slices.IndexFunc(rec.Candidates, func(c workflow.Candidate) bool { return c.Taken })
	if at < 0 {
		return ""
	}
	taken := rec.Candidates[at]
	notTaken := slices.IndexFunc(rec.Candidates, func(c workflow.Candidate) bool { return !c.Taken })
	if notTaken < 0 {
		return s.Say("Only %s handed in a draft, though two engines were asked.", engineNames[taken.Engine])
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
		claim = s.Say("claims %s", Points(*c.Score))
	}
	if c.Verdict != "" {
		return claim
	}
	return joinParts(s.Language, claim, s.Say("audit %s", Points(c.AuditScore)))
}

// HistoryCandidates returns the comparison of drafts as the history records it.
func HistoryCandidates(s *standing.Standing, rec *workflow.Record) string {
	return strings.ReplaceAll(candidates(s, rec), "`", "")
}
