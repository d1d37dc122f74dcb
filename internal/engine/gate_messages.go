package engine

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// options says what the human can do at a gate: in their words where the assistant passes
// them on, else by which act of their own.
func (r run) options(s *workflow.Session, ways ...string) string {
	if r.spoiled(s) {
		return "The draft is not what was handed in: it is missing, or was changed since. **You can now** restore the file, or say what to change."
	}
	switch r.way(s) {
	case byForm:
		return "**You can now** decide in the form that follows, or view the document first."
	case byFormAgain:
		return "It waits. **You can now** say **decide** when you are ready, and the form comes back; or say what to change; or type `bmad-mcp " + terminalCommand(s) + "` in a terminal."
	case byHost:
		if r.overrides(s) || r.blocked(s) {
			return "**You can now** read it and\n- " + strings.Join(ways, "\n- ") + "\n\nYour host then asks you about the assistant's call of bmad-confirm."
		}
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

// gateMessage is what a person reads where the session waits for their decision: a digest
// of the document, and what they can do.
func (r run) gateMessage(s *workflow.Session, draft, target string) string {
	options := r.gateOptions(s, target)
	size := lines
	if way := r.way(s); way == byForm || way == byFormAgain {
		size = rows // the form takes half of the screen
	}
	room := digestLines - size(r.headline(s)) - size(options) - 2 // empty lines
	return r.digest(s, draft).render(room, size) + "\n\n" + options
}

// gateOptions says what the person can do at a gate.
func (r run) gateOptions(s *workflow.Session, target string) string {
	st := r.stage(s)
	switch {
	case s.CurrentState == workflow.AwaitingConfirmation:
		return r.options(s,
			fmt.Sprintf("say **confirm**: it is saved as `%s` and the next stage begins", target),
			"or say what to change: it goes into another round")
	case st.Gate == workflow.GateApproval:
		yes := fmt.Sprintf("say **approve**: it is saved as `%s` and the next stage begins", target)
		switch st.Kind {
		case workflow.KindBuild:
			yes = "say **approve**: the " + st.Role + " makes this change, and nothing else"
		case workflow.KindPlan:
			if r.builder(s) != "" {
				yes = fmt.Sprintf("say **approve**: it is saved as `%s` and development can begin", target)
			}
		}
		return r.options(s, yes, "or say what to change")
	case st.Gate == workflow.GateScore:
		return r.options(s,
			fmt.Sprintf("say **go on**, and what to change, cut or add: you are asked again after at most %s", count(r.project.Config.MaxIterations, "round")),
			fmt.Sprintf("or say **accept it**, and why: it is saved as `%s` with your reason, and the next stage begins", target),
			elsewhere(r.workflow(s), st))
	case r.blocked(s):
		return r.options(s,
			"say what you did or decided, or how to go on without it: the "+st.Role+" goes on with your words",
			"or **cancel**")
	}
	back := "say **send it back**: the developer gets these findings"
	if s.Current().Doubted() && !r.reworkSpent(s) {
		return r.options(s, back, "or say **it passes**: it goes on, and `"+target+"` records that you let it")
	}
	if r.reworkSpent(s) {
		risk := fmt.Sprintf("or say **accept the risk**, and why: it goes on as it is, and `%s` records your reason", target)
		return r.options(s, back, risk, elsewhere(r.workflow(s), st))
	}
	return r.options(s, back, fmt.Sprintf("or say **accept the risk**: it goes on as it is, and `%s` records that", target))
}

// labelled names something; "" where there is nothing to name.
func labelled(label, what string) string {
	if what == "" {
		return ""
	}
	return label + what
}

// digest gathers what speaks for and against the document that waits. The draft is left
// out where it is named elsewhere.
func (r run) digest(s *workflow.Session, draft string) digest {
	var d digest
	st, rec := r.stage(s), s.Current()
	if draft != "" && r.draftState(s) == artifact.Missing {
		draft += " — **missing on disk**: restore it, or ask for another round"
	}
	d.add(goal(s))
	switch {
	case st.Gate == workflow.GateScore:
		d.add(r.standing(s))
		if s.CurrentState == workflow.AwaitingApproval {
			d.add(fmt.Sprintf("After %s it has not reached the gate; from here it goes on as you decide.", count(roundsBelow(s), "round")))
		}
		d.add(r.changed(s))
		d.add(labelled("Draft: ", draft))
		d.quote(map[bool]string{true: "Still missing:", false: "Known gaps:"}[s.CurrentState == workflow.AwaitingApproval], rec.Gaps)
	case st.Gate == workflow.GateApproval:
		d.add(labelled("The "+st.DocumentName+" is ready: ", draft))
		d.add(r.changed(s))
		d.spare(auditText(rec.Audit))
		if len(s.Sprints) == 0 && st.Kind == workflow.KindPlan {
			d.add("It has no heading of the form `## Sprint 1: title`, so it counts as one piece of work.")
		}
		d.list("Its sprints:", sprintTitles(s))
		d.quote("To look at:", rec.Gaps)
	case rec.Verdict == workflow.Blocked:
		needs := "the report does not say what."
		if rec.Needs != "" {
			needs = said(rec.Needs, 300)
		}
		d.add(fmt.Sprintf("The %s is **blocked** and needs something from you: %s", st.Role, needs))
		r.reported(s, &d, draft)
	default:
		if rec.Doubted() {
			d.add(fmt.Sprintf("The %s states a **pass**, but %s against it, so you decide.", st.Role, speaks(rec)))
		} else {
			d.add(fmt.Sprintf("The %s **failed** the work%s.", st.Role, tally(s)))
		}
		if r.reworkSpent(s) {
			d.add(fmt.Sprintf("The work has come back %s already, and may go on coming back.", count(s.ReworkCount, "time")))
		}
		r.reported(s, &d, draft)
	}
	return d
}

func sprintTitles(s *workflow.Session) []string {
	var out []string
	for _, sp := range s.Sprints {
		out = append(out, fmt.Sprintf("Sprint %d: %s", sp.Number, said(sp.Title, 120)))
	}
	return out
}

// elsewhere is what is left besides going on or back.
func elsewhere(w *workflow.Definition, st workflow.Stage) string {
	if st.ID == w.First().ID {
		return "or **cancel**"
	}
	return "or **reopen** an earlier stage, or **cancel**"
}

// reported adds what a review or QA report came to, beside its verdict.
func (r run) reported(s *workflow.Session, d *digest, draft string) {
	rec := s.Current()
	d.add(labelled("Report: ", draft))
	if r.draftEdited(s) {
		d.add("It was changed after it was handed in, and counts as it was judged.")
	}
	d.add(progressText(rec.Progress))
	if e := evidenceFor(s); e != nil {
		text := evidenceText(e) + "."
		if e.Failed() && strings.TrimSpace(e.Tail) != "" {
			text += " Its output ends: " + said(lastLine(e.Tail), 160)
		}
		d.add(text)
	}
	d.spare(auditText(rec.Audit))
	d.list("Against it:", plain(rec.Objections))
	var open []string
	for _, f := range worstFirst(workflow.OpenFindings(rec.Findings)) {
		open = append(open, findingLine(f))
	}
	for _, c := range workflow.FailedCriteria(rec.Criteria) {
		open = append(open, criterionLine(c))
	}
	d.quote("Open findings:", open)
}

// lastLine returns the last line of a text that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// facts says what is true about what waits, as plain text behind the first lines of a form
// or at a terminal.
func (r run) facts(s *workflow.Session) string {
	if s.CurrentState == workflow.Clarifying {
		return ""
	}
	return unmarked.Replace(r.digest(s, "").with(digestWay{most: 10, first: 300, next: 300, spare: true}))
}
