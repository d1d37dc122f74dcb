package engine

import (
	"fmt"
	"strings"

	"bmad-mcp/internal/workflow"
)

// options says what the human can do at a gate: in their words where the assistant passes
// them on, else by which act of their own.
func (r run) options(s *workflow.Session, ways ...string) string {
	if r.spoiled(s) {
		return "The draft is not what was handed in: it is missing, or was changed since. **You can now** restore the file, or say what to change."
	}
	switch r.way(s) {
	case byForm:
		return "**You can now** read it; a form asks for your decision."
	case byFormAgain:
		return "It waits. **You can now** say **decide** when you are ready, and a form asks again; or say what to change; or type `bmad-mcp " + terminalCommand(s) + "` in a terminal."
	case byHost:
		return "**You can now** read it; your host asks you about the assistant's call of bmad-confirm. Allow it to approve; or decline it and say what to change."
	case byOwnAct:
		return r.ownAct(s)
	}
	return "**You can now** read it and\n- " + strings.Join(ways, "\n- ")
}

// ownAct says how the human decides by themselves.
func (r run) ownAct(s *workflow.Session) string {
	act := "type `bmad-mcp " + terminalCommand(s) + "` in a terminal"
	if r.req.HostConfirm && s.CurrentState.Gated() {
		act += ", or let the assistant call bmad-confirm, about which your host asks you"
	}
	return "**It waits for you.** Only your own act counts here, not the assistant's word for it: " + act + ". Then tell the assistant to go on."
}

func (r run) approvalMessage(s *workflow.Session, st workflow.Stage, rec *workflow.Record, draft, artifact string) string {
	switch {
	case st.Gate == workflow.GateApproval:
		return r.planMessage(s, st, rec, draft, artifact)
	case st.Gate == workflow.GateScore:
		return fmt.Sprintf("%s\nDraft: %s\nAfter %s it has not reached the gate; from here it goes on as you decide.%s\n\n",
			r.standing(s), draft, count(roundsBelow(s), "round"), list("Still missing:", rec.Gaps)) + r.options(s,
			fmt.Sprintf("say **go on**, and what to change, cut or add: you are asked again after at most %s", count(r.project.cfg.MaxIterations, "round")),
			fmt.Sprintf("or say **accept it**, and why: it is saved as `%s` with your reason, and the next stage begins", artifact),
			r.elsewhere(st))
	case rec.Verdict == workflow.Blocked:
		needs := oneLine(rec.Needs)
		if needs == "" {
			needs = "the report says what."
		}
		return fmt.Sprintf("The %s is **blocked** and needs something from you: %s\nReport: %s%s\n\n", st.Role, needs, draft, reported(s)) + r.options(s,
			"say what you did or decided, or how to go on without it: the "+st.Role+" goes on with your words",
			"or **cancel**")
	}
	return r.failedMessage(s, st, draft, artifact)
}

// elsewhere is what is left besides going on or back.
func (r run) elsewhere(st workflow.Stage) string {
	if st.ID == r.project.cfg.Workflow.First().ID {
		return "or **cancel**"
	}
	return "or **reopen** an earlier stage, or **cancel**"
}

func (r run) planMessage(s *workflow.Session, st workflow.Stage, rec *workflow.Record, draft, artifact string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s is ready: %s", st.DocumentName, draft)
	for _, sp := range s.Sprints {
		fmt.Fprintf(&b, "\n- Sprint %d: %s", sp.Number, sp.Title)
	}
	if len(s.Sprints) == 0 {
		b.WriteString("\nIt has no heading of the form `## Sprint 1: title`, so it counts as one piece of work.")
	}
	b.WriteString(list("To look at:", rec.Gaps))
	if audit := auditText(rec.Audit); audit != "" {
		b.WriteString("\n" + audit)
	}
	return b.String() + "\n\n" + r.options(s,
		fmt.Sprintf("say **approve**: it is saved as `%s` and development can begin", artifact),
		"or say what to change")
}

// failedMessage offers what is possible with work that a review or QA run failed.
func (r run) failedMessage(s *workflow.Session, st workflow.Stage, draft, artifact string) string {
	var b strings.Builder
	if s.Current().Doubted() {
		fmt.Fprintf(&b, "The %s states a **pass**, but something speaks against it, so you decide. Report: %s", st.Role, draft)
	} else {
		fmt.Fprintf(&b, "The %s **failed** the work. Report: %s", st.Role, draft)
	}
	if r.draftEdited(s) {
		b.WriteString("\nIt was changed after it was handed in, and counts as it was judged.")
	}
	b.WriteString(reported(s) + "\n\n")
	back := "say **send it back**: the developer gets these findings"
	risk := fmt.Sprintf("say **accept the risk**: it goes on as it is, and `%s` records that", artifact)
	if r.reworkSpent(s) {
		fmt.Fprintf(&b, "The work has come back %s already, and may go on coming back.\n\n", count(s.ReworkCount, "time"))
		risk = fmt.Sprintf("say **accept the risk**, and why: it goes on as it is, and `%s` records your reason", artifact)
		return b.String() + r.options(s, risk, r.elsewhere(st), "or "+back)
	}
	return b.String() + r.options(s, back, "or "+risk)
}

// reported is what a review or QA report came to, beside its verdict.
func reported(s *workflow.Session) string {
	rec := s.Current()
	var b strings.Builder
	if rec.Doubted() {
		b.WriteString(list("The report states a pass, but:", rec.Objections))
	} else {
		b.WriteString(list("The report contradicts itself:", rec.Objections))
	}
	var open []string
	for _, f := range workflow.OpenFindings(rec.Findings) {
		open = append(open, findingLine(f))
	}
	for _, c := range workflow.FailedCriteria(rec.Criteria) {
		open = append(open, strings.TrimSuffix(fmt.Sprintf("%s failed: %s", c.ID, c.Criterion), ": "))
	}
	b.WriteString(list("Open findings:", open))
	if text := progressText(rec.Progress); text != "" {
		b.WriteString("\n" + text)
	}
	if e := evidenceFor(s); e != nil {
		b.WriteString("\n" + evidenceText(e) + ".")
		if e.Failed() && e.Tail != "" {
			b.WriteString(" Its output ends:\n" + quoted(lastBytes(e.Tail, shownTail)))
		}
	}
	if audit := auditText(rec.Audit); audit != "" {
		b.WriteString("\n" + audit)
	}
	return b.String()
}

// quoted sets a program's output off from what we say.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n> ")
}

// facts says what is true about a document that waits, as plain text for a form or a terminal.
func (r run) facts(s *workflow.Session) string {
	st, rec := r.stage(s), s.Current()
	var b strings.Builder
	switch {
	case s.CurrentState == workflow.Clarifying:
		fmt.Fprintf(&b, "The %s asks about the %s.", st.Role, st.DocumentName)
	case st.Gate == workflow.GateScore:
		b.WriteString(r.standing(s))
		if s.CurrentState == workflow.AwaitingApproval {
			fmt.Fprintf(&b, "\nAfter %s it has not reached the gate.", count(roundsBelow(s), "round"))
		}
		b.WriteString(list("Known gaps:", rec.Gaps))
	case st.Gate == workflow.GateApproval:
		fmt.Fprintf(&b, "The %s is ready.", st.DocumentName)
		if audit := auditText(rec.Audit); audit != "" {
			b.WriteString(" " + audit)
		}
		var sprints []string
		for _, sp := range s.Sprints {
			sprints = append(sprints, fmt.Sprintf("Sprint %d: %s", sp.Number, sp.Title))
		}
		b.WriteString(list("Its sprints:", sprints) + list("To look at:", rec.Gaps))
	case rec.Verdict == workflow.Blocked:
		fmt.Fprintf(&b, "The %s is blocked and needs something from you: %s%s", st.Role, oneLine(rec.Needs), reported(s))
	case rec.Doubted():
		fmt.Fprintf(&b, "The %s states a pass, but something speaks against it.%s", st.Role, reported(s))
	default:
		fmt.Fprintf(&b, "The %s failed the work.%s", st.Role, reported(s))
	}
	return strings.NewReplacer("**", "", "`", "").Replace(strings.TrimSpace(b.String()))
}
