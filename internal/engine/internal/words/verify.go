package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Evidence says in one line how a command ended, and the facts that the person should know about
// it.
func Evidence(e *workflow.Evidence) lang.Text {
	text := Result(e)
	if e.Changed != "" {
		text = lang.T("%s; changed during the run: %s", text, visible.Line(e.Changed))
	}
	if len(e.Notes) > 0 {
		text = lang.T("%s; note: %s", text, visible.Line(strings.Join(e.Notes, "; ")))
	}
	return text
}

// Result says in one line how a command ended.
func Result(e *workflow.Evidence) lang.Text {
	command := "`" + visible.Fit(visible.Line(e.Command), 120) + "`"
	switch {
	case e.NotRun != "":
		return lang.T("%s was not run: %s", command, visible.Line(e.NotRun))
	case e.TimedOut:
		return lang.T("%s was ended after %s", command, time.Duration(e.TookMS)*time.Millisecond)
	case e.ExitCode != 0:
		return lang.T("%s failed with exit code %d", command, e.ExitCode)
	}
	return lang.T("%s passed", command)
}

// HistoryEvidence returns a submission's evidence as the history records it.
func HistoryEvidence(l lang.Language, e *workflow.Evidence) string {
	if e == nil {
		return ""
	}
	return strings.ReplaceAll(visible.Line(Evidence(e).In(l)), "`", "")
}

// VerifyChange says how a session's verify command changes.
func VerifyChange(before, after workflow.VerifyCommand) lang.Text {
	was, is := Command(before), Command(after)
	switch {
	case after.Instead != nil:
		return lang.T("%s, and %s still counts", Instead(*after.Instead), was)
	case before.Command == after.Command && before.SetBy == after.SetBy:
		return lang.T("%s is configured again", was)
	}
	return lang.T("%s → %s", was, is)
}

// Instead names the command configured in place of a kept one.
func Instead(command string) lang.Text {
	if command == "" {
		return lang.T("the configuration no longer names one")
	}
	return lang.T("the configuration names `%s` instead", visible.Fit(command, 120))
}

// Command names a command and who has set it.
func Command(c workflow.VerifyCommand) lang.Text {
	if c.Command == "" {
		return lang.T("none")
	}
	by := lang.T("the project's file")
	switch c.SetBy {
	case workflow.SetByPerson:
		by = lang.T("your own file")
	case workflow.SetByEnvironment:
		by = lang.T("a variable")
	case workflow.SetAtGate:
		by = lang.T("your choice at the gate")
	}
	return lang.T("`%s` (%s)", visible.Fit(c.Command, 120), by)
}

// PolicyChanges says which gates and pauses of a workflow ask for something else than before: one text for the stages of
// which the same is true.
func PolicyChanges(w *workflow.Definition, before, after map[workflow.StageID]workflow.Policy) (out []lang.Text) {
	var changes []string
	stages := map[string][]string{}
	for _, st := range w.Stages {
		was, is := before[st.ID], after[st.ID]
		hasNoEffect := !w.Gated(st) && was.Pause == is.Pause
		if was.Same(is) || hasNoEffect {
			continue
		}
		change := policyChange(was, is)
		if stages[change] == nil {
			changes = append(changes, change)
		}
		stages[change] = append(stages[change], string(st.ID))
	}
	for _, change := range changes {
		out = append(out, lang.T("%s: %s", strings.Join(stages[change], ", "), change))
	}
	return out
}

// policyChange describes two policies, with the audit floor only if both have another.
func policyChange(before, after workflow.Policy) string {
	was, is := policyText(before), policyText(after)
	if floors := before.AuditFloor != nil && after.AuditFloor != nil; floors && *before.AuditFloor != *after.AuditFloor {
		was, is = was+", audit_floor "+Points(*before.AuditFloor), is+", audit_floor "+Points(*after.AuditFloor)
	}
	return was + " → " + is
}

func policyText(p workflow.Policy) string {
	text := string(p.Gate)
	if p.GateScore != nil {
		text += fmt.Sprintf(", %s %s", p.Scoring, Points(*p.GateScore))
	}
	if p.Approvers != nil {
		text += ", approvers: " + strings.Join(p.Approvers, ", ")
	}
	if p.Watched() {
		text += ", four_eyes"
	}
	if p.Quorum > 1 {
		text += fmt.Sprintf(", quorum %d", p.Quorum)
	}
	if p.Proved != "" {
		text += ", ran: " + string(p.Proved)
	}
	if p.Pause == workflow.PauseStages {
		text += ", pause: " + string(p.Pause)
	}
	return text
}

// NotAllowed says that the person has not allowed a command, and how to.
func NotAllowed(n standing.Names) lang.Text {
	return lang.T("you have not allowed it in this project yet; in a terminal: %s allow", n.Program)
}

const maxNotes = 5

// Scripts joins the notes on files that have changed, and says how to settle it.
func Scripts(notes []lang.Text, n standing.Names) []lang.Text {
	if more := len(notes) - maxNotes; more > 0 {
		notes = append(notes[:maxNotes:maxNotes], lang.T("and %d more files have", more))
	}
	if last := len(notes) - 1; last >= 0 {
		notes[last] = lang.T("%s (to see and settle it: %s allow)", notes[last], n.Program)
	}
	return notes
}
