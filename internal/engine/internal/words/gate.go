package words

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// nameChoices names the choices of the person at a gate: in their words if the assistant passes
// them on, else by which act of their own.
func nameChoices(s *standing.Standing, ways ...string) string {
	if s.Unusable() {
		return s.Say("The draft is not what was handed in: it is missing, or was changed since. **You can now** restore the file, or say what to change.")
	}
	if s.IsBarred() {
		return s.Say("**You can now** say what to change; or wait (%s).", mayDecide(s))
	}
	switch s.Route() {
	case standing.ByForm:
		return s.Say("**You can now** decide in the form that follows, or view the document first.")
	case standing.ByFormAgain:
		return s.Say("It waits. **You can now** say **decide** when you are ready, and the form comes back; or say what to change; or type `%s` in a terminal.", Terminal(s))
	case standing.ByHost:
		if s.Overrides() || s.Blocked() {
			return s.Say("**You can now** read it and\n- %s\n\nYour host then asks you about the assistant's call of %s.", strings.Join(ways, "\n- "), s.Names.Confirm)
		}
		return s.Say("**You can now** read it; your host asks you about the assistant's call of %s. Allow it to approve; or decline it and say what to change.", s.Names.Confirm)
	case standing.ByOwnAct:
		if s.Draft.Edit == nil || s.Policy.Gate == workflow.GateStrict {
			return ownAct(s)
		}
		return ownAct(s) + "\n" + s.Say("Or say what to change: another round starts from the text as it is now.")
	}
	if s.Call.Page != "" {
		ways = append(ways, s.Say("or decide on its page: %s", s.Call.Page))
	}
	return s.Say("**You can now** read it and\n- %s", strings.Join(ways, "\n- "))
}

// ownAct says how the person decides by themselves.
func ownAct(s *standing.Standing) string {
	switch {
	case s.Call.Waits && s.Call.Page != "":
		return s.Say("**It waits for you.** Only your own act counts here, not the assistant's word for it: open %s, or type `%s` in a terminal. The assistant goes on once you have decided.", s.Call.Page, Terminal(s))
	case s.Call.Waits && s.Route() == standing.ByOwnAct:
		return s.Say("**It waits for you.** Only your own act counts here, not the assistant's word for it: type `%s` in a terminal. The assistant goes on once you have decided.", Terminal(s))
	}
	if s.Call.HostConfirm && s.Session.CurrentState.Gated() && s.Draft.Edit == nil {
		return s.Say("**It waits for you.** Only your own act counts here, not the assistant's word for it: type `%s` in a terminal, or let the assistant call %s, about which your host asks you. Then tell the assistant to go on.", Terminal(s), s.Names.Confirm)
	}
	return s.Say("**It waits for you.** Only your own act counts here, not the assistant's word for it: type `%s` in a terminal. Then tell the assistant to go on.", Terminal(s))
}

// gateMessage returns the text for a person while the session waits for their decision: a digest
// of the document, and their choices.
func gateMessage(s *standing.Standing, draft, target string) string {
	options := gateOptions(s, target)
	size := countLines
	if way := s.Route(); way == standing.ByForm || way == standing.ByFormAgain {
		size = countRows // the form takes half of the screen
	}
	room := digestLines - size(Headline(s)) - size(options) - 2 // empty lines
	return digestOf(s, draft).render(room, size) + "\n\n" + options
}

func gateOptions(s *standing.Standing, target string) string {
	st := s.Stage
	switch {
	case s.Session.CurrentState == workflow.AwaitingConfirmation:
		return nameChoices(s,
			s.Say("say **confirm**: it is saved as `%s` and the next stage begins", target),
			s.Say("or say what to change: it goes into another round"))
	case st.Gate == workflow.GateApproval:
		yes := s.Say("say **approve**: it is saved as `%s` and the next stage begins", target)
		switch st.Kind {
		case workflow.KindBuild:
			yes = s.Say("say **approve**: the %s makes this change, and nothing else", s.Word(st.Role))
		case workflow.KindPlan:
			if s.Builder() != "" {
				yes = s.Say("say **approve**: it is saved as `%s` and development can begin", target)
			}
		}
		return nameChoices(s, yes, s.Say("or say what to change"))
	case st.Gate == workflow.GateScore:
		return nameChoices(s,
			s.Say("say **go on**, and what to change, cut or add: you are asked again after at most %s", s.Count(s.MaxIterations, "round")),
			s.Say("or say **accept it**, and why: it is saved as `%s` with your reason, and the next stage begins", target),
			otherWays(s, st))
	case s.Blocked():
		return nameChoices(s,
			s.Say("say what you did or decided, or how to go on without it: the %s goes on with your words", s.Word(st.Role)),
			s.Say("or **cancel**"))
	}
	back := s.Say("say **send it back**: the developer gets these findings")
	if !s.Session.FailedWork(st) {
		back = s.Say("say **ask again**: the %s hands in another report", s.Word(st.Role))
	}
	if s.Session.Current().Spent() {
		return nameChoices(s, back, s.Say("or say **go on without a verdict**, and why: `%s` records your reason", target))
	}
	if s.Session.Current().Doubted() && !s.NeedsReason() {
		return nameChoices(s, back, s.Say("or say **it passes**: it goes on, and `%s` records that you let it", target))
	}
	if s.NeedsReason() {
		ways := []string{back, s.Say("or say **accept the risk**, and why: it goes on as it is, and `%s` records your reason", target)}
		if s.ReworkSpent() {
			ways = append(ways, otherWays(s, st))
		}
		return nameChoices(s, ways...)
	}
	return nameChoices(s, back, s.Say("or say **accept the risk**: it goes on as it is, and `%s` records that", target))
}

// digestOf gathers the facts for and against the waiting document. The draft is left out if it is named elsewhere.
func digestOf(s *standing.Standing, draft string) digest {
	d := digest{Language: s.Language}
	st, rec := s.Stage, s.Session.Current()
	if draft != "" && s.Draft.Missing {
		draft += s.Say(" — **missing on disk**: restore it, or ask for another round")
	}
	d.add(visible.Shorten(s.Say("Goal: %s", plainMarks.Replace(visible.Line(s.Session.Objective))), goalColumns, "…"))
	d.add(AlteredNote(s))
	for _, line := range describeApprovals(s) {
		d.add(line)
	}
	switch {
	case st.Gate == workflow.GateScore:
		d.add(scoreLines(s))
		if s.Session.CurrentState == workflow.AwaitingApproval {
			d.add(s.Say("After %s it has not reached the gate; from here it goes on as you decide.", s.Count(s.RoundsBelow(), "round")))
		}
		d.addChanges(s)
		d.addSpare(Coverage(s))
		d.add(takenBack(s))
		d.add(addLabel(s.Say("Draft: "), draft))
		d.addEdits(s)
		title := s.Say("Known gaps:")
		if s.Session.CurrentState == workflow.AwaitingApproval {
			title = s.Say("Still missing:")
		}
		d.addList(title, describeGaps(s.Language, rec))
	case st.Gate == workflow.GateApproval:
		d.add(addLabel(s.Say("The %s is ready: ", st.DocumentIn(s.Language)), draft))
		d.addChanges(s)
		d.add(takenBack(s))
		d.addEdits(s)
		if s.BelowFloor() {
			d.add(s.Say("**Form %s of 100 by our check, below the floor of %s**: %s.", Points(rec.Audit.Score), Points(*s.Policy.AuditFloor), visible.Line(rec.Audit.Summary)))
		} else {
			d.addSpare(Audit(s.Language, rec.Audit))
		}
		d.add(compareCandidates(s, rec))
		if len(s.Session.Sprints) == 0 && st.Kind == workflow.KindPlan {
			d.add(s.Say("It has no heading of the form `## Sprint 1: title`, so it counts as one piece of work."))
		}
		d.add(planChanges(s))
		d.add(Coverage(s))
		d.addQuoted(s.Say("It says:"), s.Draft.Lines)
		var sprints []string
		for _, sp := range s.Session.Sprints {
			sprints = append(sprints, sprintTitle(s.Language, sp, 120))
		}
		d.addList(s.Say("Its sprints:"), sprints)
		d.addList(s.Say("To look at:"), describeGaps(s.Language, rec))
	case rec.Verdict == workflow.Blocked:
		needs := s.Say("the report does not say what.")
		if rec.Needs != "" {
			needs = Quoted(rec.Needs, 300)
		}
		d.add(s.Say("The %s is **blocked** and needs something from you: %s", s.Word(st.Role), needs))
		addReport(s, &d, draft)
	case rec.Spent():
		d.add(describeReturn(s))
		d.add(addLabel(s.Say("Report: "), draft))
		d.addList(s.Say("It lacks:"), plainSentences(rec.Returned))
	default:
		if rec.Doubted() {
			d.add(s.Say("The %s reports **%s**, but %s against it, so you decide.", s.Word(st.Role), story.Verdict(s.Language, rec.Verdict), countObjections(s)))
		} else {
			d.add(s.Say("The %s **failed** the work%s.", s.Word(st.Role), countFaults(s)))
		}
		if s.ReworkSpent() {
			d.add(s.Say("The work has come back %s already, and may go on coming back.", s.Count(s.Session.ReworkCount, "time")))
		}
		addReport(s, &d, draft)
	}
	return d
}

// addChanges adds the differences from the approved text, and from the round before if that is another one.
func (d *digest) addChanges(s *standing.Standing) {
	c := s.SinceOf(s.Session.CurrentStage)
	if c == nil || !c.Compared || s.Draft.Changes == nil || c.Round != s.Draft.Changes.Round {
		d.add(describeChanges(s))
	}
	for _, line := range describeSince(s) {
		d.add(line)
	}
}

// addEdits adds the changes since the document was scored.
func (d *digest) addEdits(s *standing.Standing) {
	e := s.Draft.Edit
	switch {
	case e == nil:
	case len(e.Lines) > 1:
		d.addList(s.Say("%d lines were changed since it was scored:", len(e.Lines)), plainSentences(editList(s.Language, e.Lines)))
	default:
		d.add(Edit(s.Language, e))
	}
}

// otherWays names the other ways besides going on or back.
func otherWays(s *standing.Standing, st workflow.Stage) string {
	if st.ID == s.Workflow.First().ID {
		return s.Say("or **cancel**")
	}
	return s.Say("or **reopen** an earlier stage, or **cancel**")
}

// addReport adds the results of a review or QA report, beside the verdict.
func addReport(s *standing.Standing, d *digest, draft string) {
	rec := s.Session.Current()
	d.add(Rows(s.Language, rec.Criteria))
	d.add(judgedBy(s, rec))
	d.add(addLabel(s.Say("Report: "), draft))
	if s.Draft.Edited {
		d.add(s.Say("It was changed after it was handed in, and counts as it was judged."))
	}
	d.add(Progress(s.Language, rec.Progress))
	for _, line := range describeSince(s) {
		d.add(line)
	}
	if e := s.Evidence(); e != nil {
		text := s.Say("%s.", Evidence(e))
		if e.Failed() && strings.TrimSpace(e.Tail) != "" {
			text += s.Say(" Its output ends: %s", Quoted(lastLine(e.Tail), 160))
		}
		d.add(text)
	}
	d.addSpare(Audit(s.Language, rec.Audit))
	d.add(compareCandidates(s, rec))
	if rec.Doubted() {
		d.addList(s.Say("Against it:"), plainSentences(rec.Objections))
	}
	var open []string
	for _, f := range worstFirst(workflow.OpenFindings(rec.Findings)) {
		open = append(open, Finding(f))
	}
	d.addQuoted(s.Say("Open findings:"), open)
	d.addQuoted(s.Say("Rows that did not pass:"), unpassedRows(s.Language, rec))
	if !rec.Doubted() {
		d.addList(s.Say("The report lacks:"), plainSentences(rec.Objections))
	}
}

// describeGaps returns the gaps of a record: the assistant's in its words, the server's in the server's.
func describeGaps(l lang.Language, rec *workflow.Record) []string {
	out := make([]string, len(rec.Gaps))
	for i, gap := range rec.Gaps {
		if out[i] = Quoted(gap, 300); slices.Contains(rec.FoundGaps, gap) {
			out[i] = l.Say("Server: %s", plainMarks.Replace(visible.Shorten(visible.Line(gap), 300, "…")))
		}
	}
	return out
}

// lastLine returns the last non-empty line of a text.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// Facts describes the waiting document, as plain text behind the first lines of a form or at a terminal.
func Facts(s *standing.Standing) string {
	if s.Session.CurrentState == workflow.Clarifying {
		return ""
	}
	d := digestOf(s, "")
	if e := s.Draft.Edit; e != nil { // the first lines have a single change already
		d.lines = slices.DeleteFunc(d.lines, func(line digestLine) bool { return line.text == Edit(s.Language, e) })
	}
	return unmarked.Replace(d.renderWith(digestWay{most: 10, first: 300, next: 300, spare: true}))
}
