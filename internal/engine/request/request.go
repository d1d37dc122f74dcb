// Package request checks the calls of all faces.
//
// A [Request] is one call, from any face. The arguments alone are checked first, by Validate;
// whether the call fits the session as it is, by Fits; whether it has the arguments for that, by
// Complete. A [Channel] reaches the person on the other side of the caller.
package request

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits of texts typed by people and models, in bytes. They keep a reply with the same texts below the limits of
// hosts.
const (
	MaxObjective = 4000
	MaxFeedback  = 8000
	MaxAnswer    = 8000
)

// Request is one call, from any face: the caller, the session, and the arguments of the action. Unused fields are
// zero.
type Request struct {
	Action workflow.Action
	project.Address
	// Stage is the one at which the caller believes the session; for reopen, the one to go to.
	Stage string
	// Revision is the one the caller decided on; the call is refused if the session has
	// another by now. nil takes any.
	Revision *int
	Caller
	Start
	Status
	Submit
	Decision
}

// Caller tells who calls, how the person beside them is reached, and the form of the reply. It is the
// same for each call of one caller.
type Caller struct {
	// By names the caller in the history.
	By string
	// Client tells the callers of one program apart; "" if it has only one.
	Client string
	// Several is true if the caller works in several folders: which of them is looked in first
	// then differs from call to call.
	Several bool
	// Language is the language of the question's reader, if it is not the session's.
	Language lang.Language
	// Via is the channel of the call itself if it states a decision or answers: the
	// assistant's word if empty, unless Ask is set.
	Via workflow.Channel
	// Ask reaches the person; nil if the caller cannot. With an empty Via it is the
	// only way to a decision.
	Ask Channel
	// Forms is true if Ask is a form of the assistant's host.
	Forms bool
	// NoForms is true if, as far as anyone can know, no person saw the last form of Ask: the assistant is then
	// told to ask by itself.
	NoForms bool
	// HostConfirm is true if the caller has a tool about which the host asks the person.
	HostConfirm bool
	// Chat is true if the host shows no forms: the person may see only the chat.
	Chat bool
	// Inline is true if the role prompt is for one who answers with the document, instead of
	// writing it into a file.
	Inline bool
	// Notifies is true if the caller itself tells the person when the run waits for them, or ends.
	Notifies bool
	// Page, if not nil, returns the address at which a dashboard shows the document of a stage; ""
	// if none runs.
	Page func(cwd, task, stage string) string
	// Tell, if not nil, is called while something takes long, from other goroutines too.
	Tell func(Notice)
	// Hold returns once a look at a session shows another state than was seen, or ctx ends. It
	// looks now and then by itself: not every file system of a project reports changes. nil
	// waits for nothing.
	Hold func(ctx context.Context, project, seen string, look func(context.Context) string)
}

// Notice reports on something slow.
type Notice = verify.Notice

// Start has the arguments of a start.
type Start struct {
	Objective string
	// Workflow names the workflow; the configured one if empty.
	Workflow string
	// TaskName names the task; it is made from the objective if empty.
	TaskName string
	// Apart is true if the run works on a branch of its own, in a worktree that the caller makes.
	Apart bool
}

// Status has the arguments of a status: the view to add, and the time to wait.
type Status struct {
	// View is one of the engine's views, or an artifact by the stage or file name.
	View string
	// Wait is the time to wait for the person to act, in seconds, at most standing.MaxWait.
	Wait int
}

// Submit has the arguments of a submission.
type Submit struct {
	Results []Result
	// Sprints are the numbers of the covered sprints of a build; nil means all open ones.
	Sprints []int
}

// Decision is the word of the call itself, at a gate, to questions, or to leave or accept the state of the
// session.
type Decision struct {
	// Yes is the answer of a confirm or approve; nil when not given.
	Yes      *bool
	Answers  map[string]string
	Feedback string
	// Comments are remarks on lines of the draft.
	Comments []workflow.Comment
	// Draft is the SHA-256 of the draft to decide on; empty takes any.
	Draft string
	// Blind is true if the call would accept any waiting draft, and nothing shows which one its caller has seen.
	Blind bool
	// Restore has an adoption put the approved texts back instead of accepting the changed ones.
	Restore bool
}

// Channel brings a question to a person and their answer back, for example by a form of their host, or a terminal.
// It is the way to a decision of the person, without another program's word.
type Channel interface {
	// Ask puts a question. An answer without a decision has a reason. A channel returns ErrAsked if the answer
	// comes with a later repetition of the call.
	Ask(ctx context.Context, q gate.Question) (gate.Response, error)
}

// ErrAsked ends a call while the question is on the way to the person. Nothing was changed.
var ErrAsked = errors.New("the person was asked; the call is repeated with their answer")

// Result is the document of one engine: a text, or the path of a file with the text in the project.
type Result struct {
	Engine workflow.Engine
	Text   string
	Path   string
}

// Decides reports whether the call is a decision at a gate.
func (q *Request) Decides() bool {
	return q.Action == workflow.ActionConfirm || q.Action == workflow.ActionApprove
}

// isRefusal reports whether the decision is a no.
func (q *Request) isRefusal() bool { return q.Yes != nil && !*q.Yes }

// Repeats reports whether a call asks for the latest step of a session.
func (q *Request) Repeats(s *workflow.Session) bool {
	last := s.Last()
	stage := last.FromStage()
	if last.Action == workflow.ActionReopen { // the call named the stage to go to
		stage = last.ToStage()
	}
	if last.Event == workflow.EventGranted { // which is one person's yes of several
		return false
	}
	isOtherStage := q.Stage != "" && q.Stage != string(stage)
	if last.Action != q.Action || isOtherStage {
		return false
	}
	switch q.Action {
	case workflow.ActionConfirm, workflow.ActionApprove:
		return q.isRefusal() == sentBack(last)
	case workflow.ActionSubmit:
		// A second document while the first waits is for the gate to refuse.
		return stage != s.CurrentStage || !s.CurrentState.Active()
	}
	return true
}

// sentBack reports whether a transition was a no.
func sentBack(t workflow.Transition) bool {
	return t.Event == workflow.EventChangesRequested || t.Event == workflow.EventSentBack
}

// Word returns the decision stated by the call itself.
func (q *Request) Word() gate.Word {
	return gate.Word{Via: q.Via, Given: q.Yes != nil, No: q.isRefusal(), Draft: q.Draft}
}
