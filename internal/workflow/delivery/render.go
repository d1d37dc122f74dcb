package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Facts are the contents of a contract.
type Facts struct {
	Header
	Session *workflow.Session
	// Found is the result of the check of the session.
	Found workflow.Verification
	// OutOfScope are the items that the requirements leave out.
	OutOfScope []string
}

// Summary describes a contract in an answer.
type Summary struct {
	Artifacts int `json:"artifacts"`
	// Ran counts the rows for which the server ran a command, Claimed the rows for which only the report speaks.
	Ran           int `json:"rows_ran"`
	Claimed       int `json:"rows_claimed"`
	OpenQuestions int `json:"open_questions"`
	// LeftOpen names the gaps in the records of the run, and objections to the contract.
	LeftOpen []string `json:"left_open"`
}

// page builds a contract.
type page struct {
	strings.Builder
	lang.Language
	Facts
	w   *workflow.Definition
	sum Summary
	// criteria are the rows of all reports; verified counts the verify commands that succeeded.
	criteria []workflow.Criterion
	verified int
	// The rows of the tables.
	required, optional, rows, commands, questions, decisions, risks, commits, outside []string
}

// Render writes the contract of a run in a language.
func Render(f Facts, l lang.Language) (string, Summary, error) {
	p := &page{Language: l, Facts: f, w: f.Session.Definition()}
	p.Found, p.sum.LeftOpen = f.Found.In(l), []string{}
	head, err := yaml.Marshal(p.Header)
	if err != nil {
		return "", p.sum, fmt.Errorf("the front matter of a contract: %w", err)
	}
	p.printf("---\n%s---\n\n# %s\n\n", head, l.Say("Delivery contract: %s → %s", escapeText(f.FromTeam), escapeText(f.ToTeam)))
	p.writeState()
	for _, st := range p.w.Stages {
		rec := f.Session.Record(st.ID)
		p.addArtifact(st, rec)
		p.addRows(st, rec)
		p.addQuestions(st, rec)
	}
	p.addDecisions()
	artifacts := "| " + p.Say("Artifact") + " | " + pathColumn + " | " + hashColumn + " | " + p.Say("Acceptance criterion") + " |"
	p.printf("## %s\n\n", p.Say("Delivered artifacts"))
	p.writeTable("### ", p.Say("Required artifacts"), artifacts, p.required)
	p.writeTable("### ", p.Say("Optional artifacts"), artifacts, p.optional, p.Say("None."))
	p.writeTable("## ", p.Say("Verification"), p.Say("| Stage | Criterion | Result | Ran by the server, or claimed | Evidence |"), p.rows)
	p.writeTable("### ", p.Say("Verify command"), p.Say("| Stage | Command | Last result | When |"), p.commands)
	p.writeTable("## ", p.Say("Open questions"), p.Say("| Stage | Id | Kind | Question | State |"), p.questions, p.Say("None."))
	p.writeCompletion()
	p.writeTable("## ", p.Say("Key decisions"), p.Say("| When | Stage | Decision | Who | Way | Their words |"), p.decisions)
	p.writeTable("## ", p.Say("Accepted risks"), p.Say("| When | Stage | Result | Who | Reason |"), p.risks, p.Say("None."))
	p.writeTable("## ", p.Say("Commits"), p.Say("| Commit | Stage | When |"), p.commits)
	p.writeTable("## ", p.Say("Out of scope"), p.Say("| Item | Why |"), p.outside)
	signed := escapeText(p.SignedBy)
	if p.SignedBy == "" {
		signed = p.leaveOpen("signed_by: " + p.Say("Nobody has decided anything in this run yet, so nobody has signed."))
	}
	p.printf("## %s\n\n%s\n\n## %s\n\n%s\n\n%s\n%s\n", p.Say("Signature"), signed, p.Say("Acceptance"),
		p.Say("For a person of %s, who then sets the status at the top: accepted, rejected or renegotiating.", escapeText(p.ToTeam)), acceptedBy, acceptedOn)
	return p.String(), p.sum, nil
}

// decisionsOf returns the decisions of people among the first entries of a history. An answer decides about no document.
func decisionsOf(s *workflow.Session, v workflow.Verification, entries int) []workflow.Step {
	steps := s.Steps(v)
	return slices.DeleteFunc(steps[:min(max(entries, 0), len(steps))], func(e workflow.Step) bool {
		return e.Grant == nil || e.Grant.Decision == workflow.DecisionAnswer
	})
}

// SignedBy names the person of the last decision among the first entries of a history, and how it was verified, in the
// same words for every language; "" if there is none.
func SignedBy(s *workflow.Session, v workflow.Verification, entries int) string {
	decisions := decisionsOf(s, v, entries)
	if len(decisions) == 0 {
		return ""
	}
	last := decisions[len(decisions)-1]
	label := cmp.Or(last.Grant.Who(), "unknown") + ", " + story.Channel(lang.English, last.Grant.Channel, last.Unvouched)
	if last.Grant.Signature != "" && last.Grant.Channel.Personal() && !last.Unvouched {
		label += ", signed"
	}
	return visible.Fit(visible.Line(label), 200)
}

// IsOf reports whether a contract names the person of the last decision that the run had then. Another machine may know
// the keys of that person, or not.
func (c Contract) IsOf(s *workflow.Session) bool {
	unknown := workflow.Verification{Unvouched: []workflow.Span{{From: 1, To: len(s.History)}}}
	return c.SignedBy == SignedBy(s, workflow.Verification{}, c.Entries) || c.SignedBy == SignedBy(s, unknown, c.Entries)
}

// escapeText makes a text of the run safe in a line or a cell, also for a reader of comments that knows no backslash.
func escapeText(text string) string {
	return cmp.Or(strings.ReplaceAll(markdown.Escape(text, 600), `\<`, "&lt;"), "–")
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

// sayWord returns a word of a session file for people.
func (p *page) sayWord(id string) string { return strings.ReplaceAll(p.Word(id), "_", " ") }

// formatRow returns a row with texts of the run.
func formatRow(cells ...string) string {
	for i := range cells {
		cells[i] = escapeText(cells[i])
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func formatTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

// leaveOpen notes a gap in the records of the run, or an objection to the contract, and returns it.
func (p *page) leaveOpen(text string) string {
	p.sum.LeftOpen = append(p.sum.LeftOpen, text)
	return text
}

// writeTable writes a table, or the words for none: without them the run does not know of any. A contract is read by the
// head of the artifacts, which stays.
func (p *page) writeTable(mark, title, head string, rows []string, none ...string) {
	p.printf("%s%s\n\n", mark, title)
	if len(rows) == 0 && len(none) == 0 {
		none = []string{p.Say("Not recorded in this run.")}
		p.leaveOpen(title)
	}
	if len(rows) == 0 {
		p.printf("%s\n\n", none[0])
	}
	if len(rows) > 0 || strings.Contains(head, hashColumn) {
		rows = append([]string{head, "|" + strings.Repeat(" --- |", strings.Count(head, "|")-1)}, rows...)
		p.printf("%s\n\n", strings.Join(rows, "\n"))
	}
}

func (p *page) writeState() {
	s := p.Session
	st, _ := p.w.Stage(s.CurrentStage)
	warn := func(text string) { p.printf("> ⚠ **%s**\n\n", escapeText(p.leaveOpen(text))) }
	switch s.CurrentState {
	case workflow.Completed:
	case workflow.Cancelled:
		warn(p.Say("The run was cancelled at the stage %s.", st.Label))
	default:
		warn(p.Say("The run is not finished. The stage %s is open: %s.", st.Label, story.State(p.Language, s.CurrentState)))
	}
	if !p.Found.Sound() {
		warn(p.Say("The history of the run is in doubt: %s.", p.Found.Problem))
	}
	for _, a := range p.Found.Altered {
		warn(a.Text().In(p.Language))
	}
	p.printf("- %s\n- %s\n- %s\n\n", p.Say("Run: %s", escapeText(s.TaskName)), p.Say("Workflow: %s", escapeText(p.w.Name)), p.Say("Objective: %s", escapeText(s.Objective)))
}

// addArtifact adds the document of a stage, with the criterion and the result.
func (p *page) addArtifact(st workflow.Stage, rec *workflow.Record) {
	if rec.Artifact == nil {
		return
	}
	a, asked, name := Artifact{rec.Artifact.Path, rec.Artifact.SHA256}, p.Say("Not recorded in this run."), escapeText(st.DocumentIn(p.Language))
	if !a.fitsTable() {
		p.leaveOpen(p.Say("%s is not listed: its path or hash does not fit into a table", name))
		return
	}
	if rec.Policy != nil {
		st = st.Under(*rec.Policy)
	}
	switch st.Gate {
	case workflow.GateScore:
		asked = p.Say("a score of at least %g, and a yes", st.GateScore)
	case workflow.GateApproval:
		asked = p.Say("a yes at the gate")
	case workflow.GateVerdict:
		asked = p.Say("a report with the verdict pass")
	}
	if reached := story.Result(p.Language, &workflow.Transition{Verdict: rec.Verdict, Score: rec.Score}); reached != "" {
		asked = p.Say("%s; reached: %s", asked, escapeText(reached))
	}
	list := &p.required
	if rec.Status != workflow.Done || rec.Artifact.Stale {
		list, asked = &p.optional, p.Say("out of date: the stage was reopened")
	}
	*list = append(*list, "| "+name+" | `"+a.Path+"` | `"+a.SHA256+"` | "+asked+" |")
	p.sum.Artifacts++
}

// addRows adds the rows of a report, and the verify command of the stage.
func (p *page) addRows(st workflow.Stage, rec *workflow.Record) {
	for _, c := range verdict.WorstFirst(rec.Criteria) {
		said, basis, isShown := verdict.Evidence(c), "–", c.Proved
		for _, k := range verdict.ChecksOf(rec, c) {
			said += fmt.Sprintf("; %s: %d", k.Command, k.Exit)
			hasFailed := k.Server && k.Exit != 0
			isShown = isShown || hasFailed && c.Result == workflow.ResultFail
		}
		switch {
		case isShown:
			basis = p.Say("ran")
			p.sum.Ran++
		case c.Result == workflow.ResultPass, c.Result == workflow.ResultFail:
			basis = p.Say("claimed")
			p.sum.Claimed++
		case c.Result == workflow.ResultOutOfScope:
			p.outside = append(p.outside, formatRow(c.ID+" "+c.Criterion, p.sayWord(c.Result)))
		}
		p.rows = append(p.rows, formatRow(st.Label, c.ID+" "+c.Criterion, p.sayWord(c.Result), basis, said))
	}
	p.criteria = append(p.criteria, rec.Criteria...)
	if e := rec.Evidence; e != nil {
		if e.NotRun == "" && !e.Failed() {
			p.verified++
		}
		p.commands = append(p.commands, formatRow(st.Label, e.Command, story.Evidence(p.Language, e), formatTime(e.At)))
	} else if command := p.Session.KeptVerify()[st.ID].Command; command != "" {
		p.commands = append(p.commands, formatRow(st.Label, command, p.Say("not run yet"), ""))
	}
}

func (p *page) addQuestions(st workflow.Stage, rec *workflow.Record) {
	add := func(id, kind, text, state string) {
		p.questions = append(p.questions, formatRow(st.Label, id, kind, text, p.sayWord(cmp.Or(state, "open"))))
		p.sum.OpenQuestions++
	}
	for _, q := range append(slices.Clone(rec.Asked), rec.Questions...) {
		if rec.Answers[q.ID] == "" && q.Status != workflow.QuestionAnswered {
			add(q.ID, p.Say("question"), q.Question, string(q.Status))
		}
	}
	for _, gap := range rec.Gaps {
		add("", p.Say("gap"), gap, "")
	}
	for _, f := range workflow.OpenFindings(rec.Findings) {
		add(f.ID, p.Say("finding"), f.Problem, f.Severity)
	}
}

// addDecisions adds the decisions of people, the risks that they accepted, the commits, and the parts out of scope.
func (p *page) addDecisions() {
	for _, e := range decisionsOf(p.Session, p.Found, len(p.Session.History)) {
		g := e.Grant
		st, _ := p.w.Stage(cmp.Or(e.FromStage(), g.Stage))
		when, who := formatTime(e.At), cmp.Or(g.Who(), p.Say("Somebody"))
		p.decisions = append(p.decisions, formatRow(when, st.Label, p.sayWord(string(g.Decision)), who, story.Channel(p.Language, g.Channel, e.Unvouched), g.Feedback))
		if g.Decision == workflow.DecisionOverride {
			p.risks = append(p.risks, formatRow(when, st.Label, story.Result(p.Language, &e.Transition), who, g.Feedback))
		}
	}
	seen := map[string]bool{"": true}
	for _, e := range p.Session.History {
		if st, _ := p.w.Stage(e.FromStage()); !seen[e.Commit] {
			p.commits = append(p.commits, formatRow(e.Commit, st.Label, formatTime(e.At)))
		}
		seen[e.Commit] = true
	}
	for _, item := range p.OutOfScope {
		p.outside = append(p.outside, formatRow(item, p.Say("the requirements say so")))
	}
	for _, sp := range p.Session.Sprints {
		if sp.Status == workflow.SprintPending {
			p.outside = append(p.outside, formatRow(sp.Name()+" "+sp.Title, p.Say("this sprint is not built yet")))
		}
	}
}

// writeCompletion lists the duties of the delivering team, ticked where the run shows that they are done.
func (p *page) writeCompletion() {
	p.printf("## %s\n\n", p.Say("Completion criteria"))
	item := func(isMet bool, text string) {
		p.printf("- [%s] %s\n", map[bool]string{true: "x", false: " "}[isMet], text)
	}
	counts := verdict.CountRows(p.criteria)
	inScope := counts.Rows - counts.OutOfScope
	item(p.Session.CurrentState == workflow.Completed, p.Say("The run is complete"))
	item(p.Found.Status == workflow.ChainHolds, p.Say("The history is signed, and as it was written"))
	item(len(p.required) > 0 && len(p.Found.Altered) == 0, p.Say("The documents are as they were approved"))
	item(inScope > 0 && counts.Passed == inScope, p.Say("The criteria in scope passed: %d of %d", counts.Passed, inScope))
	item(p.verified > 0 && p.verified == len(p.commands), p.Say("The verify command was run, and succeeded"))
	item(p.sum.OpenQuestions == 0, p.Say("No question, gap or finding is open"))
	p.printf("\n")
}
