package web

import (
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// runPage is one run, of an assistant or without a host.
type runPage struct {
	Project folder
	Session *workflow.Session
	State   tag
	// Rest is the part of the objective that the title leaves out; "" if there is none.
	Rest string
	// Asks reports whether the run waits for answers.
	Asks bool
	// Review is the address of the document waiting for a decision; "" if none is.
	Review   string
	Log      string
	Found    workflow.Verification
	Rail     []railStage
	Findings []workflow.Finding
	Leave    leaving
	Density  string
	Timeline []step
	// Means is the way in which several decisions came, said once.
	Means string
	// Work is the work without a host; nil if there was none.
	Work *hostless
	// Queued is the place in the queue, nil without one.
	Queued *queued
	// Troubles are errors in reading it.
	Troubles []string
}

// tag is a state in a word, with the class of its colour.
type tag struct{ Kind, Text string }

// densities are the ones of the timeline: decisions only, one line for each entry, everything.
var densities = []string{"decisions", "lines", "full"}

func (d *Dashboard) showRun(a *asked) (templ.Component, error) {
	it, err := d.projects.inspect(a)
	if err != nil {
		return nil, err
	}
	p, s, found := it.project, it.session, it.found
	out := runPage{
		Project: p, Session: s, Asks: s.CurrentState == workflow.Clarifying, Log: p.Run(s.TaskName) + "log", Found: found.In(a.lang),
		Density: densities[1], Findings: workflow.OpenFindings(s.Current().Findings),
	}
	if s.CurrentState.WaitsForHuman() {
		out.Review = p.Document(s.TaskName, s.CurrentStage)
	}
	if given := a.r.URL.Query().Get("timeline"); slices.Contains(densities, given) {
		out.Density = given
	}
	if out.Work, err = d.starter.readHostless(a, p, s); err != nil { // the rest of the page does not need it
		out.Troubles = []string{lang.Of(err).In(a.lang)}
	}
	team := d.projects.crewOf(a, s.SessionID)
	if team != nil && team.trouble != nil {
		out.Troubles = append(out.Troubles, a.lang.Say("The queue cannot be read: %s", lang.Of(team.trouble).In(a.lang)))
	}
	out.Queued = describeEntry(a.lang, s, labelOf(s.Definition().Stages, s.CurrentStage), team)
	if out.Work != nil && !goesOn(team.entry(s.SessionID)) { // else two would work on it
		d.starter.offerSteering(p, s, out.Work)
	}
	a.page.Title, out.Rest = cutTitle(s)
	a.followRun(p, s)
	a.page.Trail = []link{{p.Href(), p.Name}}
	if out.State = stateOf(a.lang, s, out.Work); out.Queued != nil && s.CurrentState.Active() && !s.CurrentState.WaitsForHuman() {
		out.State = tag{out.Queued.Kind, a.lang.Say("%s: %s", labelOf(s.Definition().Stages, s.CurrentStage), out.Queued.Head)}
	}
	steps := s.Steps(found)
	out.Rail = railOf(a.lang, p, s, out.Work, d.door.now())
	out.Leave = waysToLeave(d, p, s)
	out.Timeline = timeline(a, p, s, steps, out.Density)
	out.Means = liftMeans(out.Timeline)
	out.Timeline = mergeSteps(out.Timeline, out.Work.steps(a.lang, s.Definition().Stages, out.Density))
	return runScreen(a.lang, out), nil
}

// cutTitle returns the objective of a run as a title, and the whole if the title is shorter.
func cutTitle(s *workflow.Session) (title, rest string) {
	line := strings.Join(strings.Fields(s.Objective), " ")
	if title = visible.Cut(line, maxTitle, "…"); title == line {
		return title, ""
	}
	return title, s.Objective
}

// stateOf returns the one state of a run.
func stateOf(l lang.Language, s *workflow.Session, work *hostless) tag {
	label := labelOf(s.Definition().Stages, s.CurrentStage)
	place := story.Place(l, label, s.CurrentState)
	switch {
	case s.CurrentState == workflow.Completed:
		return tag{"good", place}
	case s.CurrentState == workflow.Clarifying:
		return tag{"ask", place}
	case !s.CurrentState.Active():
		return tag{"", place}
	case s.CurrentState.WaitsForHuman():
		return tag{"warn", place}
	case work == nil:
		return tag{"mine", place}
	case work.Live.Working:
		return tag{"mine", l.Say("%s: at work", label)}
	}
	return tag{"warn", l.Say("%s: stopped", label)}
}

// railStage is a stage of a run.
type railStage struct {
	workflow.Stage
	// Mark is done, now or later; Kind is good or bad for the result, "" without one.
	Mark, Kind string
	Href       string
	// Facts are the rounds, time, files and cost, Results the results, of which Worst are bad.
	Facts, Results, Worst []string
	Rounds                int
}

// railOf returns all stages of a session's workflow, also the ones to come.
func railOf(l lang.Language, p folder, s *workflow.Session, work *hostless, now time.Time) []railStage {
	var rail []railStage
	mark, times := "done", timeOfStages(s, now)
	for _, st := range s.Definition().Stages {
		rec := s.Record(st.ID)
		row := railStage{Stage: st, Mark: mark, Rounds: rec.Iteration}
		switch {
		case st.ID == s.CurrentStage && s.CurrentState.Active():
			row.Mark, mark = "now", "later"
		case rec.Status != workflow.Done && mark == "done":
			row.Mark = "later"
		}
		if len(engine.Rounds(s, st.ID)) > 0 || rec.Artifact != nil {
			row.Href = p.Document(s.TaskName, st.ID)
		}
		if rec.Iteration > 0 {
			row.Facts = append(row.Facts, l.Count(rec.Iteration, "round"))
		}
		if spent := times[st.ID]; spent > 0 {
			row.Facts = append(row.Facts, ago(l, spent))
		}
		if row.Mark == "later" {
			row.Facts = []string{l.Say("to come")}
			if !s.CurrentState.Active() {
				row.Facts = []string{l.Say("not reached")}
			}
		}
		row.Facts = append(row.Facts, work.factsOf(l, st)...)
		row.Results, row.Worst = resultsOf(l, s, st, rec)
		switch {
		case len(row.Worst) > 0:
			row.Kind = "bad"
		case row.Mark == "done":
			row.Kind = "good"
		}
		rail = append(rail, row)
	}
	return rail
}

// resultsOf returns the results of a stage, and apart from them the bad ones.
func resultsOf(l lang.Language, s *workflow.Session, st workflow.Stage, rec *workflow.Record) (results, worst []string) {
	add := func(bad bool, text string) {
		if bad {
			worst = append(worst, text)
		} else {
			results = append(results, text)
		}
	}
	if rec.Verdict != "" {
		add(rec.Verdict != workflow.Pass, story.Verdict(l, rec.Verdict))
	}
	if scores := scoresOf(s, st.ID); len(scores) > 0 {
		last := scores[len(scores)-1]
		text := make([]string, len(scores))
		for i := range scores {
			text[i] = points(&scores[i])
		}
		add(st.GateScore > 0 && last < st.GateScore, l.Say("score %s", strings.Join(text[max(len(text)-3, 0):], " → ")))
	}
	if rec.ClaimedScore == nil && rec.EstimatedScore != nil {
		add(false, l.Say("%s estimated", points(rec.EstimatedScore)))
	}
	if audit := rec.Audit; audit != nil {
		n := countCritical(audit.Findings)
		add(n > 0, l.Say("form %s", points(&audit.Score)))
		if n > 0 {
			add(true, l.Say("critical: %d", n))
		}
	}
	if e := rec.Evidence; e != nil {
		text, bad := describeEvidence(l, e)
		add(bad, text)
	}
	return results, worst
}

// scoresOf returns the claimed or estimated scores of a stage, round by round.
func scoresOf(s *workflow.Session, id workflow.StageID) (scores []float64) {
	for _, e := range s.History {
		if e.Action == workflow.ActionSubmit && e.FromStage() == id && e.Score != nil {
			scores = append(scores, *e.Score)
		}
	}
	return scores
}

// timeOfStages returns the time that a run has been at each stage.
func timeOfStages(s *workflow.Session, now time.Time) map[workflow.StageID]time.Duration {
	out := map[workflow.StageID]time.Duration{}
	for i, e := range s.History {
		until := now
		switch {
		case i+1 < len(s.History):
			until = s.History[i+1].At
		case !s.CurrentState.Active():
			until = e.At
		}
		out[e.ToStage()] += max(until.Sub(e.At), 0) // a clock can be set back
	}
	return out
}

// describeEvidence describes the outcome of the command that checks the work, and reports whether it is bad.
func describeEvidence(l lang.Language, e *workflow.Evidence) (text string, bad bool) {
	switch {
	case e.NotRun != "":
		return l.Say("verify was not run"), false
	case e.TimedOut:
		return l.Say("verify timed out"), true
	case e.ExitCode != 0:
		return l.Say("verify failed, exit code %d", e.ExitCode), true
	}
	return l.Say("verify passed"), false
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

// sprintTitle returns the title of a sprint behind the number of the list; other names come with it.
func sprintTitle(l lang.Language, s workflow.Sprint) string {
	title := visible.Line(s.Title)
	if s.Label == "" || !s.Titled() {
		return title
	}
	return l.Say("Sprint %s: %s", visible.Line(s.Label), title)
}
