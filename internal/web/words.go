package web

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// stateWords describe the states of a run.
var stateWords = map[workflow.State]lang.Text{
	workflow.Generating:           lang.T("the assistant works on it"),
	workflow.Refining:             lang.T("the assistant works it over"),
	workflow.Clarifying:           lang.T("it waits for your answers"),
	workflow.AwaitingConfirmation: lang.T("it waits for your decision"),
	workflow.AwaitingApproval:     lang.T("it waits for your decision"),
	workflow.Completed:            lang.T("completed"),
	workflow.Cancelled:            lang.T("cancelled"),
}

// place names the stage of a run, and its state.
func place(l lang.Language, label string, state workflow.State) string {
	if !state.Active() {
		return stateWords[state].In(l)
	}
	return l.Say("%s: %s", label, stateWords[state])
}

// eventWords describe the entries of a history.
var eventWords = map[workflow.Event]lang.Text{
	workflow.EventStarted:          lang.T("The run began"),
	workflow.EventPolicyChanged:    lang.T("The settings of the gates changed"),
	workflow.EventAdopted:          lang.T("The person accepted changes by other hands"),
	workflow.EventGranted:          lang.T("One of the yeses that the gate wants"),
	workflow.EventEdited:           lang.T("The text was taken as it was edited"),
	workflow.EventQuestioned:       lang.T("Handed in, with questions"),
	workflow.EventScoredBelow:      lang.T("Handed in, below the gate"),
	workflow.EventScoredReady:      lang.T("Handed in, and the gate score is reached"),
	workflow.EventPlanned:          lang.T("The plan was handed in"),
	workflow.EventScoped:           lang.T("The scope was handed in"),
	workflow.EventDelivered:        lang.T("The work was handed in"),
	workflow.EventFailed:           lang.T("The work failed"),
	workflow.EventDoubted:          lang.T("A pass was reported, and something speaks against it"),
	workflow.EventReturned:         lang.T("The report was returned for what it lacks"),
	workflow.EventBlocked:          lang.T("The work is blocked"),
	workflow.EventExhausted:        lang.T("The rounds are used up"),
	workflow.EventAnswered:         lang.T("Questions were answered"),
	workflow.EventSkipped:          lang.T("The questions were skipped"),
	workflow.EventConfirmed:        lang.T("Approved"), // on the page as for a plan
	workflow.EventApproved:         lang.T("Approved"),
	workflow.EventScopeApproved:    lang.T("The scope was approved"),
	workflow.EventChangesRequested: lang.T("Changes were requested"),
	workflow.EventSentBack:         lang.T("The work was sent back"),
	workflow.EventFinished:         lang.T("The run is complete"),
	workflow.EventReopened:         lang.T("Reopened"),
	workflow.EventCancelled:        lang.T("Cancelled"),
}

// eventText describes an entry; an event that a newer program wrote stands as it is.
func eventText(l lang.Language, t *workflow.Transition) string {
	if t.Event == workflow.EventApproved && t.Grant != nil && t.Grant.Decision == workflow.DecisionOverride {
		return l.Say("The risk was accepted")
	}
	if text, ok := eventWords[t.Event]; ok {
		return text.In(l)
	}
	return string(t.Event)
}

// channelWords say how a decision arrived.
var channelWords = map[workflow.Channel]lang.Text{
	workflow.ChannelElicited:      lang.T("in a form of the host"),
	workflow.ChannelHostConfirmed: lang.T("by a question of the host"),
	workflow.ChannelTerminal:      lang.T("at a terminal"),
	workflow.ChannelBrowser:       lang.T("in a paired browser"),
	workflow.ChannelPasskey:       lang.T("with a passkey"),
	workflow.ChannelTyped:         lang.T("typed as a command of the host"),
	workflow.ChannelScript:        lang.T("by a script"),
	workflow.ChannelRelayed:       lang.T("relayed by the assistant"),
}

// assuranceWords say how well a channel proves that a person decided.
var assuranceWords = map[workflow.Assurance]lang.Text{
	workflow.AssuranceHigh:   lang.T("high assurance"),
	workflow.AssuranceMedium: lang.T("medium assurance"),
	workflow.AssuranceLow:    lang.T("low assurance"),
}

// describeDecision says who decided, how, and in which time.
func describeDecision(l lang.Language, g *workflow.Grant, unvouched bool) string {
	if g == nil {
		return ""
	}
	if unvouched {
		return l.Say("unvouched: the file says %s", g.Channel)
	}
	how, ok := channelWords[g.Channel]
	if !ok {
		how = lang.T("%s", string(g.Channel))
	}
	text := l.Say("%s, %s", how, assuranceWords[g.Assurance])
	if took, known := g.Took(); known {
		text = l.Say("%s, in %s", text, ago(l, took.Round(time.Second)))
	}
	if who := g.Who(); who != "" {
		text = l.Say("%s: %s", who, text)
	}
	return text
}
