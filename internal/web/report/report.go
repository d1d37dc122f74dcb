// Package report tells the story of a run to people who were not there: its stages, rounds,
// decisions, findings, evidence and accepted risks, as Markdown for a pull request and as one HTML
// file that loads nothing.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxCell bounds the text that a cell of a table shows, in bytes.
const maxCell = 600

// page is a report while it is written.
type page struct {
	strings.Builder
	lang.Language
	s     *workflow.Session
	w     *workflow.Definition
	found workflow.Verification
	// mark begins the heading of a section.
	mark string
}

// Markdown returns the report on a session. found is the result of checking its history.
func Markdown(s *workflow.Session, found workflow.Verification, l lang.Language) string {
	return unmentioned.Replace("# " + l.Say("Run: %s", cell(s.TaskName)) + "\n\n" + body(s, found, l, "##"))
}

// unmentioned keeps GitHub, which reads the text after Markdown has resolved its escapes, from notifying people
// that the report names, and from closing issues.
var unmentioned = strings.NewReplacer("@", "@&#8203;", `\#`, `\#&#8203;`, "GH-", "GH&#8203;-", "gh-", "gh&#8203;-")

// body returns the report without its title.
func body(s *workflow.Session, found workflow.Verification, l lang.Language, mark string) string {
	p := &page{Language: l, s: s, w: s.Definition(), found: found.In(l), mark: mark}
	p.facts()
	p.stages()
	p.rounds()
	p.decisions()
	p.risks()
	p.findings()
	p.requests()
	p.evidence()
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// cell makes a text of others safe in a line of Markdown, and its hidden characters visible.
func cell(text string) string {
	text = visible.Line(visible.Fit(strings.Join(strings.Fields(text), " "), maxCell))
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>|~&#$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return unlinked.Replace(b.String())
}

// begins matches the start of a text whose line would become an item of a list, or a rule.
var begins = pattern.New(`^([0-9]*)([-+.)])`)

// unlinked keeps addresses from becoming links.
var unlinked = strings.NewReplacer("://", `\://`, "www.", `www\.`)

// table writes a section with a table, if there are rows.
func (p *page) table(title string, header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(&p.Builder, "%s %s\n\n| %s |\n|%s\n", p.mark, title, strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for _, row := range rows {
		fmt.Fprintf(&p.Builder, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(&p.Builder)
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04") }

func number(n *float64) string {
	if n == nil {
		return "–"
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func count(n *int) string {
	if n == nil {
		return "–"
	}
	return strconv.Itoa(*n)
}

func (p *page) facts() {
	s := p.s
	fmt.Fprintf(&p.Builder, "%s\n\n", begins.ReplaceAllString(cell(s.Objective), `$1\$2`))
	fmt.Fprintf(&p.Builder, "- %s\n", p.Say("Workflow: %s", cell(p.w.Name)))
	fmt.Fprintf(&p.Builder, "- %s\n", p.Say("State: %s", cell(s.Place())))
	fmt.Fprintf(&p.Builder, "- %s\n", p.Say("Started %s, last changed %s (UTC)", moment(s.CreatedAt), moment(s.UpdatedAt)))
	if s.ReworkCount > 0 {
		fmt.Fprintf(&p.Builder, "- %s\n", p.Say("Sent back for rework: %s", p.Count(s.ReworkCount, "time")))
	}
	said := p.Say("History: signed, and as it was written")
	switch p.found.Status {
	case workflow.ChainHolds:
	case workflow.ChainAdopted:
		said = p.Say("History: changed by other hands, and accepted by a person as it is")
	case workflow.ChainPartly:
		said = p.Say("History: nothing shows a change, but %s", cell(p.found.Problem))
	default:
		said = p.Say("History: **it does not hold**: %s", cell(p.found.Problem))
	}
	fmt.Fprintf(&p.Builder, "- %s\n", said)
	for _, t := range p.found.Altered {
		fmt.Fprintf(&p.Builder, "- %s\n", p.Say("**Not as approved**: %s", cell(t.Text().In(p.Language))))
	}
	fmt.Fprintln(&p.Builder)
}

// plain returns an id of a file, for example scored_ready, for people.
func (p *page) plain(id string) string { return cell(strings.ReplaceAll(p.Word(id), "_", " ")) }

// stage returns the label of a stage, or its id if the workflow does not have it.
func (p *page) stage(id workflow.StageID) string {
	if st, ok := p.w.Stage(id); ok {
		return cell(st.Label)
	}
	return cell(string(id))
}

func (p *page) stages() {
	var rows [][]string
	for _, st := range p.w.Stages {
		rec := p.s.Record(st.ID)
		document := "–"
		if a := rec.Artifact; a != nil {
			if document = cell(a.Path); a.Stale {
				document += p.Say(" (out of date)")
			}
		}
		var audited *float64
		if rec.Audit != nil {
			audited = &rec.Audit.Score
		}
		rows = append(rows, []string{cell(p.Word(st.Role)), p.plain(string(rec.Status)),
			strconv.Itoa(rec.Iteration), number(rec.ClaimedScore), number(audited),
			cmp.Or(p.plain(string(rec.Verdict)), "–"), document})
	}
	p.table(p.Say("Stages"), []string{p.Say("Stage"), p.Say("Status"), p.Say("Rounds"), p.Say("Score"), p.Say("Our check"), p.Say("Verdict"), p.Say("Document")}, rows)
}

func (p *page) rounds() {
	var rows [][]string
	for _, e := range p.s.History {
		if e.Action == workflow.ActionSubmit && e.Iteration > 0 && e.Event != workflow.EventChangesRequested {
			rows = append(rows, []string{moment(e.At), p.stage(e.FromStage()), strconv.Itoa(e.Iteration),
				number(e.Score), number(e.AuditScore), count(e.FindingsOpen), count(e.ExitCode),
				p.plain(string(e.Event))})
		}
	}
	p.table(p.Say("Rounds"), []string{p.Say("When"), p.Say("Stage"), p.Say("Round"), p.Say("Score"),
		p.Say("Our check"), p.Say("Open findings"), p.Say("Exit code"), p.Say("Outcome")}, rows)
}

// grantSteps returns the steps with decisions of the history that a test accepts.
func (p *page) grantSteps(test func(*workflow.Grant) bool) []workflow.Step {
	return slices.DeleteFunc(p.s.Steps(p.found), func(e workflow.Step) bool { return e.Grant == nil || !test(e.Grant) })
}

func (p *page) decisions() {
	var rows [][]string
	for _, e := range p.grantSteps(func(*workflow.Grant) bool { return true }) {
		by := fmt.Sprintf("%s (%s)", cell(string(e.Grant.Channel)), cell(string(e.Grant.Assurance)))
		if who := e.Grant.Who(); who != "" {
			by = p.Say("%s: %s", cell(who), by)
		}
		if e.Unvouched {
			by = p.Say("unconfirmed, the file says: %s", cell(string(e.Grant.Channel)))
		}
		said := cell(e.Grant.Feedback)
		if n := len(e.Grant.Comments); n > 0 {
			said = strings.TrimSpace(said + " " + p.Say("(with %s)", p.Count(n, "comment")))
		}
		rows = append(rows, []string{moment(e.At), p.stage(cmp.Or(e.FromStage(), e.Grant.Stage)), p.plain(string(e.Grant.Decision)), by, said})
	}
	p.table(p.Say("Decisions"), []string{p.Say("When"), p.Say("Stage"), p.Say("Decision"), p.Say("By"), p.Say("Their words")}, rows)
}

// risks lists the rounds that a person let pass even if their gates had not.
func (p *page) risks() {
	var rows [][]string
	for _, e := range p.grantSteps(func(g *workflow.Grant) bool { return g.Decision == workflow.DecisionOverride }) {
		result := cmp.Or(p.plain(string(e.Verdict)), number(e.Score))
		rows = append(rows, []string{moment(e.At), p.stage(e.FromStage()), result, cell(e.Grant.Feedback)})
	}
	p.table(p.Say("Accepted risks"), []string{p.Say("When"), p.Say("Stage"), p.Say("Result"), p.Say("Reason")}, rows)
}

// findings lists the findings of reports, each with the way in which it was closed.
func (p *page) findings() {
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
			rows = append(rows, []string{cell(f.ID), cell(st.Label), cmp.Or(cell(f.Severity), "–"), cell(f.Problem), cell(status), cmp.Or(cell(fixes[f.ID]), "–")})
		}
	}
	p.table(p.Say("Findings"), []string{p.Say("Id"), p.Say("Stage"), p.Say("Severity"), p.Say("Problem"), p.Say("Status"), p.Say("How it was closed")}, rows)
}

// requests lists the comments of people on drafts, each with its fate.
func (p *page) requests() {
	var rows [][]string
	for _, st := range p.w.Stages {
		for _, c := range p.s.Record(st.ID).ChangeRequests {
			said := cell(c.Text)
			if c.Replace != "" {
				said = strings.TrimSpace(said + " → " + cell(c.Replace))
			}
			rows = append(rows, []string{cell(c.ID), cell(string(cmp.Or(c.Stage, st.ID))), cmp.Or(c.Lines(), "–"),
				cell(string(c.Kind)), cmp.Or(said, "–"), cell(string(c.Status)), cmp.Or(cell(c.Note), "–")})
		}
	}
	p.table(p.Say("Change requests"), []string{p.Say("Id"), p.Say("Stage"), p.Say("Lines"), p.Say("Kind"),
		p.Say("Their words"), p.Say("Status"), p.Say("What its author says")}, rows)
}

// evidence lists the results of the verify commands.
func (p *page) evidence() {
	var rows [][]string
	for _, st := range p.w.Stages {
		e := p.s.Record(st.ID).Evidence
		if e == nil {
			continue
		}
		result := p.Say("exit code %d", e.ExitCode)
		switch {
		case e.NotRun != "":
			result = p.Say("not run, %s", cell(e.NotRun))
		case e.TimedOut:
			result = p.Say("stopped: it took too long")
		}
		if e.Changed != "" {
			result += "; " + p.Say("changed during the run: %s", cell(e.Changed))
		}
		rows = append(rows, []string{cell(string(st.ID)), cell(e.Command), result})
	}
	p.table(p.Say("Evidence"), []string{p.Say("Stage"), p.Say("Command"), p.Say("Result")}, rows)
}
