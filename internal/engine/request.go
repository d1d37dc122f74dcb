package engine

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits of texts that people and models type, in bytes. They keep a reply that
// repeats them below what hosts show.
const (
	MaxObjective = 4000
	MaxFeedback  = 8000
	MaxAnswer    = 8000
)

// Request is one call, from any face. Unused fields are zero.
type Request struct {
	Action workflow.Action
	// SessionID is an id or a task name; empty means the project's only active session.
	SessionID string
	// Cwd is the project folder, absolute; empty means the first of Places that fits.
	Cwd string
	// Places are the folders to look in, the likeliest first, when Cwd is empty.
	Places []string
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
	// Draft is the SHA-256 of the draft that a decision is for; empty takes any.
	Draft string
	// HostConfirm is true where the caller has a tool about which the host asks the person.
	HostConfirm bool
	// Tell, if not nil, is called while something takes long, from other goroutines too.
	Tell func(Notice)
	// Revision is the one the caller decided on; the call is refused if the session has
	// another by now. nil takes any.
	Revision *int
}

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

// validate checks everything that needs no session.
func (q *Request) validate() error {
	if !slices.Contains(workflow.Actions(), q.Action) {
		return unknownAction(string(q.Action))
	}
	if q.By == "" {
		q.By = "unknown"
	}
	if q.Via == "" && q.Ask == nil {
		q.Via = workflow.ChannelRelayed
	}
	if err := q.checkTexts(); err != nil {
		return err
	}
	switch q.Action {
	case workflow.ActionStart:
		if strings.TrimSpace(q.Objective) == "" {
			return fault.New(fault.InvalidArgument, "start needs an objective").
				WithHint("say in one or two sentences what is to be built")
		}
	case workflow.ActionSubmit, workflow.ActionReopen:
		if q.Stage == "" {
			return fault.New(fault.InvalidArgument, "%s needs a stage", q.Action).
				WithHint("pass the stage that the last reply names; for reopen, the earlier one to go back to")
		}
	case workflow.ActionAnswer:
		if len(q.Answers) == 0 && q.Ask == nil {
			return fault.New(fault.InvalidArgument, "answer needs answers").
				WithHint(`pass answers as an object of question id and text, such as {"q1": "…"}`)
		}
	case workflow.ActionConfirm:
		// A "no, because …" without the no must not open the gate.
		if q.Confirmed == nil && strings.TrimSpace(q.Feedback) != "" {
			return fault.New(fault.InvalidArgument, "confirm with feedback needs confirmed: true or false").
				WithHint("true saves the document and goes on; false asks for another round with the feedback")
		}
	case workflow.ActionApprove:
		if q.Approved == nil && q.Ask == nil {
			return words.ApproveNeeds()
		}
	}
	return nil
}

// checkTexts refuses texts that are too long, or none.
func (q *Request) checkTexts() error {
	for _, r := range q.Results {
		if err := checkText(string(r.Engine)+"_result_path", r.Path, 4096); err != nil {
			return err
		}
	}
	for _, t := range []struct {
		name, text string
		limit      int
	}{{"objective", q.Objective, MaxObjective}, {"feedback", q.Feedback, MaxFeedback}, {"session_id", q.SessionID, 200}, {"cwd", q.Cwd, 4096}, {"view", q.View, 200}, {"stage", q.Stage, 200}, {"workflow", q.Workflow, 200}, {"task_name", q.TaskName, 200}} {
		if err := checkText(t.name, t.text, t.limit); err != nil {
			return err
		}
	}
	return nil
}

// CheckStage rejects a stage that the workflow does not have.
func CheckStage(w *workflow.Definition, name string) error {
	if name == "" || w.Index(workflow.StageID(name)) >= 0 {
		return nil
	}
	return fault.New(fault.InvalidArgument, "unknown stage %q", name).
		WithHint("use one of: %s", strings.Join(w.IDs(), ", "))
}

func checkText(name any, text string, limit int) error {
	if len(text) > limit {
		return fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", name, len(text), limit).
			WithHint("shorten it, or put the details into a file of the project and name the file")
	}
	if !utf8.ValidString(text) {
		return fault.New(fault.InvalidArgument, "%s is not valid UTF-8", name).WithHint("send the text as UTF-8")
	}
	if strings.ContainsRune(text, 0) {
		return fault.New(fault.InvalidArgument, "%s contains a NUL character", name).WithHint("remove it")
	}
	return nil
}

// decides reports whether the call is a decision at a gate.
func (q *Request) decides() bool {
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

// repeats reports whether a call asks for the step that a session took last.
func (q *Request) repeats(s *workflow.Session) bool {
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

// word is the decision that the call itself states.
func (q *Request) word() gate.Word {
	return gate.Word{Via: q.Via, Given: q.Confirmed != nil || q.Approved != nil, No: q.refuses(), Draft: q.Draft}
}

// results are the texts that the call hands in: the working copy where it names nothing else.
func (q *Request) results(s *standing.Standing) []Result {
	if len(q.Results) > 0 || q.Action != workflow.ActionSubmit {
		return q.Results
	}
	return []Result{{Engine: s.Stage.EnginesFor(s.Objective)[0], Path: s.Draft.Work}}
}

func unknownAction(name string) error {
	return fault.New(fault.InvalidArgument, "unknown action %q", name).
		WithHint("use one of: %s", strings.Join(actionNames(workflow.Actions()), ", "))
}

func actionNames(actions []workflow.Action) []string {
	out := make([]string, len(actions))
	for i, a := range actions {
		out[i] = string(a)
	}
	return out
}
