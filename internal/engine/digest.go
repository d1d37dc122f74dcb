package engine

import (
	"fmt"
	"slices"
	"strings"

	"bmad-mcp/internal/visible"
	"bmad-mcp/internal/workflow"
)

const (
	// digestLines is how long the message at a gate is at most: a person gives a decision
	// seconds, and reads no second screen for it.
	digestLines = 15
	// formColumns is how wide each of the first lines of a form is at most. Claude Code
	// 2.1 indents them by two columns and cuts them at the width of the terminal.
	formColumns = 76
	// goalColumns is how much of the objective reminds the person which work it is.
	goalColumns = 56
)

// digest is what a person needs for a decision, before they read the document itself.
type digest struct {
	lines []digestLine
	lists []digestList
}

type digestLine struct {
	text string
	// spare lines give way to the lists where room is short.
	spare bool
}

type digestList struct {
	title string
	items []string
}

// add adds a line that must be there, spare one that need not; neither adds an empty one.
func (d *digest) add(text string) { d.put(text, false) }

func (d *digest) spare(text string) { d.put(text, true) }

func (d *digest) put(text string, spare bool) {
	if text != "" {
		d.lines = append(d.lines, digestLine{text, spare})
	}
}

// list adds what the server says line by line.
func (d *digest) list(title string, items []string) {
	if len(items) > 0 {
		d.lists = append(d.lists, digestList{title, items})
	}
}

// quote adds what the assistant has written line by line.
func (d *digest) quote(title string, items []string) {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = said(item, 300)
	}
	d.list(title, quoted)
}

// render returns the digest in at most room lines, as far as its lists and spare lines give way.
func (d digest) render(room int) string {
	for most := 10; most > 2; most-- {
		if text := d.with(most, true); strings.Count(text, "\n") < room {
			return text
		}
	}
	for most := 10; most > 1; most-- {
		if text := d.with(most, false); strings.Count(text, "\n") < room {
			return text
		}
	}
	return d.with(1, false)
}

func (d digest) with(most int, spare bool) string {
	var b strings.Builder
	for _, line := range d.lines {
		if spare || !line.spare {
			b.WriteString("\n" + line.text)
		}
	}
	for _, list := range d.lists {
		b.WriteString("\n" + list.title)
		for i, item := range list.items {
			if i == most && len(list.items) > most+1 {
				fmt.Fprintf(&b, "\n- … and %d more", len(list.items)-i)
				break
			}
			b.WriteString("\n- " + item)
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// said sets what the assistant has written off from what the server says: in quotation
// marks, in one line, without what steers a terminal or looks like emphasis.
func said(text string, limit int) string {
	return "“" + clip(plainMarks.Replace(visible.Line(text)), limit) + "”"
}

// plainMarks takes out what would let quoted words look like the server's own, and end the quotation.
var plainMarks = strings.NewReplacer("**", "", "__", "", "“", "'", "”", "'", "`", "'", "<", "‹", ">", "›", "](", "] (")

// plain are sentences of the server that quote the assistant's words: in one line each,
// without emphasis.
func plain(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = clip(strings.NewReplacer("**", "", "__", "", "<", "‹", ">", "›").Replace(visible.Line(text)), 300)
	}
	return out
}

// lead says in one line what is decided, and what speaks for it: verdict or scores.
func (r run) lead(s *workflow.Session) string {
	st, rec := r.stage(s), s.Current()
	text := ""
	switch {
	case s.CurrentState == workflow.Clarifying:
		text = fmt.Sprintf("%s from the %s. %s", count(len(rec.Questions), "question"), st.Role, sentence(r.figures(s)))
	case r.blocked(s):
		text = fmt.Sprintf("The %s is blocked and needs something from you", st.Role)
	case rec.Doubted():
		text = fmt.Sprintf("The %s states a pass, but %s against it", st.Role, speaks(rec))
	case st.Gate == workflow.GateVerdict:
		text = fmt.Sprintf("The %s failed the work%s", st.Role, tally(s))
	case st.Gate == workflow.GateApproval:
		text = fmt.Sprintf("Approve the %s? %s", st.DocumentName, sentence(joined(count(len(s.Sprints), "sprint"), auditFigure(rec))))
	case s.CurrentState == workflow.AwaitingApproval:
		text = fmt.Sprintf("Accept it below the gate? %s, after %s", sentence(r.figures(s)), count(roundsBelow(s), "round"))
	default:
		text = fmt.Sprintf("Confirm the %s? %s", st.DocumentName, sentence(r.figures(s)))
	}
	return visible.Cut(text, formColumns, "…")
}

// speaks says how many things speak against a stated pass.
func speaks(rec *workflow.Record) string {
	if len(rec.Objections) == 1 {
		return "one thing speaks"
	}
	return count(len(rec.Objections), "thing") + " speak"
}

// figures are the scores of the current document beside its gate.
func (r run) figures(s *workflow.Session) string {
	rec, p := s.Current(), r.policy(s)
	if rec.Score == nil || p.GateScore == nil {
		return auditFigure(rec)
	}
	claim := "claims " + points(*rec.Score)
	if rec.ClaimedScore == nil {
		claim = "no score claimed"
	}
	return joined(claim, auditFigure(rec)) + "; the gate is " + points(*p.GateScore)
}

func auditFigure(rec *workflow.Record) string {
	if rec.Audit == nil {
		return ""
	}
	return "audit " + points(rec.Audit.Score)
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
func tally(s *workflow.Session) string {
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
	if evidenceFor(s).Failed() {
		parts = append(parts, "verify failed")
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + joined(parts...)
}

// worst says in one line what speaks most against going on, in its own words.
func (r run) worst(s *workflow.Session) string {
	st, rec := r.stage(s), s.Current()
	theirs := func(text string) string { return visible.Cut("Assistant: "+said(text, 300), formColumns, "…”") }
	ours := func(text string) string { return visible.Cut(visible.Line(text), formColumns, "…") }
	switch {
	case s.CurrentState == workflow.Clarifying:
		return "Leave open what you do not know. No passwords or keys belong here."
	case r.blocked(s):
		return theirs(rec.Needs)
	case st.Gate == workflow.GateVerdict:
		return verdictWorst(s, theirs, ours)
	}
	if f, ok := costliest(rec.Audit); ok {
		return ours(fmt.Sprintf("Audit −%s: %s", points(f.Points), f.Problem))
	}
	if len(rec.Gaps) > 0 {
		return theirs(rec.Gaps[0])
	}
	return "No gap is stated, and the audit found none."
}

func verdictWorst(s *workflow.Session, theirs, ours func(string) string) string {
	rec := s.Current()
	if rec.Doubted() {
		return ours("Against it: " + rec.Objections[0])
	}
	open := workflow.OpenFindings(rec.Findings)
	for _, severity := range severities {
		for _, f := range open {
			if f.Severity == severity {
				return theirs(findingLine(f))
			}
		}
	}
	switch failed := workflow.FailedCriteria(rec.Criteria); {
	case len(open) > 0:
		return theirs(findingLine(open[0]))
	case len(failed) > 0:
		return theirs(criterionLine(failed[0]))
	case len(rec.Objections) > 0:
		return ours(sentence(rec.Objections[0]))
	case evidenceFor(s).Failed():
		return ours(evidenceText(evidenceFor(s)))
	}
	return "The report lists no open finding."
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
		quoted[i] = said(option, len(option))
	}
	return strings.Join(quoted, " / ")
}

// goal is the objective in one line.
func goal(s *workflow.Session) string {
	return "Goal: " + visible.Cut(plainMarks.Replace(visible.Line(s.Objective)), goalColumns, "…")
}
