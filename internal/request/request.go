// Package request checks what a caller asks.
//
// A [Request] is one call, from any face. What needs no session is checked first, by Validate;
// whether the call fits the session as it is, by Fits; whether it has the arguments for that, by
// Complete. A [Channel] reaches the person on
// the other side of the caller.
package request

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits of texts that people and models type, in bytes. They keep a reply that
// repeats them below what hosts show.
const (
	MaxObjective = 4000
	MaxFeedback  = 8000
	MaxAnswer    = 8000
)

// MaxWait is the longest that a status waits, in seconds.
const MaxWait = standing.MaxWait

// Request is one call, from any face. Unused fields are zero.
type Request struct {
	Action workflow.Action
	// SessionID is an id or a task name; empty means the project's only active session.
	SessionID string
	// Cwd is the project folder, absolute; empty means the first of Places that fits.
	Cwd string
	// Places are the folders to look in, the likeliest first, when Cwd is empty.
	Places []string
	// Several is true where the caller works in several folders: which of them is looked in first
	// then differs from call to call.
	Several bool
	// Restore has an adoption put the approved texts back instead of accepting what they are.
	Restore bool
	// By names the caller in the history.
	By string
	// Client tells the callers of one program apart; "" where it has only one.
	Client string

	Objective string
	// Workflow names the workflow that a start asks for; the configured one if empty.
	Workflow string
	// TaskName names the task of a start; it is made from the objective if empty.
	TaskName string
	// View names what a status shows besides: one of the View constants, or an artifact by
	// its stage or file name.
	View string
	// Wait is how many seconds a status waits for the person to act, at most [MaxWait].
	Wait int
	// Hold returns once a look at a session shows another state than was seen, or ctx ends. It
	// looks now and then by itself: not every file system of a project reports changes. nil
	// waits for nothing.
	Hold func(ctx context.Context, project, seen string, look func(context.Context) string)
	// Stage is where the caller believes the session stands; for reopen, where to go.
	Stage   string
	Results []Result
	// Sprints are the numbers a dev submission covers; nil means all that are open.
	Sprints []int
	Answers map[string]string
	// Confirmed and Approved are nil when not given.
	Confirmed *bool
	Approved  *bool
	Feedback  string
	// Comments are remarks on lines of the draft, with a decision.
	Comments []workflow.Comment
	// Language is that of the person who reads a question, where it is not the session's.
	Language lang.Language
	// Via is what the call itself counts as where it states a decision or answers: the
	// assistant's word if empty, unless Ask is set.
	Via workflow.Channel
	// Ask reaches the person; nil where the caller cannot. With an empty Via it is the
	// only way to a decision.
	Ask Channel
	// Forms is true where Ask is a form of the host that an assistant works in.
	Forms bool
	// NoForms is true where the last form that Ask sent was seen by no person, as far as
	// can be told: the assistant is then told to ask by itself.
	NoForms bool
	// Inline is true where the role prompt is for one who answers with the document, instead of
	// writing it into a file.
	Inline bool
	// Draft is the SHA-256 of the draft that a decision is for; empty takes any.
	Draft string
	// HostConfirm is true where the caller has a tool about which the host asks the person.
	HostConfirm bool
	// Page, if not nil, returns the address at which a dashboard shows the document of a stage; ""
	// where none runs.
	Page func(cwd, task, stage string) string
	// Tell, if not nil, is called while something takes long, from other goroutines too.
	Tell func(verify.Notice)
	// Blind is true where the call would accept any draft that waits, and nothing shows which one
	// its caller has seen.
	Blind bool
	// Revision is the one the caller decided on; the call is refused if the session has
	// another by now. nil takes any.
	Revision *int
}

// Channel brings a question to a person and their answer back: a form of their host, a
// terminal. It is the way to a decision that is not another program's word for one.
type Channel interface {
	// Ask puts a question. An answer without a decision says why there is none. A channel
	// that gets its answer by a later repetition of the call returns ErrAsked.
	Ask(ctx context.Context, q gate.Question) (gate.Response, error)
}

// ErrAsked ends a call whose question is on its way to the person. Nothing was changed.
var ErrAsked = errors.New("the person was asked; the call is repeated with their answer")

// Address returns what the request says of its project and session.
func (q *Request) Address() project.Address {
	return project.Address{Cwd: q.Cwd, Places: q.Places, Session: q.SessionID}
}

// Result is what one engine hands in: a text, or the path of a file in the project that holds it.
type Result struct {
	Engine workflow.Engine
	Text   string
	Path   string
}

// Decides reports whether the call is a decision at a gate.
func (q *Request) Decides() bool {
	return q.Action == workflow.ActionConfirm || q.Action == workflow.ActionApprove
}

// refuses reports whether the decision is a no.
func (q *Request) refuses() bool {
	given := q.Confirmed
	if q.Action == workflow.ActionApprove {
		given = q.Approved
	}
	return given != nil && !*given
}

// takesBack reports whether a no comes after the yes that the session has moved by last.
func (q *Request) takesBack(last workflow.Transition) bool {
	return q.refuses() && last.Action == q.Action && !sentBack(last)
}

// Repeats reports whether a call asks for the step that a session took last.
func (q *Request) Repeats(s *workflow.Session) bool {
	last := s.Last()
	stage := last.FromStage()
	if last.Action == workflow.ActionReopen { // its stage is where it went
		stage = last.ToStage()
	}
	if last.Action != q.Action || q.Stage != "" && q.Stage != string(stage) {
		return false
	}
	switch q.Action {
	case workflow.ActionConfirm, workflow.ActionApprove:
		return q.refuses() == sentBack(last)
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

// Word is the decision that the call itself states.
func (q *Request) Word() gate.Word {
	return gate.Word{Via: q.Via, Given: q.Confirmed != nil || q.Approved != nil, No: q.refuses(), Draft: q.Draft}
}
