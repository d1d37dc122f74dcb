package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Channel brings a question to a person and their answer back: a form of their host, a
// terminal. It is the way to a decision that is not another program's word for one.
type Channel interface {
	// Ask puts a question. An answer without a decision says why there is none. A channel
	// that gets its answer by a later repetition of the call returns ErrAsked.
	Ask(ctx context.Context, q Question) (Response, error)
}

// ErrAsked ends a call whose question is on its way to the person. Nothing was changed.
var ErrAsked = errors.New("the person was asked; the call is repeated with their answer")

// Question is what a person is asked: to decide at a gate, or for answers.
type Question struct {
	// Bound is what the answer is good for; an answer to another question decides nothing.
	Bound
	TaskName string
	Cwd      string
	// Title is a line that says where the session stands.
	Title string
	// Lead says in one line what is decided, with the verdict or the scores, and Worst what
	// speaks most against it: hosts show few lines of a form, and cut them.
	Lead, Worst string
	// Text says what else is true about the document, for people, without emphasis.
	Text string
	// Draft is the document's path, relative to Cwd; Size is in bytes.
	Draft string
	Size  int64
	// Choices are the decisions that can be taken, in the words of this gate.
	Choices []Choice
	// Questions are the open ones, where answers are asked for.
	Questions []workflow.Question
	// Limit is how long to wait for the person.
	Limit time.Duration
}

// DraftLine names the document, for people, with its size where a form has room for it.
func (q Question) DraftLine() string {
	line := "Draft: " + q.Draft
	size := fmt.Sprintf(" (%d bytes)", q.Size)
	if q.Size >= 1000 {
		size = fmt.Sprintf(" (%.0f kB)", float64(q.Size)/1000)
	}
	if visible.Columns(line+size) > formColumns {
		return line
	}
	return line + size
}

// Bound says which point of which session an answer is for.
type Bound struct {
	SessionID string
	Stage     workflow.StageID
	Revision  int
	// SHA256 is the draft's.
	SHA256 string
	Action workflow.Action
	// Target is where a reopen goes.
	Target workflow.StageID
}

// Value names the choice to a form: the two decisions at a gate, or the act itself.
func (c Choice) Value() string {
	if c.Decision == workflow.DecisionOverride {
		return string(workflow.DecisionApprove)
	}
	return string(c.Decision)
}

// Choice is a decision and how a person reads it.
type Choice struct {
	Decision workflow.Decision
	Label    string
	// Reason is true where the person has to say why.
	Reason bool
}

// Response is what came back.
type Response struct {
	Channel workflow.Channel
	// Decision is empty where the person took none; Silence then says why.
	Decision workflow.Decision
	Feedback string
	Answers  map[string]string
	Took     time.Duration
	Silence  Silence
}

// Silence says why there is no decision. It continues the words "no decision was taken: ".
type Silence struct {
	// Why is for people; empty where there is a decision.
	Why string
	// Unasked is true where no person has seen the question, so that another channel may
	// decide. Where a person has seen it, their silence is theirs.
	Unasked bool
	// View is true where the person wants to read the document before they decide.
	View bool
}

// question describes the gate that a session waits at.
func (r run) question(s *workflow.Session) Question {
	q := Question{
		Bound: r.bound(s), TaskName: s.TaskName, Cwd: r.project.Dir.Path(),
		Title: r.place(s), Lead: r.lead(s), Worst: r.worst(s), Text: r.facts(s), Choices: r.choices(s), Limit: r.project.Config.FormTimeout,
	}
	if doc := r.waiting(s); doc != nil {
		q.Draft, q.Size = doc.Path, doc.Size
	}
	return q
}

func (r run) bound(s *workflow.Session) Bound {
	b := Bound{SessionID: s.SessionID, Stage: s.CurrentStage, Revision: s.Revision, Action: gateAction(s.CurrentState)}
	if s.CurrentState.Gated() {
		b.SHA256 = r.draftHash(s)
	}
	return b
}

// gateAction is the action that a waiting session is moved by.
func gateAction(state workflow.State) workflow.Action {
	switch state {
	case workflow.AwaitingConfirmation:
		return workflow.ActionConfirm
	case workflow.AwaitingApproval:
		return workflow.ActionApprove
	case workflow.Clarifying:
		return workflow.ActionAnswer
	}
	return ""
}

// choices are the decisions at the gate of a session, in its words.
func (r run) choices(s *workflow.Session) []Choice {
	st := r.stage(s)
	yes := Choice{Decision: workflow.DecisionApprove, Label: "Approve: save it and go on"}
	no := Choice{Decision: workflow.DecisionChanges, Label: "Request changes (say what below)"}
	switch {
	case r.blocked(s):
		yes.Label, no.Label = "It can go on (say what you did below)", "Go on without it (say how below)"
		yes.Reason, no.Reason = true, true
	case r.overrides(s) && st.Gate == workflow.GateScore:
		yes = Choice{Decision: workflow.DecisionOverride, Label: "Accept it below the gate (say why below)", Reason: true}
		no.Label = "More rounds (say what to change below)"
	case r.overrides(s):
		yes = Choice{Decision: workflow.DecisionOverride, Label: "Accept the risk and go on", Reason: r.reasonDue(s)}
		switch {
		case yes.Reason:
			yes.Label = "Accept the risk (say why below)"
		case s.Current().Doubted():
			yes.Label = "It passes: go on"
		}
		no.Label = "Send it back to the developer"
	default:
		return []Choice{yes, no}
	}
	return []Choice{no, yes} // what lets failed work go on is not the first thing at hand
}

// overrides reports whether a yes lets work go on that its gate has not let through.
func (r run) overrides(s *workflow.Session) bool {
	return s.CurrentState == workflow.AwaitingApproval && r.stage(s).Gate != workflow.GateApproval && !r.blocked(s)
}

// blocked reports whether a stage waits for what only the human can do or decide.
func (r run) blocked(s *workflow.Session) bool {
	return s.CurrentState == workflow.AwaitingApproval && r.stage(s).Gate == workflow.GateVerdict && s.Current().Verdict == workflow.Blocked
}

// reasonDue reports whether an override needs the human's reason: where the ordinary
// rounds have not led there.
func (r run) reasonDue(s *workflow.Session) bool {
	return r.overrides(s) && (r.stage(s).Gate == workflow.GateScore || r.reworkSpent(s))
}

// wordsDue says what words a decision needs that has none; "" if it can do without.
func (r run) wordsDue(s *workflow.Session, d workflow.Decision, words string) string {
	switch {
	case strings.TrimSpace(words) != "":
		return ""
	case r.blocked(s):
		return "it was blocked, and goes on only with what the human did or decided"
	case d != workflow.DecisionChanges && r.reasonDue(s):
		return "accepting this needs the human's reason"
	}
	return ""
}
