// Package report tells the story of a run to people who were not there: stages, rounds, decisions, findings,
// evidence and accepted risks, as Markdown for a pull request or as one HTML file.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
)

// maxCell bounds the text in a cell of a table, in bytes.
const maxCell = 600

// page builds a report.
type page struct {
	strings.Builder
	lang.Language
	s     *workflow.Session
	w     *workflow.Definition
	found workflow.Verification
	since []string
	trace trace.Trace
	// mark begins the heading of a section.
	mark string
}

// Facts are the content of a report.
type Facts struct {
	Session *workflow.Session
	// Found is the result of the check of the history.
	Found workflow.Verification
	// Since has the sentences about documents and code that have changed since they were approved.
	Since []string
	Trace trace.Trace
	Code  codediff.Changes
}

// Markdown returns the report on a session.
func Markdown(f Facts, l lang.Language) string {
	return unmentioned.Replace("# " + l.Say("Run: %s", safeCell(f.Session.TaskName)) + "\n\n" + reportBody(f, l, "##"))
}

// unmentioned keeps GitHub from notifying people named in a report, and from closing issues. GitHub looks for
// names after it has resolved the escapes of Markdown.
var unmentioned = strings.NewReplacer("@", "@&#8203;", `\#`, `\#&#8203;`, "GH-", "GH&#8203;-", "gh-", "gh&#8203;-")

// reportBody returns the report without the title.
func reportBody(f Facts, l lang.Language, mark string) string {
	p := &page{Language: l, s: f.Session, w: f.Session.Definition(), found: f.Found.In(l), since: f.Since, trace: f.Trace, mark: mark}
	p.writeFacts()
	p.writeStages()
	p.writeRounds()
	p.writeDecisions()
	p.writeRisks()
	p.writeFindings()
	p.writeRequests()
	p.writeTrace()
	p.writeEvidence()
	p.writeCode(f.Code)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// safeCell makes a foreign text safe in a line of Markdown, and hidden characters visible.
func safeCell(text string) string { return markdown.Escape(text, maxCell) }

// begins matches the start of a line that would become an item of a list, or a rule.
var begins = pattern.New(`^([0-9]*)([-+.)])`)

// writeTable writes a section with a table, if there are rows.
func (p *page) writeTable(title string, header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(&p.Builder, "%s %s\n\n| %s |\n|%s\n", p.mark, title, strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for _, row := range rows {
		fmt.Fprintf(&p.Builder, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(&p.Builder)
}

func formatTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04") }

func formatScore(n *float64) string {
	if n == nil {
		return "–"
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func formatCount(n *int) string {
	if n == nil {
		return "–"
	}
	return strconv.Itoa(*n)
}

func (p *page) writeFacts() {
	s := p.s
	fmt.Fprintf(&p.Builder, "%s\n\n", begins.ReplaceAllString(safeCell(s.Objective), `$1\$2`))
	fmt.Fprintf(&p.Builder, "- %s\n", p.Say("Workflow: %s", safeCell(p.w.Name)))
	fmt.Fprintf(&p.Builder, "- %s\n", p.Say("State: %s", safeCell(s.Place())))
	fmt.Fprintf(&p.Builder, "- %s\n", p.Say("Started %s, last changed %s (UTC)", formatTime(s.CreatedAt), formatTime(s.UpdatedAt)))
	if s.ReworkCount > 0 {
		fmt.Fprintf(&p.Builder, "- %s\n", p.Say("Sent back for rework: %s", p.Count(s.ReworkCount, "time")))
	}
	said := p.Say("History: signed, and as it was written")
	switch p.found.Status {
	case workflow.ChainHolds:
	case workflow.ChainAdopted:
		said = p.Say("History: changed by other hands, and accepted by a person as it is")
	case workflow.ChainPartly:
		said = p.Say("History: nothing shows a change, but %s", safeCell(p.found.Problem))
	default:
		said = p.Say("History: **it does not hold**: %s", safeCell(p.found.Problem))
	}
	fmt.Fprintf(&p.Builder, "- %s\n", said)
	for _, t := range p.found.Altered {
		fmt.Fprintf(&p.Builder, "- %s\n", p.Say("**Not as approved**: %s", safeCell(t.Text().In(p.Language))))
	}
	for _, said := range p.since {
		fmt.Fprintf(&p.Builder, "- %s\n", safeCell(said))
	}
	fmt.Fprintln(&p.Builder)
}

// plainWords returns an id from a session file, for example scored_ready, as words.
func (p *page) plainWords(id string) string {
	return safeCell(strings.ReplaceAll(p.Word(id), "_", " "))
}

// stageLabel returns the label of a stage, or the id if the workflow does not have the stage.
func (p *page) stageLabel(id workflow.StageID) string {
	if st, ok := p.w.Stage(id); ok {
		return safeCell(st.Label)
	}
	return safeCell(string(id))
}

func (p *page) writeStages() {
	var rows [][]string
	for _, st := range p.w.Stages {
		rec := p.s.Record(st.ID)
		document := "–"
		if a := rec.Artifact; a != nil {
			if document = safeCell(a.Path); a.Stale {
				document += p.Say(" (out of date)")
			}
		}
		var audited *float64
		if rec.Audit != nil {
			audited = &rec.Audit.Score
		}
		rows = append(rows, []string{safeCell(p.Word(st.Role)), p.plainWords(string(rec.Status)),
			strconv.Itoa(rec.Iteration), formatScore(rec.ClaimedScore), formatScore(audited),
			cmp.Or(p.plainWords(string(rec.Verdict)), "–"), document})
	}
	p.writeTable(p.Say("Stages"), []string{p.Say("Stage"), p.Say("Status"), p.Say("Rounds"), p.Say("Score"), p.Say("Form"), p.Say("Verdict"), p.Say("Document")}, rows)
}

func (p *page) writeRounds() {
	var rows [][]string
	for _, e := range p.s.History {
		if e.Action == workflow.ActionSubmit && e.Iteration > 0 && e.Event != workflow.EventChangesRequested {
			rows = append(rows, []string{formatTime(e.At), p.stageLabel(e.FromStage()), strconv.Itoa(e.Iteration),
				formatScore(e.Score), formatScore(e.AuditScore), formatCount(e.FindingsOpen), formatCount(e.ExitCode),
				p.plainWords(string(e.Event))})
		}
	}
	p.writeTable(p.Say("Rounds"), []string{p.Say("When"), p.Say("Stage"), p.Say("Round"), p.Say("Score"),
		p.Say("Form"), p.Say("Open findings"), p.Say("Exit code"), p.Say("Outcome")}, rows)
}

// grantSteps returns the steps of the history with a decision for which test is true.
func (p *page) grantSteps(test func(*workflow.Grant) bool) []workflow.Step {
	return slices.DeleteFunc(p.s.Steps(p.found), func(e workflow.Step) bool { return e.Grant == nil || !test(e.Grant) })
}

func (p *page) writeDecisions() {
	var rows [][]string
	for _, e := range p.grantSteps(func(*workflow.Grant) bool { return true }) {
		by := fmt.Sprintf("%s (%s)", safeCell(string(e.Grant.Channel)), safeCell(string(e.Grant.Assurance)))
		if who := e.Grant.Who(); who != "" {
			by = p.Say("%s: %s", safeCell(who), by)
		}
		if e.Unvouched {
			by = p.Say("unconfirmed, the file says: %s", safeCell(string(e.Grant.Channel)))
		}
		said := safeCell(e.Grant.Feedback)
		if n := len(e.Grant.Comments); n > 0 {
			said = strings.TrimSpace(said + " " + p.Say("(with %s)", p.Count(n, "comment")))
		}
		rows = append(rows, []string{formatTime(e.At), p.stageLabel(cmp.Or(e.FromStage(), e.Grant.Stage)), p.plainWords(string(e.Grant.Decision)), by, said})
	}
	p.writeTable(p.Say("Decisions"), []string{p.Say("When"), p.Say("Stage"), p.Say("Decision"), p.Say("By"), p.Say("Their words")}, rows)
}

// writeRisks lists the rounds which failed at the gate, and were accepted by a person.
func (p *page) writeRisks() {
	var rows [][]string
	for _, e := range p.grantSteps(func(g *workflow.Grant) bool { return g.Decision == workflow.DecisionOverride }) {
		result := cmp.Or(p.plainWords(string(e.Verdict)), formatScore(e.Score))
		rows = append(rows, []string{formatTime(e.At), p.stageLabel(e.FromStage()), result, safeCell(e.Grant.Feedback)})
	}
	p.writeTable(p.Say("Accepted risks"), []string{p.Say("When"), p.Say("Stage"), p.Say("Result"), p.Say("Reason")}, rows)
}

// writeFindings lists the findings of reports, and how each was closed.
func (p *page) writeFindings() {
	fixes := map[string]string{}
	for _, st := range p.w.Stages {
		if st.Kind == workflow.KindBuild {
			for _, d := range p.s.Record(st.ID).Resolved {
				fixes[d.ID] = d.How
			}
		}
	}
	var rows [][]string
	for _, st := range p.w.Stages {
		for _, f := range p.s.Record(st.ID).Findings {
			status := f.Status
			if f.Open() {
				status = "open"
			}
			rows = append(rows, []string{
				safeCell(f.ID), safeCell(st.Label), cmp.Or(safeCell(f.Severity), "–"), safeCell(f.Problem),
				safeCell(status), cmp.Or(safeCell(fixes[f.ID]), "–"),
			})
		}
	}
	p.writeTable(p.Say("Findings"), []string{p.Say("Id"), p.Say("Stage"), p.Say("Severity"), p.Say("Problem"), p.Say("Status"), p.Say("How it was closed")}, rows)
}

// writeRequests lists the comments of people on drafts, with the author's answer to each.
func (p *page) writeRequests() {
	var rows [][]string
	for _, st := range p.w.Stages {
		for _, c := range p.s.Record(st.ID).ChangeRequests {
			said := safeCell(c.Text)
			if c.Replace != "" {
				said = strings.TrimSpace(said + " → " + safeCell(c.Replace))
			}
			rows = append(rows, []string{safeCell(c.ID), safeCell(string(cmp.Or(c.Stage, st.ID))), cmp.Or(c.Lines(), "–"),
				safeCell(string(c.Kind)), cmp.Or(said, "–"), safeCell(string(c.Status)), cmp.Or(safeCell(c.Note), "–")})
		}
	}
	p.writeTable(p.Say("Change requests"), []string{p.Say("Id"), p.Say("Stage"), p.Say("Lines"), p.Say("Kind"),
		p.Say("Their words"), p.Say("Status"), p.Say("What its author says")}, rows)
}

// writeEvidence lists the results of the verify commands.
func (p *page) writeEvidence() {
	var rows [][]string
	for _, st := range p.w.Stages {
		e := p.s.Record(st.ID).Evidence
		if e == nil {
			continue
		}
		rows = append(rows, []string{safeCell(string(st.ID)), safeCell(e.Command), safeCell(story.Evidence(p.Language, e))})
	}
	p.writeTable(p.Say("Evidence"), []string{p.Say("Stage"), p.Say("Command"), p.Say("Result")}, rows)
}

// maxTraced bounds the lines of the trace in a report.
const maxTraced = 1000

// writeTrace follows the requirements to the evidence, with the holes in bold.
func (p *page) writeTrace() {
	lines := p.trace.Lines()
	var rows [][]string
	for _, line := range lines[:min(len(lines), maxTraced)] {
		var row []string
		for _, c := range p.trace.Cells(p.Language, line) {
			text := safeCell(c.Text)
			if c.IsHole {
				text = "**" + text + "**"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	p.writeTable(p.Say("Traceability"), trace.ColumnNames(p.Language), rows)
	if len(rows) == 0 {
		return
	}
	if left := len(lines) - len(rows); left > 0 {
		fmt.Fprintf(&p.Builder, "- %s\n", p.Say("%s are left out here; report --trace has them.", p.Count(left, "line")))
	}
	for _, said := range p.trace.Sentences(p.Language) {
		fmt.Fprintf(&p.Builder, "- %s\n", safeCell(said))
	}
	for _, u := range p.trace.Unknown {
		fmt.Fprintf(&p.Builder, "- %s\n", u.Text(p.Language))
	}
	fmt.Fprintln(&p.Builder)
}
