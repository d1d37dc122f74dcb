package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
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

// headline says which task this is and where it stands.
func (r run) headline(s *workflow.Session) string {
	return fmt.Sprintf("**%s** · %s\n%s", s.TaskName, r.place(s), Pipeline(r.workflow(s), s))
}

// place says at which stage of how many a session stands, or how it ended.
func (r run) place(s *workflow.Session) string {
	w := r.workflow(s)
	place := fmt.Sprintf("stage %d of %d, %s", w.Index(s.CurrentStage)+1, len(w.Stages), r.stage(s).Role)
	switch s.CurrentState {
	case workflow.Completed:
		place = "complete"
		if open := r.unbuilt(s); len(open) > 0 {
			place += ", but for " + sprintList(open)
		}
	case workflow.Cancelled:
		place = "cancelled"
	}
	return place
}

func points(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// standing says how the stage's document was scored: by the assistant, and by the server.
func (r run) standing(s *workflow.Session) string {
	rec, p := s.Current(), r.policy(s)
	if rec.Score == nil || p.GateScore == nil {
		return auditText(rec.Audit)
	}
	var claim string
	gate := "the gate is " + points(*p.GateScore)
	switch {
	case rec.ClaimedScore == nil && rec.EstimatedScore == nil: // an older server kept one score of either kind
		claim = fmt.Sprintf("Score %s of 100", points(*rec.Score))
	case rec.ClaimedScore == nil && rec.ScoreNote != "":
		claim = fmt.Sprintf("%s; our estimate is %s of 100", clip(visible.Line(rec.ScoreNote), 300), points(*rec.Score))
		gate = "the gate asks for a stated " + points(*p.GateScore)
	case rec.ClaimedScore == nil:
		claim = fmt.Sprintf("No score was stated; our estimate is %s of 100", points(*rec.Score))
		gate = "the gate asks for a stated " + points(*p.GateScore)
	default:
		claim = fmt.Sprintf("Score: claims %s of 100", points(*rec.Score))
		if rec.ScoreNote != "" {
			claim += " (" + clip(visible.Line(rec.ScoreNote), 300) + ")"
		}
	}
	if rec.Audit == nil {
		return claim + "; " + gate + "."
	}
	audit := ", audit " + points(rec.Audit.Score)
	if p.Scoring == workflow.ScoringAudited {
		gate += " for both"
	}
	if rec.Audit.Summary != "" {
		return claim + audit + "; " + gate + ".\nThe audit found: " + rec.Audit.Summary + "."
	}
	return claim + audit + "; " + gate + "."
}

// auditText says what an audit found where no score has to reach a gate.
func auditText(a *workflow.Audit) string {
	if a == nil {
		return ""
	}
	text := fmt.Sprintf("Audit %s of 100", points(a.Score))
	if a.Summary != "" {
		text += ": " + a.Summary
	}
	return text + "."
}

// message says where the session stands and what the human can do now.
func (r run) message(s *workflow.Session) string {
	st, rec := r.stage(s), s.Current()
	target := r.artifactPath(s, st)
	draft := r.draftPlace(s, rec)
	switch s.CurrentState {
	case workflow.Generating:
		if r.asksScope(s) {
			return r.devMessage(s)
		}
		if w := r.workflow(s); w.StartsByBuilding(st) && rec.Iteration == 0 {
			return fmt.Sprintf("The %s now proposes the scope of the change; nothing is changed before you have approved it. Nothing is needed from you; say so if you want to steer it first.", st.Role)
		}
		stale := ""
		if rec.Artifact != nil && rec.Artifact.Stale {
			stale = fmt.Sprintf(" Its earlier version `%s` is out of date: it is worked over, not reused.", rec.Artifact.Path)
		}
		return fmt.Sprintf("The %s now %s.%s Nothing is needed from you; say so if you want to steer it first.", st.Role, st.Description, stale)
	case workflow.Refining:
		if r.continuing(s) {
			return r.devMessage(s)
		}
		return r.refiningMessage(s, st, rec)
	case workflow.Clarifying:
		return r.questionsMessage(s, st, rec, draft)
	case workflow.AwaitingConfirmation:
		if r.draftEdited(s) {
			return r.editedMessage(s, draft)
		}
		return r.gateMessage(s, draft, target)
	case workflow.AwaitingApproval:
		if r.resubmittable(s) && r.draftEdited(s) {
			return r.editedMessage(s, draft)
		}
		return r.gateMessage(s, draft, target)
	case workflow.Completed:
		return r.completedMessage(s)
	case workflow.Cancelled:
		saved := ""
		if len(s.Artifacts) > 0 {
			saved = " What was saved stays in `" + taskFolder(s) + "`."
		}
		return "This run is cancelled." + saved + "\n\n**You can now** start a new one."
	}
	return ""
}

// questionsMessage puts a stage's questions to the human.
func (r run) questionsMessage(s *workflow.Session, st workflow.Stage, rec *workflow.Record, draft string) string {
	var b strings.Builder
	b.WriteString(r.standing(s))
	if draft != "" {
		b.WriteString("\nDraft: " + draft)
	}
	fmt.Fprintf(&b, "\n\nThe %s asks:\n", st.Role)
	for _, q := range rec.Questions {
		fmt.Fprintf(&b, "- **%s** %s", q.ID, said(q.Question, len(q.Question)))
		if len(q.Options) > 0 {
			b.WriteString(" — " + optionList(q.Options))
		}
		if q.Context != "" {
			b.WriteString(" (" + said(q.Context, len(q.Context)) + ")")
		}
		b.WriteString("\n")
	}
	if r.way(s) == byOwnAct {
		return b.String() + "\n" + r.ownAct(s)
	}
	return b.String() + "\n**You can now** answer in your own words; leave out what you do not know."
}

// firstOpen is the number of a sprint that can be named as an example.
func firstOpen(s *workflow.Session) int {
	if open := s.OpenSprints(workflow.SprintPending); len(open) > 0 {
		return open[0]
	}
	return s.Sprints[0].Number
}

// editedMessage offers what is possible with a draft that was edited at its gate.
func (r run) editedMessage(s *workflow.Session, draft string) string {
	again := "it is submitted as it is now, and comes back to you"
	if r.stage(s).Gate == workflow.GateScore {
		again = "the assistant assesses the text as it is now, puts its score into it (a line `Quality Score: n/100`) and submits it; it comes back to you"
	}
	return strings.TrimSpace(fmt.Sprintf("%s\nThe draft was changed after it was handed in: %s\n\n**You can now**\n- say **submit my edit**: %s\n- or say what to change: it goes into another round",
		r.standing(s), draft, again))
}

// draftPlace says where the current stage's document is. Sessions of older servers
// can have it in themselves, or none.
func (r run) draftPlace(s *workflow.Session, rec *workflow.Record) string {
	if rec.FinalResultRef != nil {
		return "`" + r.draftPath(s) + "`"
	}
	if refs := rec.Refs(); len(refs) > 0 {
		return "`" + refs[0].FilePath + "`"
	}
	if rec.InlineDraft() != "" {
		return fmt.Sprintf("in the session file `%s`, under stages.%s.draft", store.SessionPath(s.SessionID), s.CurrentStage)
	}
	return ""
}

func (r run) refiningMessage(s *workflow.Session, st workflow.Stage, rec *workflow.Record) string {
	var b strings.Builder
	// What was shown at the last gate or question is not told again.
	if standing := r.standing(s); standing != "" && st.Gate == workflow.GateScore && s.Moved().Event == workflow.EventScoredBelow {
		b.WriteString(standing + "\n")
	}
	fmt.Fprintf(&b, "Round %d: the %s now revises the %s.", rec.Iteration+1, st.Role, st.DocumentName)
	if rec.Feedback != "" {
		b.WriteString("\nYour feedback: " + clip(rec.Feedback, 300))
	}
	if s.Moved().Event == workflow.EventScoredBelow {
		b.WriteString(list("To close:", rec.Gaps))
	}
	if st.Kind == workflow.KindBuild && s.ReworkCount > 0 {
		fmt.Fprintf(&b, "\nRework %d", s.ReworkCount)
		if most := r.project.Config.MaxRework; s.ReworkCount <= most {
			fmt.Fprintf(&b, " of %d", most)
		}
		b.WriteString(".")
	}
	switch {
	case unexplained(s):
		b.WriteString("\n\n**You can now** say what is to change: nothing was said yet.")
	default:
		b.WriteString("\n\nNothing is needed from you now.")
	}
	return b.String()
}

func (r run) devMessage(s *workflow.Session) string {
	if len(s.Sprints) == 0 {
		return "The plan has no numbered sprints, so it is built as one piece.\n\n**You can now** say **start development**, or say what to build first."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The plan has %s:\n", count(len(s.Sprints), "sprint"))
	for _, sp := range s.Sprints {
		fmt.Fprintf(&b, "- Sprint %d: %s — %s\n", sp.Number, sp.Title, sp.Status)
	}
	if len(s.OpenSprints(workflow.SprintDone)) == len(s.Sprints) {
		b.WriteString("\nAll of them were built before. **You can now** say which to go through again, or **start development** for all.")
		return b.String()
	}
	fmt.Fprintf(&b, "\n**You can now**\n- say **start development**: all open sprints are built\n- or name some: “implement sprint %d”", firstOpen(s))
	return b.String()
}

// findingLine is a finding in one line, without what it does not say.
func findingLine(f workflow.Finding) string {
	head := strings.Join(strings.Fields(f.ID+" "+f.Severity+" "+f.File), " ")
	return strings.TrimSuffix(head+": "+f.Problem, ": ")
}

func (r run) completedMessage(s *workflow.Session) string {
	var b strings.Builder
	open := r.unbuilt(s)
	if len(open) > 0 {
		fmt.Fprintf(&b, "What was in scope is done; %s not built yet. The documents:\n", sprintsAre(open))
	} else {
		b.WriteString("All stages are done. The documents:\n")
	}
	for _, p := range s.Artifacts {
		fmt.Fprintf(&b, "- `%s`%s\n", p, r.sinceSaved(s, p))
	}
	if s.ReworkCount > 0 {
		fmt.Fprintf(&b, "The work went back to the developer %s.\n", count(s.ReworkCount, "time"))
	}
	if len(open) > 0 {
		fmt.Fprintf(&b, "\n**You can now** reopen %s to go on with %s, or leave it at that.", r.builder(s), sprintList(open))
		return b.String()
	}
	b.WriteString("\n**You can now** review and commit them, or reopen a stage to change something.")
	return b.String()
}

// sinceSaved says what has become of an artifact, or nothing.
func (r run) sinceSaved(s *workflow.Session, name string) string {
	for _, st := range r.workflow(s).Stages {
		if a := s.Record(st.ID).Artifact; a != nil && a.Path == name {
			switch artifact.StateOf(r.project.Dir, *a) {
			case artifact.Missing:
				return " — **missing on disk**"
			case artifact.Modified:
				return " — modified since it was saved"
			}
			return ""
		}
	}
	if !r.project.Dir.Exists(name) {
		return " — **missing on disk**"
	}
	return ""
}

// count says "1 sprint", "2 sprints".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// sprintsAre says "sprint 2 is", "sprints 2, 3 are".
func sprintsAre(numbers []int) string {
	if len(numbers) == 1 {
		return sprintList(numbers) + " is"
	}
	return sprintList(numbers) + " are"
}

// sprintList says "sprint 2", "sprints 2, 3".
func sprintList(numbers []int) string {
	if len(numbers) == 1 {
		return "sprint " + joinInts(numbers)
	}
	return "sprints " + joinInts(numbers)
}

func joinInts(numbers []int) string {
	more := ""
	if len(numbers) > 30 {
		numbers, more = numbers[:30], ", …"
	}
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ", ") + more
}

// list renders a titled list of at most ten lines, or nothing.
func list(title string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + title)
	for i, item := range items {
		if i == 10 {
			fmt.Fprintf(&b, "\n- … and %d more", len(items)-i)
			break
		}
		b.WriteString("\n- " + said(item, 300))
	}
	return b.String()
}
