package web

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// runPage is one run, from the first stage to the ones to come.
type runPage struct {
	Project folder
	Session *workflow.Session
	Place   string
	// Asks reports whether the run waits for answers.
	Asks bool
	// Review is the address of the document waiting for a decision; "" if none is.
	Review   string
	Log      string
	Found    workflow.Verification
	Stages   []stageRow
	Findings []workflow.Finding
	Charts   []chart
	Leave    leaving
	Density  string
	Timeline []step
}

// leaving are the ways to reopen or cancel a run.
type leaving struct {
	// Stages are the stages to reopen; Cancels reports whether the run can be cancelled.
	Stages  []workflow.Stage
	Cancels bool
	// Href, Nonce and Revision belong to the request.
	Href, Nonce string
	Revision    int
}

// waysToLeave returns the ways open to a session, and adds a nonce for the page.
func waysToLeave(d *Dashboard, p folder, s *workflow.Session) (out leaving) {
	if d.door.readOnly {
		return out
	}
	w := s.Definition()
	for _, action := range w.Allowed(s) {
		switch action {
		case workflow.ActionReopen:
			for _, st := range w.Stages[:w.Index(s.CurrentStage)] {
				if s.Record(st.ID).Status == workflow.Done {
					out.Stages = append(out.Stages, st)
				}
			}
			if st, ok := w.Stage(s.CurrentStage); ok && s.CurrentState == workflow.Completed {
				out.Stages = append(out.Stages, st)
			}
		case workflow.ActionCancel:
			out.Cancels = true
		default:
		}
	}
	if out.Cancels || len(out.Stages) > 0 {
		out.Href, out.Revision = p.Run(s.TaskName)+"leave", s.Revision
		out.Nonce = d.nonces.add(shownFor{session: s.SessionID, revision: s.Revision}, d.door.now())
	}
	return out
}

// stageRow is a stage of a run.
type stageRow struct {
	workflow.Stage
	Record *workflow.Record
	// Mark is done, now or next.
	Mark string
	Href string
	// Decided describes the last decision on the stage.
	Decided string
	Rounds  []engine.Round
}

// step is an entry of the timeline, in sentences.
type step struct {
	workflow.Step
	Text, Decided string
	// Stage is the label of the stage of the event.
	Stage string
	// Gap is the pause before the event, if it was at least longGap.
	Gap  time.Duration
	Href string
}

// longGap is the shortest pause shown in the timeline.
const longGap = time.Hour

// The densities of the timeline: decisions only, one line for each entry, everything.
var densities = []string{"decisions", "lines", "full"}

func (d *Dashboard) showRun(a *asked) (templ.Component, error) {
	it, err := d.projects.inspect(a)
	if err != nil {
		return nil, err
	}
	p, s, found := it.project, it.session, it.found
	a.page.Title = s.TaskName
	a.followRun(p, s)
	a.page.Trail = []link{{p.Href(), p.Name}}
	out := runPage{
		Project: p, Session: s, Place: story.Place(a.lang, labelOf(s.Definition().Stages, s.CurrentStage), s.CurrentState), Asks: s.CurrentState == workflow.Clarifying,
		Log: p.Run(s.TaskName) + "log", Found: found.In(a.lang), Density: densities[1],
		Findings: workflow.OpenFindings(s.Current().Findings),
	}
	if s.CurrentState.WaitsForHuman() {
		out.Review = p.Document(s.TaskName, s.CurrentStage)
	}
	for _, known := range densities {
		if a.r.URL.Query().Get("timeline") == known {
			out.Density = known
		}
	}
	steps := s.Steps(found)
	out.Stages = stageRows(a, p, s, steps)
	out.Leave = waysToLeave(d, p, s)
	out.Charts = chartsOf(s)
	out.Timeline = timeline(a, p, s, steps, out.Density)
	return runScreen(a.lang, out), nil
}

// stageRows returns all stages of a session's workflow, also the ones to come.
func stageRows(a *asked, p folder, s *workflow.Session, steps []workflow.Step) []stageRow {
	var rows []stageRow
	mark := "done"
	for _, st := range s.Definition().Stages {
		row := stageRow{Stage: st, Record: s.Record(st.ID), Mark: mark, Rounds: engine.Rounds(s, st.ID)}
		if st.ID == s.CurrentStage && s.CurrentState.Active() {
			row.Mark, mark = "now", "next"
		} else if row.Record.Status != workflow.Done && mark == "done" {
			row.Mark = "next"
		}
		if len(row.Rounds) > 0 || row.Record.Artifact != nil {
			row.Href = p.Document(s.TaskName, st.ID)
		}
		for _, e := range steps {
			if e.Grant != nil && e.Grant.Stage == st.ID {
				row.Decided = describeDecision(a.lang, e.Grant, e.Unvouched)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// timeline returns the entries of a history in a density, the newest first.
func timeline(a *asked, p folder, s *workflow.Session, steps []workflow.Step, density string) []step {
	var out []step
	teller := story.Teller{Language: a.lang, Definition: s.Definition()}
	for i := len(steps) - 1; i >= 0; i-- {
		e := steps[i]
		if density == "decisions" && e.Grant == nil && i > 0 {
			continue
		}
		row := step{
			Step: e, Stage: labelOf(s.Definition().Stages, e.FromStage()), Text: teller.Sentence(&e.Transition, e.Unvouched),
			Decided: describeDecision(a.lang, e.Grant, e.Unvouched),
		}
		if i > 0 {
			if gap := e.At.Sub(steps[i-1].At); gap >= longGap {
				row.Gap = gap
			}
		}
		if e.Action == workflow.ActionSubmit && e.Path != "" {
			row.Href = p.Document(s.TaskName, e.FromStage()) + "?round=" + itoa(e.Iteration)
		}
		out = append(out, row)
	}
	return out
}

// sprintTitle returns the title of a sprint behind the number of the list; other names come with it.
func sprintTitle(l lang.Language, s workflow.Sprint) string {
	if s.Label == "" || !s.Titled() {
		return s.Title
	}
	return l.Say("Sprint %s: %s", s.Label, s.Title)
}
