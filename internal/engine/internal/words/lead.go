package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Lead names the pending decision and the reasons for it, verdict or scores, in one line. The gate is left out if
// the line has no room for it.
func Lead(s *standing.Standing) string {
	text := leadLine(s, scoreFigures(s, true))
	if visible.Columns(text) > formColumns {
		text = leadLine(s, scoreFigures(s, false))
	}
	return visible.Shorten(text, formColumns, "…")
}

func leadLine(s *standing.Standing, figures string) (text string) {
	st, rec := s.Stage, s.Session.Current()
	switch {
	case s.Session.CurrentState == workflow.Clarifying && len(rec.LaterQuestions()) > 0:
		text = s.Say("%s from the %s, and %d in the next round. %s", s.Count(len(rec.OpenQuestions()), "question"), s.Word(st.Role), len(rec.LaterQuestions()), capitalize(figures))
	case s.Session.CurrentState == workflow.Clarifying:
		text = s.Say("%s from the %s. %s", s.Count(len(rec.OpenQuestions()), "question"), s.Word(st.Role), capitalize(figures))
	case s.Draft.Edit != nil:
		text = s.Say("Approve with this change? %s", capitalize(figures))
	case s.Blocked():
		text = s.Say("The %s is blocked and needs something from you", s.Word(st.Role))
	case st.Gate == workflow.GateVerdict && rec.Spent():
		text = s.Say("The report of the %s is still incomplete", s.Word(st.Role))
	case rec.Doubted() && len(rec.Criteria) > 0:
		text = s.Say("%s: %s", s.Word(st.Role), verdict.CountRows(rec.Criteria).Short(s.Language))
	case rec.Doubted():
		text = s.Say("The %s states a pass, but %s against it", s.Word(st.Role), countObjections(s))
	case st.Gate == workflow.GateVerdict:
		text = s.Say("The %s failed the work%s", s.Word(st.Role), countFaults(s))
	case st.Kind == workflow.KindBuild: // the scope of a change
		text = s.Say("Approve the %s? %s", st.DocumentIn(s.Language), capitalize(auditFigure(s)))
	case st.Gate == workflow.GateApproval:
		text = s.Say("Approve the %s? %s", st.DocumentIn(s.Language), capitalize(joinParts(s.Language, planRange(s), auditFigure(s))))
	case s.Session.CurrentState == workflow.AwaitingApproval:
		text = s.Say("Accept it below the gate? %s, after %s", capitalize(figures), s.Count(s.RoundsBelow(), "round"))
	default:
		text = s.Say("Approve the %s? %s", st.DocumentIn(s.Language), capitalize(figures))
	}
	if n, judged := len(s.Session.Sprints), s.Session.OpenSprints(workflow.SprintImplemented); st.Gate == workflow.GateVerdict && n > 1 && len(judged) > 0 {
		text = s.Say("%s (%s of %d)", text, sprintList(s, judged), n)
	}
	return text
}

// planRange says which sprints a plan has.
func planRange(s *standing.Standing) string {
	all := s.Session.Sprints
	count := s.Count(len(all), "sprint")
	if len(all) < 2 {
		return count
	}
	return s.Say("%s, %s to %s", count, all[0].Name(), all[len(all)-1].Name())
}

// countObjections says how many things speak against a stated pass.
func countObjections(s *standing.Standing) string {
	n := len(s.Session.Current().Objections)
	if n == 1 {
		return s.Say("one thing speaks")
	}
	return s.Say("%s speak", s.Count(n, "thing"))
}

// scoreFigures returns the scores of the current document, with the score needed if gate is set.
func scoreFigures(s *standing.Standing, gate bool) string {
	rec, p := s.Session.Current(), s.Policy
	if rec.Score == nil || p.GateScore == nil {
		return auditFigure(s)
	}
	claim := s.Say("score %s", Points(*rec.Score))
	if rec.ClaimedScore == nil {
		claim = s.Say("no score stated")
	}
	scores := joinParts(s.Language, claim, auditFigure(s))
	if !gate {
		return scores
	}
	return s.Say("%s; %s needed", scores, Points(*p.GateScore))
}

func auditFigure(s *standing.Standing) string {
	a := s.Session.Current().Audit
	switch {
	case a == nil:
		return ""
	case s.BelowFloor():
		return s.Say("form %s, floor %s", Points(a.Score), Points(*s.Policy.AuditFloor))
	}
	return s.Say("form %s", Points(a.Score))
}

// joinParts joins the non-empty parts.
func joinParts(l lang.Language, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), l.Say(", "))
}

// capitalize begins a text with a capital.
func capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// severities are the severities of findings, the worst first.
var severities = []string{"critical", "major", "minor"}

// countFaults counts the faults of the work.
func countFaults(s *standing.Standing) string {
	rec := s.Session.Current()
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
			parts = append(parts, s.Say("%d %s", n, s.Word(severity)))
		}
	}
	if n := len(workflow.FailedCriteria(rec.Criteria)); n > 0 {
		parts = append(parts, s.Say("%d of %d criteria failed", n, len(rec.Criteria)))
	}
	if s.Evidence().Failed() {
		parts = append(parts, s.Say("verify failed"))
	}
	if len(parts) == 0 {
		return ""
	}
	return s.Say(": %s", joinParts(s.Language, parts...))
}

// Worst names in one line the gravest reason against going on, in its own words.
func Worst(s *standing.Standing) string {
	st, rec := s.Stage, s.Session.Current()
	theirs := func(text string) string {
		return visible.Shorten(s.Say("Assistant: %s", Quoted(text, 300)), formColumns, "…”")
	}
	ours := func(text string) string { return visible.Shorten(visible.Line(text), formColumns, "…") }
	switch {
	case s.Session.CurrentState == workflow.Clarifying:
		return s.Say("Leave open what you do not know. No passwords or keys belong here.")
	case s.Draft.Edit != nil:
		return visible.Shorten(Edit(s.Language, s.Draft.Edit), formColumns, "…”")
	case s.Blocked():
		return theirs(rec.Needs)
	case st.Gate == workflow.GateVerdict:
		return verdictWorst(s, theirs, ours)
	}
	if f, ok := costliestFinding(rec.Audit); ok {
		return ours(s.Say("Our check −%s: %s", Points(f.Points), f.Problem))
	}
	if len(rec.Gaps) > 0 {
		if gap := rec.Gaps[0]; slices.Contains(rec.FoundGaps, gap) {
			return ours(s.Say("Server: %s", gap))
		}
		return theirs(rec.Gaps[0])
	}
	return s.Say("No gap is stated, and our check found none.")
}

func verdictWorst(s *standing.Standing, theirs, ours func(string) string) string {
	rec := s.Session.Current()
	if rec.Spent() {
		return ours(capitalize(rec.Returned[0]))
	}
	open := worstFirst(workflow.OpenFindings(rec.Findings))
	if serious := len(open) > 0 && open[0].Severity == severities[0]; rec.Doubted() && !serious {
		return ours(s.Say("Against it: %s", rec.Objections[0]))
	}
	switch failed := workflow.FailedCriteria(rec.Criteria); {
	case len(open) > 0:
		f := open[0]
		if visible.Columns(Finding(f)) > formColumns-visible.Columns(s.Say("Assistant: %s", "“”")) {
			f.File = "" // the report has the place, the line no room for it
		}
		return theirs(Finding(f))
	case len(failed) > 0:
		return theirs(criterionLine(s.Language, failed[0]))
	case len(rec.Objections) > 0:
		return ours(capitalize(rec.Objections[0]))
	case s.Evidence().Failed():
		return ours(Evidence(s.Evidence()).In(s.Language))
	}
	return s.Say("The report lists no open finding.")
}

// worstFirst sorts findings by severity. An unknown word may stand for the worst.
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

func criterionLine(l lang.Language, c workflow.Criterion) string {
	said := strings.Trim(c.Criterion+" — "+verdict.Evidence(c), " —")
	switch {
	case c.Result == workflow.ResultNotTested && said == "":
		return l.Say("%s not tested", c.ID)
	case c.Result == workflow.ResultNotTested:
		return l.Say("%s not tested: %s", c.ID, said)
	case said == "":
		return l.Say("%s failed", c.ID)
	}
	return l.Say("%s failed: %s", c.ID, said)
}

// costliestFinding returns the finding with the greatest loss of score in an audit.
func costliestFinding(a *workflow.Audit) (worst workflow.AuditFinding, ok bool) {
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

// DraftLine names the document, for people, and the size if a form has room for it.
func DraftLine(l lang.Language, path string, bytes int64) string {
	line := l.Say("Draft: ") + path
	size := l.Say(" (%d bytes)", bytes)
	if bytes >= 1000 {
		size = l.Say(" (%.0f kB)", float64(bytes)/1000)
	}
	if visible.Columns(line+size) > formColumns {
		return line
	}
	return line + size
}

// Leaving returns the lead of a question about reopening or cancelling, and the reason to show
// beside it; words are the assistant's reason.
func Leaving(l lang.Language, label lang.Text, words string, assistant bool) (lead, reason string) {
	if !assistant {
		return l.Say("%s?", label), ""
	}
	lead, reason = l.Say("%s? The assistant asks for it", label), l.Say("It gives no reason.")
	if strings.TrimSpace(words) != "" {
		reason = visible.Shorten(l.Say("Assistant: %s", Quoted(words, 300)), formColumns, "…”")
	}
	return lead, reason
}
