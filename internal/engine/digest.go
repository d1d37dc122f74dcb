package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// digestLines is how long the message at a gate is at most: a person gives a decision
	// seconds, and reads no second screen for it.
	digestLines = 15
	// chatColumns is how wide a line of the chat is there, lineColumns an item of a list in one
	// line, itemColumns one in two.
	chatColumns = 76
	lineColumns = chatColumns - 2
	itemColumns = 2*chatColumns - 10
	// formColumns is how wide each of the first lines of a form is at most: Claude Code 2.1
	// cuts them there in a terminal of 80 columns.
	formColumns = 74
	// goalColumns is how much of the objective reminds the person which work it is.
	goalColumns = 60
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

// render returns the digest in at most room lines of the given size, as far as its lists and spare lines give
// way: the ends of the lists first, then the spare lines, then the ends of the items, and
// last that of the first item, which is the worst.
func (d digest) render(room int, size func(string) int) string {
	ways := []digestWay{
		{most: 3, first: itemColumns, next: itemColumns, spare: true}, {most: 2, first: itemColumns, next: itemColumns},
		{most: 1, first: itemColumns, next: lineColumns}, {most: 1, first: lineColumns, next: lineColumns},
	}
	for _, way := range ways {
		least := way.most
		for way.most = 10; way.most >= least; way.most-- {
			if text := d.with(way); size(text) <= room {
				return text
			}
		}
	}
	return d.with(ways[len(ways)-1])
}

// digestWay is how much of a digest is shown: so many items of a list at most, the first
// and the next ones so wide at most, and the spare lines.
type digestWay struct {
	most, first, next int
	spare             bool
}

// lines returns how many lines a text has.
func lines(text string) int { return strings.Count(text, "\n") + 1 }

// rows returns how many lines of the chat a text takes, broken between words where it is
// wider than the chat.
func rows(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		used := 0
		for _, word := range strings.Fields(unmarked.Replace(line)) {
			width := visible.Columns(word)
			if used > 0 && used+1+width > chatColumns {
				n, used = n+1, 0
			} else if used > 0 {
				used++
			}
			used += width
			n, used = n+(used-1)/chatColumns, (used-1)%chatColumns+1 // a word without an end
		}
	}
	return n
}

// unmarked takes out the marks of Markdown, which a chat does not show.
var unmarked = strings.NewReplacer("**", "", "`", "")

// cut cuts a text as visible.Cut does, between words where the script has any.
func cut(text string, columns int, end string) string {
	short := visible.Cut(text, columns, end)
	if short == text {
		return text
	}
	short = strings.TrimSuffix(short, end)
	if at := strings.LastIndexByte(short, ' '); text[len(short)] != ' ' && at > len(short)*3/4 {
		short = short[:at]
	}
	return strings.TrimRight(short, " ,;:") + end
}

func (d digest) with(way digestWay) string {
	var b strings.Builder
	for _, line := range d.lines {
		if way.spare || !line.spare {
			b.WriteString("\n" + line.text)
		}
	}
	for _, list := range d.lists {
		b.WriteString("\n" + list.title)
		for i, item := range list.items {
			if i == way.most && len(list.items) > way.most+1 {
				fmt.Fprintf(&b, "\n- … and %d more", len(list.items)-i)
				break
			}
			columns, end := way.next, "…"
			if i == 0 {
				columns = way.first
			}
			if strings.HasSuffix(item, "”") {
				end = "…”"
			}
			b.WriteString("\n- " + cut(item, columns, end))
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
	return cut(text, formColumns, "…")
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
	theirs := func(text string) string { return cut("Assistant: "+said(text, 300), formColumns, "…”") }
	ours := func(text string) string { return cut(visible.Line(text), formColumns, "…") }
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
	open := worstFirst(workflow.OpenFindings(rec.Findings))
	if serious := len(open) > 0 && open[0].Severity == severities[0]; rec.Doubted() && !serious {
		return ours("Against it: " + rec.Objections[0])
	}
	switch failed := workflow.FailedCriteria(rec.Criteria); {
	case len(open) > 0:
		f := open[0]
		if visible.Columns(findingLine(f)) > formColumns-len("Assistant: “”") {
			f.File = "" // the report has the place, the line no room for it
		}
		return theirs(findingLine(f))
	case len(failed) > 0:
		return theirs(criterionLine(failed[0]))
	case len(rec.Objections) > 0:
		return ours(sentence(rec.Objections[0]))
	case evidenceFor(s).Failed():
		return ours(evidenceText(evidenceFor(s)))
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
		quoted[i] = said(option, len(option))
	}
	return strings.Join(quoted, " / ")
}

// goal is the objective in one line.
func goal(s *workflow.Session) string {
	return cut("Goal: "+plainMarks.Replace(visible.Line(s.Objective)), goalColumns, "…")
}
