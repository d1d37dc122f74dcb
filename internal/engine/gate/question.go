// Package gate decides at the gates of a session: the question for the person, the possible choices, whose word
// counts, and whether a gate may open. Its functions are pure; they decide by the facts of a [standing.Standing].
package gate

import (
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// Question asks a person to decide at a gate, or for answers.
type Question struct {
	// Bound names the gate of the question; an answer to another question decides nothing.
	Bound
	// Language is the language of the question.
	Language lang.Language
	TaskName string
	Cwd      string
	// Title is a line with the stage of the session.
	Title string
	// Lead says in one line which decision waits, with the verdict or the scores, and Worst
	// speaks most against it: hosts show few lines of a form, and cut them.
	Lead, Worst string
	// Text has the other facts about the document, for people, without emphasis.
	Text string
	// Draft is the document's path, relative to Cwd; Size is in bytes.
	Draft string
	Size  int64
	// Document is the text to decide on, with the hash of Bound; "" if it is gone or was changed.
	Document string
	// Edited is true if the draft was changed since it was scored: a yes takes it as it is now.
	Edited bool
	// Page is the address at which a dashboard shows the document; "" for none.
	Page string
	// Choices are the possible decisions, in the words of this gate.
	Choices []Choice
	// Barred is the refusal of a yes, which is not among the choices then; nil if a yes counts.
	Barred error
	// Questions are the open ones, if the person is asked for answers. If the gate of the document is met, Choices
	// then has the choice to take the document without answers.
	Questions []workflow.Question
	// Criteria are the criteria of a document that defines some, for a decision on that document.
	Criteria []verdict.Criterion
}

// DraftLine names the document, for people, and the size if a form has room for it.
func (q Question) DraftLine() string { return words.DraftLine(q.Language, q.Draft, q.Size) }

// TextGone returns the sentence about a missing text.
func (q Question) TextGone() string { return words.TextGone(q.Language, q.Draft) }

// Bound says which point of which session an answer is for.
type Bound struct {
	SessionID string
	Stage     workflow.StageID
	Revision  int
	// SHA256 is the draft's, with its edits.
	SHA256 string
	Action workflow.Action
	// Target is the stage of a reopen.
	Target workflow.StageID
}

// Choice is a decision and its text for a person. Every face offers the choices in this order, unless its host
// needs another.
type Choice struct {
	Decision workflow.Decision
	Label    string
	// Short is the label for a host that cuts Label; empty if that fits every host.
	Short string
	// Words is the question for the person's words after the choice; empty if it needs none. Without an answer to
	// it nothing is decided.
	Words string
	// Reason is true if the words say why work goes on, and ask for no change.
	Reason bool
	// Offer is taken with the decision; nil for none.
	Offer *workflow.Offer
}

// Value names the choice to a form: the decision at a gate, or the act itself, for example cancel.
func (c Choice) Value() string {
	if c.Offer != nil {
		return string(c.Offer.Decision())
	}
	if c.Decision == workflow.DecisionOverride {
		return string(workflow.DecisionApprove)
	}
	return string(c.Decision)
}

// Choose returns the choice with a value. An offer other than the present one is among the choices too, as long as a
// plain yes is: the gate refuses it, and says why.
func (q Question) Choose(value string) (c Choice, ok bool) {
	for _, c := range q.Choices {
		if c.Value() == value {
			return c, true
		}
	}
	c = Choice{Decision: workflow.DecisionApprove, Offer: workflow.OfferOf(workflow.Decision(value))}
	return c, c.Offer != nil && slices.ContainsFunc(q.Choices, func(o Choice) bool { return o.Decision == c.Decision })
}

// Response is the person's answer to a question.
type Response struct {
	Channel workflow.Channel
	// Decision is empty if the person took none; Silence then says why.
	Decision workflow.Decision
	// Offer is taken with the decision; nil for none.
	Offer    *workflow.Offer
	Feedback string
	// Comments are the person's remarks on lines of the draft, in any decision on it.
	Comments []workflow.Comment
	Answers  map[string]string
	// SkipRest is true if the person skips the questions left without an answer.
	SkipRest bool
	Took     time.Duration
	// Passkey is the signature of an answer by ChannelPasskey.
	Passkey *workflow.Signature
	Silence Silence
}

// Silence says why there is no decision, as an error too. Why continues the words "no decision was taken: ".
type Silence struct {
	// Why is for people; empty if there is a decision.
	Why lang.Text
	// Unasked is true if no person has seen the question, so another channel may decide. If a person has seen it,
	// the silence is their answer.
	Unasked bool
	// View is true if the person wants to read the document before they decide.
	View bool
}

// Error implements error.
func (s *Silence) Error() string { return "no decision was taken: " + s.Why.String() }

// FormTimeout is the longest wait of a form for the person. With more, hosts cancel the call first.
const FormTimeout = 10 * time.Minute

// Ask returns the question at the session's gate.
func Ask(s *standing.Standing) Question {
	q := Question{
		Bound: Bind(s), Language: s.Language, TaskName: s.Session.TaskName, Cwd: s.Folder, Title: words.Place(s), Lead: words.Lead(s), Worst: words.Worst(s),
		Text: words.Facts(s), Choices: Choices(s), Page: s.Call.Page,
		Edited: s.Draft.Edit != nil, Barred: words.Barred(s), Document: s.Draft.Text,
	}
	if s.Criteria.InHand() {
		q.Criteria = s.Criteria.All
	}
	if doc := s.Waiting(); doc != nil {
		q.Draft, q.Size = doc.Path, doc.Size
	}
	return q
}

// AskQuestions returns the question for the answers to the open questions. If the document has reached its gate,
// the person can take it as it is.
func AskQuestions(s *standing.Standing) Question {
	q := Ask(s)
	q.Choices, q.Questions = nil, s.Session.Current().OpenQuestions()
	if s.Met() && q.Barred == nil {
		q.Text, q.SHA256 = words.Facts(s.AtGate()), Bind(s.AtGate()).SHA256
		q.Choices = []Choice{{Decision: workflow.DecisionApprove, Label: words.TakeLabel(s)}}
	}
	return q
}

// Leave returns the question whether a session leaves its stage, with the call's reason.
func Leave(s *standing.Standing, d workflow.Decision, label lang.Text, reason string) Question {
	q := Ask(s)
	q.Action, q.Choices = s.Call.Action, []Choice{{Decision: d, Label: label.In(s.Language)}}
	q.Lead, q.Worst = words.Leaving(s.Language, label, reason, s.Call.Forms)
	if s.Call.Forms && !isBlank(reason) {
		q.Text = s.Say("Its words: %s", words.Quoted(reason, 1000)) + "\n" + q.Text
	}
	if d == workflow.DecisionReopen {
		q.Target = workflow.StageID(s.Call.Stage)
		if isBlank(reason) {
			q.Choices[0].Words = words.AskChanges.In(s.Language)
		}
	}
	return q
}

// Bind returns the present gate, to which an answer is bound.
func Bind(s *standing.Standing) Bound {
	b := Bound{SessionID: s.Session.SessionID, Stage: s.Session.CurrentStage, Revision: s.Session.Revision, Action: s.Session.CurrentState.GateAction()}
	if s.Session.CurrentState.Gated() {
		b.SHA256 = s.Draft.Now()
	}
	return b
}

// Choices returns the caller's decisions at the session's gate, in the words of the gate. A failed verdict names
// the faults to change, so sending the work back needs no words.
func Choices(s *standing.Standing) []Choice {
	all := gateChoices(s)
	if !s.IsBarred() {
		return all
	}
	return slices.DeleteFunc(all, func(c Choice) bool { return c.Decision != workflow.DecisionChanges })
}

func gateChoices(s *standing.Standing) []Choice {
	yesLabel, noLabel := words.Labels(s)
	yes := Choice{Decision: workflow.DecisionApprove, Label: yesLabel}
	no := Choice{Decision: workflow.DecisionChanges, Label: noLabel}
	switch {
	case s.Blocked():
		yes.Words, no.Words = words.AskDone.In(s.Language), words.AskWithout.In(s.Language)
		yes.Reason, no.Reason = true, true
		return []Choice{no, yes}
	case !s.Overrides():
		no.Words = words.AskChanges.In(s.Language)
		if s.Offer == nil {
			return []Choice{yes, no}
		}
		run := yes
		run.Label, run.Short = words.OfferLabels(s)
		run.Offer = s.Offer
		return []Choice{yes, run, no}
	}
	yes.Decision = workflow.DecisionOverride
	if yes.Reason = s.NeedsReason(); yes.Reason {
		yes.Words = words.AskReason.In(s.Language)
	}
	if s.Stage.Gate == workflow.GateScore {
		no.Words = words.AskChanges.In(s.Language)
	}
	return []Choice{no, yes} // never the override first
}
