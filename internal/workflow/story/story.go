// Package story tells the history and the state of a run in sentences for people: the terminal and the browser use
// the same ones. The words of the machine, such as po/awaiting_confirmation or elicited, are from the session file.
package story

import (
	"fmt"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// states describe the states of a run.
var states = map[workflow.State]lang.Text{
	workflow.Generating:           lang.T("the assistant works on it"),
	workflow.Refining:             lang.T("the assistant works it over"),
	workflow.Clarifying:           lang.T("it waits for your answers"),
	workflow.AwaitingConfirmation: lang.T("it waits for your decision"),
	workflow.AwaitingApproval:     lang.T("it waits for your decision"),
	workflow.Completed:            lang.T("completed"),
	workflow.Cancelled:            lang.T("cancelled"),
}

// State describes a state of a run.
func State(l lang.Language, state workflow.State) string {
	if text, ok := states[state]; ok {
		return text.In(l)
	}
	return string(state)
}

// Place names the stage of a run, by the label, and the state.
func Place(l lang.Language, label string, state workflow.State) string {
	if !state.Active() {
		return State(l, state)
	}
	return l.Say("%s: %s", label, State(l, state))
}

// channels say how a decision arrived.
var channels = map[workflow.Channel]lang.Text{
	workflow.ChannelElicited:      lang.T("form"),
	workflow.ChannelHostConfirmed: lang.T("question of the host"),
	workflow.ChannelTerminal:      lang.T("terminal"),
	workflow.ChannelBrowser:       lang.T("browser"),
	workflow.ChannelPasskey:       lang.T("passkey"),
	workflow.ChannelTyped:         lang.T("typed in the host"),
	workflow.ChannelScript:        lang.T("script"),
	workflow.ChannelRelayed:       lang.T("passed on by the assistant"),
}

// Channel describes the channel of a decision or an answer. If it is unconfirmed, nothing but the session file says
// so.
func Channel(l lang.Language, c workflow.Channel, unconfirmed bool) string {
	text := string(c)
	if known, ok := channels[c]; ok {
		text = known.In(l)
	}
	if unconfirmed {
		return l.Say("unconfirmed, the file says: %s", text)
	}
	return text
}

// Means says how a decision arrived, and how long the person took; "" if there is none.
func Means(l lang.Language, g *workflow.Grant, unconfirmed bool) string {
	if g == nil {
		return ""
	}
	text := Channel(l, g.Channel, unconfirmed)
	if took, known := g.Took(); known && !unconfirmed {
		return l.Say("%s, %s", text, took.Round(time.Second))
	}
	return text
}

var verdicts = map[workflow.Verdict]lang.Text{
	workflow.Pass:         lang.T("pass"),
	workflow.PassWithRisk: lang.T("pass with risk"),
	workflow.Fail:         lang.T("fail"),
	workflow.Blocked:      lang.T("blocked"),
}

// Verdict names a verdict; one that a newer program wrote stands as it is.
func Verdict(l lang.Language, v workflow.Verdict) string {
	if text, ok := verdicts[v]; ok {
		return text.In(l)
	}
	return string(v)
}

// Teller tells the history of a run to one person.
type Teller struct {
	Language   lang.Language
	Definition *workflow.Definition
	// Reader is the account of the reader, whose entries are told as “You …”. In the store of a team, where accounts
	// are labels, it is their key.
	Reader, Key string
}

// Sentence describes an entry of the history: the act, and the person behind it. If it is unconfirmed, nothing but
// the session file says who, and it is not told as the reader's. An event that a newer program wrote stands as it
// is.
func (t Teller) Sentence(e *workflow.Transition, unconfirmed bool) string {
	if unconfirmed {
		t.Reader, t.Key = "", ""
	}
	l, who := t.Language, t.personName(e)
	document := t.documentName(e.FromStage())
	switch e.Event {
	case workflow.EventStarted:
		return l.Say("%s started the run", who)
	case workflow.EventQuestioned:
		return l.Say("The assistant handed in the %s, with questions", document)
	case workflow.EventScoredBelow:
		return l.Say("The assistant handed in the %s, with less than the needed score", document)
	case workflow.EventScoredReady, workflow.EventPlanned, workflow.EventScoped, workflow.EventDelivered, workflow.EventFailed:
		return l.Say("The assistant handed in the %s", document)
	case workflow.EventDoubted:
		return l.Say("The assistant handed in the %s: it passes the work, and something in it speaks against that", document)
	case workflow.EventReturned:
		return l.Say("The %s was returned for what it lacks", document)
	case workflow.EventBlocked:
		return l.Say("The assistant reported that the work is blocked")
	case workflow.EventExhausted:
		return l.Say("The rounds of the %s are used up", document)
	case workflow.EventFinished:
		return l.Say("The run is complete")
	case workflow.EventPolicyChanged:
		return l.Say("The rules of the gates changed")
	}
	return t.describeDecision(e, who, document)
}

// describeDecision describes the act of a person.
func (t Teller) describeDecision(e *workflow.Transition, who, document string) string {
	l := t.Language
	switch e.Event {
	case workflow.EventAnswered:
		if n := len(e.Skipped); n > 0 {
			return l.Say("%s answered the questions, and skipped %d", who, n)
		}
		return l.Say("%s answered the questions", who)
	case workflow.EventSkipped:
		return l.Say("%s skipped the questions", who)
	case workflow.EventConfirmed, workflow.EventApproved, workflow.EventScopeApproved:
		if e.Grant != nil && e.Grant.Decision == workflow.DecisionOverride {
			return l.Say("%s accepted the risk of the %s", who, document)
		}
		return l.Say("%s approved the %s", who, document)
	case workflow.EventGranted:
		return l.Say("%s approved the %s; the gate needs more approvals", who, document)
	case workflow.EventEdited:
		return l.Say("%s edited the %s", who, document)
	case workflow.EventChangesRequested:
		return l.Say("%s asked for changes to the %s", who, document)
	case workflow.EventSentBack:
		return l.Say("%s sent the work back", who)
	case workflow.EventReopened:
		return l.Say("%s reopened the %s", who, t.documentName(e.ToStage()))
	case workflow.EventCancelled:
		return l.Say("%s cancelled the run", who)
	case workflow.EventAdopted:
		return l.Say("%s accepted changes by other hands", who)
	}
	return string(e.Event)
}

// documentName names the document that a stage hands in; "" for the start.
func (t Teller) documentName(id workflow.StageID) string {
	st, known := t.Definition.Stage(id)
	switch {
	case !known:
		return string(id)
	case st.Gate == workflow.GateVerdict:
		return t.Language.Say("report of the %s", t.Language.Word(st.Role))
	}
	return st.DocumentIn(t.Language)
}

// personName names the person of an entry, or the script: the one behind the decision, else the one the caller acted for.
func (t Teller) personName(e *workflow.Transition) string {
	person := e.Person
	if e.Grant != nil && e.Grant.Subject != "" {
		person = e.Grant.Person
	}
	switch {
	case e.Grant != nil && e.Grant.Channel == workflow.ChannelScript:
		return t.Language.Say("A script")
	case person.Subject == "":
		return t.Language.Say("Somebody")
	case person.Account == "" && person.Subject == t.Reader, person.Key != "" && person.Key == t.Key:
		return t.Language.Say("You")
	}
	return person.Who()
}

// Result describes the result of a submission: the score, or the verdict with the rows; "" if there is none.
func Result(l lang.Language, e *workflow.Transition) string {
	switch {
	case e.Rows != "":
		return fmt.Sprintf("%s, %s", Verdict(l, e.Verdict), e.Rows)
	case e.Verdict != "":
		return Verdict(l, e.Verdict)
	case e.Score != nil && e.AuditScore != nil:
		return l.Say("score %g, form %g", *e.Score, *e.AuditScore)
	case e.Score != nil:
		return l.Say("score %g", *e.Score)
	}
	return ""
}

// Evidence describes the result of a verify command.
func Evidence(l lang.Language, e *workflow.Evidence) string {
	result := l.Say("exit code %d", e.ExitCode)
	switch {
	case e.NotRun != "":
		result = l.Say("not run, %s", e.NotRun)
	case e.TimedOut:
		result = l.Say("stopped: it took too long")
	}
	if e.Changed != "" {
		result += "; " + l.Say("changed during the run: %s", e.Changed)
	}
	return result
}
