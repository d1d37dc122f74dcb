package words

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Pipeline draws the stages: ✓ done, ● current, ↻ in rework or refinement, ✗ cancelled here.
func Pipeline(w *workflow.Definition, s *workflow.Session) string {
	parts := make([]string, len(w.Stages))
	for i, st := range w.Stages {
		mark := ""
		switch {
		case st.ID == s.CurrentStage && s.CurrentState == workflow.Cancelled:
			mark = " ✗"
		case s.Record(st.ID).Status == workflow.Done:
			mark = " ✓"
		case st.ID == s.CurrentStage && s.CurrentState == workflow.Refining:
			mark = " ↻"
		case st.ID == s.CurrentStage:
			mark = " ●"
		}
		parts[i] = st.Label + mark
	}
	return strings.Join(parts, " → ")
}

// Headline names the task and the place in the workflow.
func Headline(s *standing.Standing) string { return TaskLine(s) + Pipeline(s.Workflow, s.Session) }

// TaskLine returns the first line of a headline.
func TaskLine(s *standing.Standing) string {
	if s.Draft.Worktree != "" {
		return fmt.Sprintf("**%s** · %s · %s\n", s.Session.TaskName, Place(s), s.Say("in `%s`", s.Draft.Worktree))
	}
	return fmt.Sprintf("**%s** · %s\n", s.Session.TaskName, Place(s))
}

// Place tells the place of a session, for example "stage 2 of 6, System Architect", or its end.
func Place(s *standing.Standing) string {
	w := s.Workflow
	place := s.Say("stage %d of %d, %s", w.Index(s.Session.CurrentStage)+1, len(w.Stages), s.Word(s.Stage.Role))
	switch s.Session.CurrentState {
	case workflow.Completed:
		place = s.Say("complete")
		if open := s.Unbuilt(); len(open) > 0 {
			place = s.Say("complete, but for %s", sprintList(s, open))
		}
	case workflow.Cancelled:
		place = s.Say("cancelled")
	}
	return place
}

// Message describes the state of the session and the human's choices.
func Message(s *standing.Standing) string {
	st, rec := s.Stage, s.Session.Current()
	target := path.Base(s.ArtifactPath(st)) // the start names the folder, and the decision the path
	draft := draftPlace(s, rec)
	switch s.Session.CurrentState {
	case workflow.Generating:
		if s.AsksScope() {
			return devMessage(s)
		}
		return generatingMessage(s, st, rec)
	case workflow.Refining:
		if s.Continuing() {
			return devMessage(s)
		}
		return refiningMessage(s, st, rec)
	case workflow.Clarifying:
		return questionsMessage(s, st, rec, draft)
	case workflow.AwaitingConfirmation, workflow.AwaitingApproval:
		return gateMessage(s, draft, target)
	case workflow.Completed:
		return completedMessage(s)
	case workflow.Cancelled:
		saved := ""
		if len(s.Session.Artifacts) > 0 {
			saved = s.Say(" The saved documents stay in `%s`.", s.Tasks)
		}
		return s.Say("This run is cancelled.") + saved + "\n\n" + s.Say("**You can now** start a new one.")
	}
	return ""
}

// generatingMessage announces the first round of a stage.
func generatingMessage(s *standing.Standing, st workflow.Stage, rec *workflow.Record) string {
	scoping := s.Workflow.StartsByBuilding(st) && rec.Iteration == 0
	stale := ""
	if rec.Artifact != nil && rec.Artifact.Stale {
		stale = s.Say(" Its earlier version `%s` is out of date: it is worked over, not reused.", rec.Artifact.Path)
	}
	role, does := s.Word(st.Role), st.DescriptionIn(s.Language)
	switch {
	case scoping && s.Pauses():
		return s.Say("Next, the %s proposes the scope of the change; nothing is changed before you have approved it.", role) + "\n\n" + goAhead(s)
	case scoping:
		return s.Say("The %s now proposes the scope of the change; nothing is changed before you have approved it. Nothing is needed from you; say so if you want to steer it first.", role)
	case s.Pauses():
		return s.Say("Next, the %s %s.%s", role, does, stale) + "\n\n" + goAhead(s)
	case st.ID != s.Workflow.First().ID:
		return s.Say("The %s now %s.%s Nothing is needed from you.", role, does, stale)
	}
	return s.Say("The %s now %s.%s Nothing is needed from you; say so if you want to steer it first.", role, does, stale)
}

// goAhead names the person's choices before a waiting round.
func goAhead(s *standing.Standing) string {
	return s.Say("**You can now** say **go on**, or say first what to watch for.")
}

func questionsMessage(s *standing.Standing, st workflow.Stage, rec *workflow.Record, draft string) string {
	var b strings.Builder
	b.WriteString(scoreLines(s))
	b.WriteString(addLabel("\n", takenBack(s)))
	b.WriteString(addLabel("\n"+s.Say("Draft: "), draft))
	b.WriteString(s.Say("\n\nThe %s asks:\n", s.Word(st.Role)))
	for _, q := range rec.OpenQuestions() {
		b.WriteString(s.Say("- **%s** %s", visible.Line(q.ID), Quoted(q.Question, len(q.Question))))
		for i, option := range q.Options {
			between := " / "
			if i == 0 {
				between = " — "
			}
			b.WriteString(between + Quoted(option, len(option)))
		}
		if q.Context != "" {
			b.WriteString(" (" + Quoted(q.Context, len(q.Context)) + ")")
		}
		b.WriteString("\n")
	}
	if later := len(rec.LaterQuestions()); later > 0 {
		b.WriteString("\n" + s.Say("There are %d more; you are asked these in the next round.", later) + "\n")
	}
	if s.Route() == standing.ByOwnAct {
		text := b.String() + "\n" + ownAct(s)
		if s.Met() {
			text += "\n" + s.Say("It has reached its gate: to take it without answering, type `%s`.", Terminal(s)+" --skip")
		}
		return text
	}
	if s.Met() {
		return b.String() + "\n" + s.Say("**You can now**\n- answer in your own words: it goes into another round\n- or say **confirm**, since it has reached its gate: it is saved as `%s` without the answers, and the next stage begins\n- or say **skip** to a question that you do not want to answer", path.Base(s.ArtifactPath(st)))
	}
	return b.String() + "\n" + s.Say("**You can now** answer in your own words; leave out what you do not know, or say **skip**.")
}

// draftPlace names the place of the current stage's document. Sessions of older servers
// can have it in themselves, or none.
func draftPlace(s *standing.Standing, rec *workflow.Record) string {
	if rec.FinalResultRef != nil {
		return "`" + s.Draft.Path + "`"
	}
	if refs := rec.Refs(); len(refs) > 0 {
		return "`" + refs[0].FilePath + "`"
	}
	if rec.InlineDraft() != "" {
		return s.Say("in the session file `%s`, under stages.%s.draft", s.SessionFile, s.Session.CurrentStage)
	}
	return ""
}

func refiningMessage(s *standing.Standing, st workflow.Stage, rec *workflow.Record) string {
	var b strings.Builder
	// The last gate or question has shown the rest.
	if text := scoreLines(s); text != "" && st.Gate == workflow.GateScore && s.Session.Moved().Event == workflow.EventScoredBelow {
		b.WriteString(text + "\n")
	}
	if text := takenBack(s); text != "" && s.Session.Moved().Event == workflow.EventScoredBelow {
		b.WriteString(text + "\n")
	}
	round, role, document := rec.Iteration+1, s.Word(st.Role), st.DocumentIn(s.Language)
	if s.Session.Moved().Event == workflow.EventReturned {
		b.WriteString(describeReturn(s) + "\n- " + strings.Join(plainSentences(rec.Returned), "\n- ") + "\n\n")
	}
	if s.Pauses() {
		b.WriteString(s.Say("Next, round %d: the %s revises the %s.", round, role, document))
	} else {
		b.WriteString(s.Say("Round %d: the %s now revises the %s.", round, role, document))
	}
	if n := len(s.Session.History); n > 1 && s.Session.History[n-1].Event == workflow.EventChangesRequested && s.Session.History[n-2].Event == workflow.EventEdited {
		e := s.Session.History[n-2]
		b.WriteString("\n" + s.Say("Round %d is the draft as it was edited. %s", e.Iteration, plainSentences([]string{e.Edit})[0]))
	}
	if rec.Feedback != "" {
		b.WriteString("\n" + s.Say("Your feedback: %s", visible.Fit(visible.Line(rec.Feedback), 300)))
	}
	if n := len(rec.OpenRequests()); n > 0 {
		b.WriteString("\n" + s.Say("Change requests from your comments: %d. The next version has to take up each by its id.", n))
	}
	if s.Session.Moved().Event == workflow.EventScoredBelow && len(rec.Gaps) > 0 {
		b.WriteString("\n" + s.Say("To close:") + listGaps(s, rec.Gaps))
	}
	if st.Kind == workflow.KindBuild && s.Session.ReworkCount > 0 {
		if most := s.MaxRework; s.Session.ReworkCount <= most {
			b.WriteString("\n" + s.Say("Rework %d of %d.", s.Session.ReworkCount, most))
		} else {
			b.WriteString("\n" + s.Say("Rework %d.", s.Session.ReworkCount))
		}
	}
	switch {
	case s.Unexplained():
		b.WriteString(s.Say("\n\n**You can now** say what is to change: nothing was said yet."))
	case s.Pauses():
		b.WriteString("\n\n" + goAhead(s))
	default:
		b.WriteString(s.Say("\n\nNothing is needed from you now."))
	}
	return b.String()
}

// listGaps lists gaps, the first ten of many.
func listGaps(s *standing.Standing, gaps []string) (out string) {
	for i, gap := range gaps {
		if i == 10 {
			return out + "\n- " + s.Say("… and %d more", len(gaps)-i)
		}
		out += "\n- " + Quoted(gap, 300)
	}
	return out
}

func devMessage(s *standing.Standing) string {
	if len(s.Session.Sprints) == 0 {
		return s.Say("The plan has no numbered sprints, so it is built as one piece.\n\n**You can now** say **start development**, or say what to build first.")
	}
	var b strings.Builder
	b.WriteString(s.Say("The plan has %s:\n", s.Count(len(s.Session.Sprints), "sprint")))
	for _, sp := range s.Session.Sprints {
		b.WriteString(s.Say("- Sprint %s: %s — %s\n", sp.Name(), visible.Line(sp.Title), sp.Status))
	}
	if len(s.Session.OpenSprints(workflow.SprintDone)) == len(s.Session.Sprints) {
		b.WriteString(s.Say("\nAll of them were built before. **You can now** say which to go through again, or **start development** for all."))
		return b.String()
	}
	example := s.Session.Sprints[0].Number
	if open := s.Session.OpenSprints(workflow.SprintPending); len(open) > 0 {
		example = open[0]
	}
	b.WriteString(s.Say("\n**You can now**\n- say **start development**: all open sprints are built\n- or name some: “implement sprint %s”", s.SprintName(example)))
	return b.String()
}

func completedMessage(s *standing.Standing) string {
	var b strings.Builder
	open := s.Unbuilt()
	if len(open) > 0 {
		b.WriteString(s.Say("Everything in scope is done; %s not built yet. The documents are in `%s`:\n", sprintsAre(s, open), s.Tasks))
	} else {
		b.WriteString(s.Say("All stages are done. The documents are in `%s`:\n", s.Tasks))
	}
	for _, p := range s.Session.Artifacts {
		changed := ""
		switch file := s.Saved[p]; {
		case file.Missing:
			changed = s.Say(" — **missing on disk**")
		case file.Modified:
			changed = s.Say(" — modified since it was saved")
		}
		b.WriteString(s.Say("- `%s`%s\n", strings.TrimPrefix(p, s.Tasks), changed))
	}
	if text := Rows(s.Language, s.Session.Current().Criteria); text != "" && s.Call.Describing() { // else told with the report
		b.WriteString("\n" + s.Say("%s: %s", s.Word(s.Stage.Role), text) + "\n")
	}
	if s.Session.ReworkCount > 0 {
		b.WriteString("\n" + s.Say("The work went back to the developer %s.\n", s.Count(s.Session.ReworkCount, "time")))
	}
	for _, risk := range acceptedRisks(s) {
		b.WriteString("\n" + risk + "\n")
	}
	if len(open) > 0 {
		b.WriteString(s.Say("\n**You can now** reopen %s to go on with %s, or leave it at that.", s.Builder(), sprintList(s, open)))
		return b.String()
	}
	b.WriteString(s.Say("\n**You can now** review and commit them, or reopen a stage to change something."))
	return b.String()
}

// acceptedRisks names the work the person let go on against the gate, the latest of each stage.
func acceptedRisks(s *standing.Standing) []string {
	var out []string
	for _, st := range s.Workflow.Stages {
		for _, e := range slices.Backward(s.Session.History) {
			if e.FromStage() != st.ID || e.Grant == nil || e.ToStage() == st.ID {
				continue
			}
			if e.Grant.Decision == workflow.DecisionOverride {
				out = append(out, strings.TrimSpace(strings.TrimPrefix(OverrideNote(s.Language, st, s.Session.Record(st.ID), *e.Grant), "> ")))
			}
			break
		}
	}
	return out
}

const objectiveColumns = 60

// List describes the sessions of a project, some of them by a line each.
type List struct {
	lang.Language
	// Total counts the readable sessions, Active those that can go on, Broken the unreadable session files.
	Total, Active, Broken int
	Names                 standing.Names
	lines                 []string
}

// Add adds the line of a session; changed is true if other hands have changed it, altered if an approved text of it.
func (l *List) Add(s workflow.Summary, changed, altered bool) {
	line := fmt.Sprintf("\n- **%s**: %s, %s", s.TaskName, s.CurrentStage, s.CurrentState)
	if s.Objective != "" {
		line += " — " + visible.Shorten(plainMarks.Replace(visible.Line(s.Objective)), objectiveColumns, "…")
	}
	if changed {
		line += l.Say(", **changed by other hands** (`%s log %s --verify`)", l.Names.Program, s.TaskName)
	}
	if altered {
		line += l.Say(", **not as you approved it** (`%s status %s`)", l.Names.Program, s.TaskName)
	}
	l.lines = append(l.lines, line)
}

// Text returns the message.
func (l *List) Text() string {
	text := l.Say("This project has no run yet.\n\n**You can now** say what you want to build.")
	switch {
	case l.Total == 0 && l.Broken > 0:
		text = l.Say("This project has no run that can be read.\n\n**You can now** repair the files, or say what you want to build.")
	case l.Total > 0:
		text = l.Say("This project has %s, %d of them active.", l.Count(l.Total, "session"), l.Active) + "\n" + strings.Join(l.lines, "")
		if rest := l.Total - len(l.lines); rest > 0 {
			text += "\n- " + l.Say("… and %d older", rest)
		}
		if l.Active > 0 {
			text += "\n\n" + l.Say("**You can now** name one to go on with, or say what else to build.")
		} else {
			text += "\n\n" + l.Say("**You can now** say what to build next, or name a completed one and the stage to reopen.")
		}
	}
	if l.Broken > 0 {
		text += "\n\n" + l.Say("%s cannot be read and stayed as found.", l.Count(l.Broken, "session file"))
	}
	return text
}
