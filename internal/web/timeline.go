package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// step is an entry of the timeline, in sentences.
type step struct {
	workflow.Step
	Text, Decided string
	// Stage is the label of the stage of the event. Icon and Kind are the drawing and the colour.
	Stage, Icon, Kind string
	// Gap is the pause before the event, if it was at least longGap.
	Gap  time.Duration
	Href string
	// Aside is true for an event of the work without a host, which the history of the session does not have.
	Aside bool
}

// longGap is the shortest pause shown in the timeline.
const longGap = time.Hour

// timeline returns the entries of a history in a density, the newest first.
func timeline(a *asked, p folder, s *workflow.Session, steps []workflow.Step, density string) []step {
	var out []step
	teller := story.Teller{Language: a.lang, Definition: s.Definition()}
	for i, e := range slices.Backward(steps) {
		if density == "decisions" && e.Grant == nil && i > 0 {
			continue
		}
		row := step{
			Step: e, Stage: labelOf(s.Definition().Stages, cmp.Or(e.FromStage(), e.ToStage())), Text: teller.Sentence(&e.Transition, e.Unvouched),
			Decided: describeDecision(a.lang, withoutTook(e.Grant, density), e.Unvouched),
		}
		row.Icon, row.Kind = drawStep(&e.Transition)
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

// withoutTook leaves the time that the person took to one density, so that decisions by the same way read the same.
func withoutTook(g *workflow.Grant, density string) *workflow.Grant {
	if g == nil || density == "full" {
		return g
	}
	short := *g
	short.TookMS = nil
	return &short
}

// drawStep returns the icon of an entry, and the colour.
func drawStep(e *workflow.Transition) (icon, kind string) {
	switch e.Event {
	case workflow.EventConfirmed, workflow.EventApproved, workflow.EventScopeApproved, workflow.EventGranted:
		return "gate", "good"
	case workflow.EventFinished:
		return "done", "good"
	case workflow.EventChangesRequested, workflow.EventSentBack, workflow.EventReopened:
		return "back", "warn"
	case workflow.EventScoredBelow, workflow.EventReturned, workflow.EventFailed, workflow.EventBlocked, workflow.EventExhausted, workflow.EventDoubted:
		return "failed", "bad"
	case workflow.EventQuestioned, workflow.EventAnswered, workflow.EventSkipped:
		return "ask", "ask"
	case workflow.EventStarted:
		return "play", ""
	case workflow.EventCancelled:
		return "stopped", ""
	}
	return "next", ""
}

// describeFacts returns the round, score, verdict and way of an entry, with commas.
func describeFacts(l lang.Language, s step) string {
	var facts []string
	if s.Iteration > 0 {
		facts = append(facts, l.Say("round %d", s.Iteration))
	}
	if s.Score != nil {
		facts = append(facts, l.Say("score %s", points(s.Score)))
	}
	if s.AuditScore != nil {
		facts = append(facts, l.Say("form %s", points(s.AuditScore)))
	}
	if s.Verdict != "" {
		facts = append(facts, story.Verdict(l, s.Verdict))
	}
	if s.Decided != "" {
		facts = append(facts, s.Decided)
	}
	return strings.Join(facts, " · ")
}

// describePlace names the lines of a comment, with the file if they are lines of code; "" for the whole document.
func describePlace(l lang.Language, c workflow.Comment) string {
	form := l.Say("line {}")
	switch {
	case c.File != "" || c.From == 0:
		return c.Place()
	case c.To > c.From:
		form = l.Say("lines {}")
	}
	return strings.Replace(form, "{}", c.Lines(), 1)
}

// showsEvent reports whether an event of the work without a host is for the timeline in a density. The state says why
// a run waits for its person.
func showsEvent(e headless.Event, density string) bool {
	switch e.Type {
	case headless.Stopped:
		if density == "lines" {
			return e.Reason != headless.Person
		}
		return density == "full"
	case headless.Retry, headless.Rework, headless.Noticed:
		return density != "decisions"
	case headless.RunStarted, headless.StageStarted, headless.EngineEvent, headless.Cost:
		return density == "full"
	}
	return false // the history of the session has the others
}

// liftMeans takes the way in which at least two decisions came out of them, and returns it to be said once.
func liftMeans(steps []step) (means string) {
	counts := map[string]int{}
	for _, s := range steps {
		if s.Decided != "" {
			if counts[s.Decided]++; counts[s.Decided] > max(counts[means], 1) {
				means = s.Decided
			}
		}
	}
	for i := range steps {
		if means != "" && steps[i].Decided == means {
			steps[i].Decided = ""
		}
	}
	return means
}

// mergeSteps adds steps to a timeline; both have the newest first.
func mergeSteps(steps, more []step) []step {
	out := slices.Concat(steps, more)
	slices.SortStableFunc(out, func(a, b step) int { return b.At.Compare(a.At) })
	return out
}

// visit is the part of a timeline at one stage, on one day.
type visit struct {
	Stage string
	Day   time.Time
	Steps []step
}

// groupSteps groups a timeline by stage and day.
func groupSteps(steps []step) (out []visit) {
	for _, s := range steps {
		day := s.At.UTC().Truncate(24 * time.Hour)
		if n := len(out); n == 0 || out[n-1].Stage != s.Stage || !out[n-1].Day.Equal(day) {
			out = append(out, visit{s.Stage, day, nil})
		}
		last := &out[len(out)-1]
		last.Steps = append(last.Steps, s)
	}
	return out
}
