package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Lead says in one line what is decided, and what speaks for it: verdict or scores.
func Lead(s *standing.Standing) string {
	st, rec := s.Stage, s.Current()
	text := ""
	switch {
	case s.CurrentState == workflow.Clarifying:
		text = fmt.Sprintf("%s from the %s. %s", Count(len(rec.Questions), "question"), st.Role, sentence(figures(s)))
	case s.Blocked():
		text = fmt.Sprintf("The %s is blocked and needs something from you", st.Role)
	case rec.Doubted():
		text = fmt.Sprintf("The %s states a pass, but %s against it", st.Role, speaks(rec))
	case st.Gate == workflow.GateVerdict:
		text = fmt.Sprintf("The %s failed the work%s", st.Role, tally(s))
	case st.Gate == workflow.GateApproval:
		text = fmt.Sprintf("Approve the %s? %s", st.DocumentName, sentence(joined(Count(len(s.Sprints), "sprint"), auditFigure(rec))))
	case s.CurrentState == workflow.AwaitingApproval:
		text = fmt.Sprintf("Accept it below the gate? %s, after %s", sentence(figures(s)), Count(s.RoundsBelow(), "round"))
	default:
		text = fmt.Sprintf("Confirm the %s? %s", st.DocumentName, sentence(figures(s)))
	}
	return Cut(text, formColumns, "…")
}

// speaks says how many things speak against a stated pass.
func speaks(rec *workflow.Record) string {
	if len(rec.Objections) == 1 {
		return "one thing speaks"
	}
	return Count(len(rec.Objections), "thing") + " speak"
}

// figures are the scores of the current document beside its gate.
func figures(s *standing.Standing) string {
	rec, p := s.Current(), s.Policy
	if rec.Score == nil || p.GateScore == nil {
		return auditFigure(rec)
	}
	claim := "claims " + Points(*rec.Score)
	if rec.ClaimedScore == nil {
		claim = "no score claimed"
	}
	return joined(claim, auditFigure(rec)) + "; the gate is " + Points(*p.GateScore)
}

func auditFigure(rec *workflow.Record) string {
	if rec.Audit == nil {
		return ""
	}
	return "audit " + Points(rec.Audit.Score)
}

// joined joins the parts that say something.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// sentence begins a text with a capital.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// severities are those of findings, the worst first.
var severities = []string{"critical", "major", "minor"}

// tally counts what speaks against the work.
func tally(s *standing.Standing) string {
	rec := s.Current()
	open := workflow.OpenFindings(rec.Findings)
	var parts []string
	for _, severity := range severities {
		n := 0
		for _, f := range open {
			if f.Severity == severity {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, severity))
		}
	}
	if n := len(workflow.FailedCriteria(rec.Criteria)); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d criteria failed", n, len(rec.Criteria)))
	}
	if s.Evidence().Failed() {
		parts = append(parts, "verify failed")
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + joined(parts...)
}

// Worst says in one line what speaks most against going on, in its own words.
func Worst(s *standing.Standing) string {
	st, rec := s.Stage, s.Current()
	theirs := func(text string) string { return Cut("Assistant: "+Quoted(text, 300), formColumns, "…”") }
	ours := func(text string) string { return Cut(visible.Line(text), formColumns, "…") }
	switch {
	case s.CurrentState == workflow.Clarifying:
		return "Leave open what you do not know. No passwords or keys belong here."
	case s.Blocked():
		return theirs(rec.Needs)
	case st.Gate == workflow.GateVerdict:
		return verdictWorst(s, theirs, ours)
	}
	if f, ok := costliest(rec.Audit); ok {
		return ours(fmt.Sprintf("Audit −%s: %s", Points(f.Points), f.Problem))
	}
	if len(rec.Gaps) > 0 {
		return theirs(rec.Gaps[0])
	}
	return "No gap is stated, and the audit found none."
}

func verdictWorst(s *standing.Standing, theirs, ours func(string) string) string {
	rec := s.Current()
	open := worstFirst(workflow.OpenFindings(rec.Findings))
	if serious := len(open) > 0 && open[0].Severity == severities[0]; rec.Doubted() && !serious {
		return ours("Against it: " + rec.Objections[0])
	}
	switch failed := workflow.FailedCriteria(rec.Criteria); {
	case len(open) > 0:
		f := open[0]
		if visible.Columns(Finding(f)) > formColumns-len("Assistant: “”") {
			f.File = "" // the report has the place, the line no room for it
		}
		return theirs(Finding(f))
	case len(failed) > 0:
		return theirs(criterionLine(failed[0]))
	case len(rec.Objections) > 0:
		return ours(sentence(rec.Objections[0]))
	case s.Evidence().Failed():
		return ours(Evidence(s.Evidence()))
	}
	return "The report lists no open finding."
}

// worstFirst sorts findings by severity. A word that is not known may stand for the worst.
func worstFirst(findings []workflow.Finding) []workflow.Finding {
	rank := func(f workflow.Finding) int {
		switch at := slices.Index(severities, f.Severity); {
		case f.Severity == "":
			return len(severities)
		case at < 0:
			return 0
		default:
			return at
		}
	}
	slices.SortStableFunc(findings, func(a, b workflow.Finding) int { return rank(a) - rank(b) })
	return findings
}

func criterionLine(c workflow.Criterion) string {
	return strings.TrimSuffix(fmt.Sprintf("%s failed: %s", c.ID, c.Criterion), ": ")
}

// costliest returns the finding that takes the most from an audit's score.
func costliest(a *workflow.Audit) (worst workflow.AuditFinding, ok bool) {
	if a == nil {
		return worst, false
	}
	for _, f := range a.Findings {
		if f.Points > worst.Points {
			worst, ok = f, true
		}
	}
	return worst, ok
}

// optionList offers answers: “one” / “two”.
func optionList(options []string) string {
	quoted := make([]string, len(options))
	for i, option := range options {
		quoted[i] = Quoted(option, len(option))
	}
	return strings.Join(quoted, " / ")
}

// goal is the objective in one line.
func goal(s *standing.Standing) string {
	return Cut("Goal: "+plainMarks.Replace(visible.Line(s.Objective)), goalColumns, "…")
}

// DraftLine names the document, for people, with its size where a form has room for it.
func DraftLine(path string, bytes int64) string {
	line := "Draft: " + path
	size := fmt.Sprintf(" (%d bytes)", bytes)
	if bytes >= 1000 {
		size = fmt.Sprintf(" (%.0f kB)", float64(bytes)/1000)
	}
	if visible.Columns(line+size) > formColumns {
		return line
	}
	return line + size
}

// Leaving is the lead of a question about reopening or cancelling, and the reason to show
// beside it; words are what the assistant gives as its reason.
func Leaving(label, words string, assistant bool) (lead, reason string) {
	switch {
	case !assistant:
		return label + "?", ""
	case strings.TrimSpace(words) == "":
		return label + "? The assistant asks for it", "It gives no reason."
	}
	return label + "? The assistant asks for it", Cut("Assistant: "+Quoted(words, 300), formColumns, "…”")
}

// ItsWords are the words of the assistant, ahead of the facts.
func ItsWords(words string) string { return "Its words: " + Quoted(words, 1000) + "\n" }
