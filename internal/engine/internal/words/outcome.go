package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// Outcome describes the result of a stage's submission, before the message about the place of the session now.
// work is the stage's working copy, resolved the number of findings reported as resolved, and kept the place of a
// replaced artifact with edits.
func Outcome(s *standing.Standing, from workflow.Stage, work string, resolved int, kept string) string {
	rec := s.Session.Record(from.ID)
	if from.ID == s.Session.CurrentStage && s.Session.CurrentState != workflow.Completed {
		return ""
	}
	var b strings.Builder
	switch from.Gate {
	case workflow.GateVerdict:
		risk := ""
		if rec.Verdict == workflow.PassWithRisk {
			risk = s.Say(" **with risk**")
		}
		b.WriteString(s.Say("The %s has **passed** the work%s; saved as `%s`.", s.Word(from.Role), risk, s.ArtifactPath(from)))
		if text := Rows(s.Language, rec.Criteria); text != "" {
			b.WriteString(s.Say(" %s.", text))
		}
		b.WriteString(addLabel(" ", judgedBy(s, rec)))
		b.WriteString(addLabel(" ", Progress(s.Language, rec.Progress)))
		if open := workflow.OpenFindings(rec.Findings); len(open) > 0 {
			var ids []string
			for _, f := range open[:min(len(open), 10)] {
				ids = append(ids, strings.TrimSpace(f.ID+" "+f.Severity))
			}
			if more := len(open) - len(ids); more > 0 {
				ids = append(ids, s.Say("and %d more", more))
			}
			b.WriteString(s.Say(" Still open: %s.", strings.Join(ids, s.Say(", "))))
		}
	default:
		b.WriteString(s.Say("The %s is in", from.DocumentIn(s.Language)))
		if len(rec.Scope) > 0 {
			b.WriteString(s.Say(" for %s", sprintList(s, rec.Scope)))
		}
		b.WriteString(s.Say(": `%s`.", work))
		if resolved > 0 {
			b.WriteString(s.Say(" It reports %s resolved.", s.Count(resolved, "finding")))
		}
	}
	if rec.Evidence != nil {
		b.WriteString("\n" + s.Say("%s.", Evidence(rec.Evidence)))
	}
	b.WriteString(addLabel("\n", Audit(s.Language, rec.Audit)))
	b.WriteString(addLabel("\n", compareCandidates(s, rec)))
	b.WriteString(addLabel("\n", unwrittenNote(s, rec.Artifact)))
	return b.String() + keptNote(s, kept) + "\n\n"
}

// Decided describes the result of a decision at the gate of a stage. kept is as for [Outcome].
func Decided(s *standing.Standing, from workflow.Stage, g workflow.Grant, kept string) string {
	said := ""
	if a := s.Session.Record(from.ID).Artifact; a != nil {
		if said = unwrittenNote(s, a); said == "" {
			said = s.Say("Saved: `%s` (%d bytes).", a.Path, a.Size)
		}
	}
	if s.Session.Moved().Event == workflow.EventScopeApproved {
		said = s.Say("The scope is approved.")
	}
	if g.Decision == workflow.DecisionOverride {
		said = s.Say("The risk is accepted and recorded. ") + said
	}
	if g.Offer != nil {
		said += s.Say(" The server runs `%s` at %s.", g.Offer.Command, offerStages(s))
	}
	if from.Gate == workflow.GateVerdict {
		if text := Rows(s.Language, s.Session.Record(from.ID).Criteria); text != "" {
			said = strings.TrimSpace(said) + s.Say(" %s.", text)
		}
	}
	if n := len(s.Session.Handed()); n > 0 && s.Session.CurrentState.Active() {
		said += s.Say(" Comments for the next stage: %d.", n)
	}
	return GrantNote(s.Language, g) + said + keptNote(s, kept) + "\n\n"
}

// unwrittenNote says that the file of an artifact is missing: the session has the text, and the next call writes
// it. "" if the file exists.
func unwrittenNote(s *standing.Standing, a *workflow.Artifact) string {
	if a == nil || !slices.Contains(s.Unwritten, a.Path) {
		return ""
	}
	return s.Say("The document is stored, but `%s` cannot be written now: make room for it, and the next step writes it.", a.Path)
}

// Undecided says that a question brought no decision, and why.
func Undecided(s *standing.Standing, why lang.Text) string {
	if s.Session.CurrentState == workflow.Clarifying && s.Call.Action != workflow.ActionConfirm {
		return s.Say("**No answers were given:** %s. Nothing was changed.", why) + "\n\n"
	}
	return s.Say("**No decision was taken:** %s. Nothing was changed.", why) + "\n\n"
}

// Answered says how many questions were answered, skipped, and left open.
func Answered(s *standing.Standing, n, skipped, left int, channel workflow.Channel) string {
	said := s.Say("%s recorded", s.Count(n, "answer"))
	if channel == workflow.ChannelElicited {
		said = s.Say("%s recorded from the form, in the human's own words", s.Count(n, "answer"))
	}
	if n == 0 && skipped > 0 {
		said, skipped = s.Say("%s skipped", s.Count(skipped, "question")), 0
	}
	if skipped > 0 {
		said += s.Say(", %d skipped", skipped)
	}
	if left > 0 {
		said += s.Say(", %d left open", left)
	}
	return s.Say("%s.", said) + "\n\n"
}

// Started is the message of a new run, in two lines: the stages and the places of the documents, and the next
// step. where is the project or the store, if the person may think of another one, else "". If settings is the
// file for it, the text says where the run stops.
func Started(s *standing.Standing, where, settings string) string {
	stop := ""
	if where != "" {
		where = s.Say(" in `%s`", where)
	}
	if settings != "" && !s.Pauses() {
		stop = describeStops(s, settings)
	}
	started := s.Say("**%s** has started%s: %s. Its documents will be in `%s`.%s", s.Session.TaskName, where, Pipeline(s.Workflow, s.Session), s.Tasks, stop)
	return started + "\n\n" + unmet(s) + Message(s)
}

// describeStops says where a run stops for the person, and how it stops before each stage, behind another sentence.
func describeStops(s *standing.Standing, settings string) string {
	var gates []string
	before := ""
	_, planned := s.Workflow.OfKind(workflow.KindPlan)
	for _, st := range s.Workflow.Stages {
		if st.Gate == workflow.GateScore || st.Gate == workflow.GateApproval {
			gates = append(gates, st.Label)
		} else if planned && st.Kind == workflow.KindBuild {
			before = s.Say(", before %s", st.Label)
		}
	}
	return s.Say(" It stops for you at questions, at the gates (%s)%s, and where work fails; with `pause: stages` in `%s` it also stops before each stage.", strings.Join(gates, s.Say(", ")), before, settings)
}

// Reopened says to which stage the session went back, and which artifacts are out of date.
func Reopened(s *standing.Standing) string {
	said := s.Say("Reopened %s.", s.Session.CurrentStage)
	var stale []string
	for _, st := range s.Workflow.Stages {
		if a := s.Session.Record(st.ID).Artifact; a != nil && a.Stale {
			stale = append(stale, "`"+a.Path+"`")
		}
	}
	if len(stale) > 0 {
		said += s.Say(" Out of date until their stages are done again: %s.", strings.Join(stale, ", "))
	}
	return said + "\n\n"
}

// EditsNote tells the person the place of edits of theirs that a submission did not use.
func EditsNote(l lang.Language, kept string) string {
	if kept == "" {
		return ""
	}
	return l.Say("The working copy had edits that this submission did not take; they are kept as `%s`.", kept) + "\n\n"
}

// keptNote tells the person the place of their edited version of an artifact.
func keptNote(s *standing.Standing, kept string) string {
	if kept == "" {
		return ""
	}
	return "\n" + s.Say("Your edited version is kept as `%s`.", kept)
}

// OverrideNote heads a document that the person let go on against the gate. It gives the day and not the minute,
// so that a decision repeated after a crash writes the same document.
func OverrideNote(l lang.Language, st workflow.Stage, rec *workflow.Record, grant workflow.Grant) string {
	on := grant.At.Format(time.DateOnly)
	note := l.Say("> **Risk accepted** on %s: the %s failed this work and the human let it go on.", on, l.Word(st.Role))
	switch {
	case st.Gate == workflow.GateScore:
		note = l.Say("> **Risk accepted** on %s: it had not reached its gate in %s and the human let it go on.", on, l.Count(rec.Iteration, "round"))
	case rec.Spent():
		note = l.Say("> **Risk accepted** on %s: the report of the %s has no verdict, because %s; and the human let it go on.", on, l.Word(st.Role), strings.Join(rec.Returned, "; "))
	case rec.Doubted():
		note = l.Say("> **Risk accepted** on %s: the %s reported %s, but %s; and the human let it go on.", on,
			l.Word(st.Role), story.Verdict(l, rec.Verdict), strings.Join(rec.Objections, "; "))
	case rec.Verdict == workflow.Blocked:
		note = l.Say("> **Risk accepted** on %s: the %s was blocked and the human let it go on.", on, l.Word(st.Role))
	}
	if words := strings.Join(strings.Fields(grant.Feedback), " "); words != "" {
		note += l.Say(" Their words: “%s”", words)
	}
	return note + "\n\n"
}

// TextGone says that the document of a question cannot be shown.
func TextGone(l lang.Language, draft string) string {
	return l.Say("The text that was scored is gone: %s was edited since. Nothing can be decided on it here; restore the file, or ask for another round.", draft)
}

// Viewed shows the waiting document. shown is the part that fits, size the bytes of the whole.
func Viewed(s *standing.Standing, shown string, size int) string {
	end := ""
	if len(shown) < size {
		end = "\n\n" + s.Say("… The first %d of %d bytes; all of it is in `%s`.", len(shown), size, s.Draft.Path)
	}
	return fmt.Sprintf("%s\n\n---\n\n%s%s\n\n---\n\n%s", s.Say("Nothing was decided. The document, `%s`:", s.Draft.Path), visible.Text(shown), end,
		s.Say("Say **decide** when you are ready: the form asks again. Or say what to change."))
}

// Refinement returns the short prompt of a later round: the changes, and the form.
func Refinement(s *standing.Standing, later string) string {
	st, rec, how := s.Stage, s.Session.Current(), "Edit it there."
	if s.Call.Inline {
		how = "Answer with the whole new version."
	}
	if len(rec.Returned) > 0 && s.Session.Moved().Event == workflow.EventReturned {
		if st.Kind == workflow.KindBuild {
			return "You are still the " + st.Role + ". Your report was returned: `returned` names the problem. It is at draft.path. " +
				"Build what is missing, or correct the report. " + how +
				" Then hand in the whole report again."
		}
		said := "You are still the " + st.Role + ". Your report was returned: `returned` lists what it lacks. It is at draft.path, and has to end with its block of JSON. " + how +
			" Correct the block and hand in the whole report again; test what the new rows need, and change nothing else."
		if s.Call.Action == workflow.ActionResume { // perhaps the conversation has not seen the form
			said += "\n\n" + later
		}
		return said
	}
	if rec.Verdict == workflow.Blocked {
		later = "You were blocked; what the human did or decided is in context.feedback. Go on with it, and report on the whole again.\n\n" + later
	}
	return "You are still the " + st.Role + ". This is round " + strconv.Itoa(rec.Iteration+1) + " of the " + st.DocumentName +
		"; your last version is at draft.path; people may have edited it. " + how + " Work in context.user_answers, context.feedback, gaps and findings of this reply.\n\n" + later
}

// TakeUp tells the author how to answer change requests, and about comments on the document
// that they work from.
func TakeUp(requests, comments int) string {
	said := ""
	if requests > 0 {
		said += "\n\nchange_requests are the human's comments on lines of your last version (of the report of `stage`, " +
			"where one is named). Take up each, and name each in `resolved` of the JSON block at the end: " +
			"{\"resolved\": [{\"id\": \"r1c1\", \"how\": \"…\"}]}. Where you do not follow one, add \"status\": " +
			"\"declined\" and give the reason in `how`."
	}
	if comments > 0 {
		said += "\n\ncontext.comments are the human's notes on the document before, which they approved: heed them."
	}
	return said
}
