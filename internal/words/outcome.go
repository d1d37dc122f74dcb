package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Outcome describes the result of a stage's submission, before the message of where the session is
// now. work is the stage's working copy, resolved how many findings it reports resolved, and
// kept the place of an edited artifact that it replaced.
func Outcome(s *standing.Standing, from workflow.Stage, work string, resolved int, kept string) string {
	rec := s.Record(from.ID)
	if from.ID == s.CurrentStage && s.CurrentState != workflow.Completed {
		return ""
	}
	var b strings.Builder
	switch from.Gate {
	case workflow.GateVerdict:
		risk := ""
		if rec.Verdict == workflow.PassWithRisk {
			risk = " **with risk**"
		}
		fmt.Fprintf(&b, "The %s has **passed** the work%s; saved as `%s`.", from.Role, risk, s.ArtifactPath(from))
		if text := Progress(rec.Progress); text != "" {
			b.WriteString(" " + text)
		}
		if open := workflow.OpenFindings(rec.Findings); len(open) > 0 {
			fmt.Fprintf(&b, " Still open: %s.", findingIDs(open))
		}
	default:
		fmt.Fprintf(&b, "The %s is in", from.DocumentName)
		if len(rec.Scope) > 0 {
			fmt.Fprintf(&b, " for %s", sprintList(rec.Scope))
		}
		fmt.Fprintf(&b, ": `%s`.", work)
		if resolved > 0 {
			fmt.Fprintf(&b, " It reports %s resolved.", Count(resolved, "finding"))
		}
	}
	if rec.Evidence != nil {
		fmt.Fprintf(&b, "\n%s.", Evidence(rec.Evidence))
	}
	if audit := Audit(rec.Audit); audit != "" {
		b.WriteString("\n" + audit)
	}
	return b.String() + KeptNote(kept) + "\n\n"
}

// Decided describes the result of a decision at the gate of a stage. kept is as for [Outcome].
func Decided(s *standing.Standing, from workflow.Stage, g workflow.Grant, kept string) string {
	said := ""
	if a := s.Record(from.ID).Artifact; a != nil {
		said = fmt.Sprintf("Saved: `%s` (%d bytes).", a.Path, a.Size)
	}
	if s.Moved().Event == workflow.EventScopeApproved {
		said = "The scope is approved."
	}
	if g.Decision == workflow.DecisionOverride {
		said = "The risk is accepted and recorded. " + said
	}
	return GrantNote(g) + said + KeptNote(kept) + "\n\n"
}

// Undecided says that a question brought no decision, and why.
func Undecided(s *standing.Standing, why string) string {
	what := "No decision was taken"
	if s.CurrentState == workflow.Clarifying {
		what = "No answers were given"
	}
	return fmt.Sprintf("**%s:** %s. Nothing was changed.\n\n", what, why)
}

// Answered says how many questions were answered, and how many were left open.
func Answered(n, left int, channel workflow.Channel) string {
	said := Count(n, "answer") + " recorded"
	if channel == workflow.ChannelElicited {
		said += " from the form, in the human's own words"
	}
	if left > 0 {
		said += fmt.Sprintf(", %d left open", left)
	}
	return said + ".\n\n"
}

// Started says where a run and its documents are kept; project is named where its person may
// think of another one.
func Started(s *standing.Standing, project string) string {
	where := ""
	if project != "" {
		where = fmt.Sprintf(" in the project `%s`", project)
	}
	return fmt.Sprintf("Started%s. The run is kept in `%s`, its documents will be in `%s`.\n\n", where, s.SessionFile, s.Tasks)
}

// Reopened says to which stage the session went back, and which artifacts are out of date.
func Reopened(s *standing.Standing) string {
	said := fmt.Sprintf("Reopened %s.", s.CurrentStage)
	var stale []string
	for _, st := range s.Workflow.Stages {
		if a := s.Record(st.ID).Artifact; a != nil && a.Stale {
			stale = append(stale, "`"+a.Path+"`")
		}
	}
	if len(stale) > 0 {
		said += " Out of date until their stages are done again: " + strings.Join(stale, ", ") + "."
	}
	return said + "\n\n"
}

// Resumed names the objective.
func Resumed(s *standing.Standing) string { return "Objective: " + Clip(s.Objective, 300) + "\n\n" }

// EditsNote tells the person where edits of theirs are that a submission did not use.
func EditsNote(kept string) string {
	if kept == "" {
		return ""
	}
	return "The working copy had edits that this submission did not take; they are kept as `" + kept + "`.\n\n"
}

// KeptNote tells the person where their edited version of an artifact is.
func KeptNote(kept string) string {
	if kept == "" {
		return ""
	}
	return "\nYour edited version is kept as `" + kept + "`."
}

// OverrideNote heads a document that the person let go on though its gate had not. It gives
// the day and not the minute, so that a decision repeated after a crash writes the same
// document.
func OverrideNote(st workflow.Stage, rec *workflow.Record, grant workflow.Grant) string {
	what := fmt.Sprintf("the %s failed this work", st.Role)
	switch {
	case st.Gate == workflow.GateScore:
		what = "it had not reached its gate in " + Count(rec.Iteration, "round")
	case rec.Doubted():
		what = fmt.Sprintf("the %s stated a pass, but %s;", st.Role, strings.Join(rec.Objections, "; "))
	case rec.Verdict == workflow.Blocked:
		what = fmt.Sprintf("the %s was blocked", st.Role)
	}
	note := fmt.Sprintf("> **Risk accepted** on %s: %s and the human let it go on.", grant.At.Format(time.DateOnly), what)
	if words := strings.Join(strings.Fields(grant.Feedback), " "); words != "" {
		note += " Their words: “" + words + "”"
	}
	return note + "\n\n"
}

// Viewed shows the document that waits. shown is the part of it that fits, size the bytes of
// the whole.
func Viewed(s *standing.Standing, shown string, size int) string {
	end := ""
	if len(shown) < size {
		end = fmt.Sprintf("\n\n… The first %d of %d bytes; all of it is in `%s`.", len(shown), size, s.Draft.Path)
	}
	return fmt.Sprintf("Nothing was decided. The document, `%s`:\n\n---\n\n%s%s\n\n---\n\n%s", s.Draft.Path, visible.Text(shown), end,
		"Say **decide** when you are ready: the form asks again. Or say what to change.")
}

// NotViewed says that the document that waits cannot be read.
func NotViewed(s *standing.Standing, err error) string {
	return fmt.Sprintf("The document `%s` cannot be read: %v. Nothing was decided.", s.Draft.Path, err)
}

// Refinement is the short prompt of a later round: what changes, and the form.
func Refinement(st workflow.Stage, rec *workflow.Record, later string) string {
	if rec.Verdict == workflow.Blocked {
		later = "You were blocked; what the human did or decided is in context.feedback. Go on with it, and report on the whole again.\n\n" + later
	}
	return "You are still the " + st.Role + ". This is round " + strconv.Itoa(rec.Iteration+1) + " of the " + st.DocumentName +
		"; your last version is at draft.path; people may have edited it. Edit it there. Work in context.user_answers, context.feedback, gaps and findings of this reply.\n\n" + later
}

// Persona introduces a role prompt by the agent who acts in the stage.
func Persona(agent string) string {
	return agent + "\n\nThis persona is how you speak and judge. What you hand in, and in which form, is what follows.\n\n"
}

// NoPersona says that there is no agent to act as, and why.
func NoPersona(err error) string {
	return "The settings ask for the BMAD agent of this stage, and there is none to act as (" + Clip(err.Error(), 300) + "). Tell the person in a line, and act in the role below.\n\n"
}
