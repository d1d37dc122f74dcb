package runner

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// run is one invocation for one session.
type run struct {
	Options
	project  *project.Project
	files    *files
	state    *state
	plan     *Plan
	budget   *price.Budget
	language lang.Language
	started  time.Time

	// record keeps the rights, and is nil if they are not kept; recorded are the rights that it has.
	// notice describes how run.json differs from them. unproven is true if run.json alone has a limit
	// of the costs, or none.
	record   sdk.Rights
	recorded string
	notice   lang.Text
	unproven bool

	// session and now describe the session as it is; each step reads them anew.
	session *workflow.Session
	now     engine.Outcome
	worked  int
	begun   point // the latest stage and round whose begin was told

	mu  sync.Mutex // of seq and files.pending
	seq int
}

// ending is the end of a run.
type ending struct {
	reason  Reason
	why     lang.Text
	command string
}

func (r *run) close() error {
	defer r.project.Close()
	return r.files.unlock()
}

func (r *run) at() point { return point{r.session.CurrentStage, r.session.Revision} }

// request returns a request for the session of the run.
func (r *run) request(action workflow.Action) request.Request {
	return request.Request{
		Action:  action,
		Address: project.Address{Session: r.state.SessionID, Cwd: r.project.Dir.Path()},
		Caller:  request.Caller{By: r.By},
	}
}

// read reads the session as it is now.
func (r *run) read(ctx context.Context) error {
	r.project.Dir.ForgetFolders() // others may have worked in between
	req := r.request(workflow.ActionResume)
	req.Inline = true
	s, _, err := r.Engine.Session(ctx, req.Address)
	if err != nil {
		return err // the end of the run is reported with the session as it was
	}
	if !s.CurrentState.Active() {
		req.Action = workflow.ActionStatus
	}
	now, err := r.Engine.Do(ctx, req)
	if err == nil {
		r.now, r.session = now, now.Standing.Session
	}
	return err
}

// facts gathers the facts that decide about the next step.
func (r *run) facts() facts {
	s, id := r.now.Standing, r.session.CurrentStage
	st, planned := r.plan.stage(id)
	f := facts{
		state: s.CurrentState, wanted: st.Engine != "", passed: !planned, changed: s.Stopped(),
		ordinary: !s.Overrides() && !s.Blocked(), edited: s.CurrentState.Gated() && s.Draft.Edited,
		below: s.BelowFloor(), strict: s.Policy.Gate == workflow.GateStrict, gates: r.Gates, person: r.Person != nil,
		pauses: s.Wants() == standing.WantsStart, worked: r.worked, spent: r.state.Given[id],
		given: planned && st.Engine == "",
	}
	f.kept = r.state.Answer != nil && r.state.Answer.point == r.at()
	open := s.Current().OpenQuestions()
	f.answers = len(open) > 0 && !slices.ContainsFunc(open, func(q workflow.Question) bool { return r.Answers[q.ID] == "" })
	return f
}

// step takes one step, and returns an ending if it was the last.
func (r *run) step(ctx context.Context) (*ending, error) {
	if err := errors.Join(ctx.Err(), r.read(ctx)); err != nil {
		return nil, err
	}
	switch s := next(r.facts()); s {
	case decide, sayYes, askQuestions, fileAnswers:
		return r.person(ctx, s)
	case submitKept:
		_, err := r.submit(ctx) // an answer that is refused is dropped
		return nil, err
	case submitGiven:
		return nil, r.submitGiven(ctx)
	case work:
		return r.work(ctx)
	default:
		return r.stop(s), nil
	}
}

// stop returns the ending that a step stands for.
func (r *run) stop(s step) *ending {
	task, stage := r.state.TaskName, r.session.CurrentStage
	out := &ending{reason: Person}
	if r.now.Gate != nil {
		out.command = r.now.Gate.Terminal
	}
	switch s {
	case finish:
		return &ending{reason: Done, why: lang.T("the workflow is complete")}
	case stopStages:
		return &ending{reason: Done, why: lang.T("the stages that were asked for are done; %s would be next", stage)}
	case stopCancelled:
		return &ending{reason: Person, why: lang.T("the session was cancelled")}
	case stopChanged:
		out.why = lang.T("the session, or a text that you approved, was changed by other hands; only you can accept it as it is")
		out.command = "bmad-mcp adopt " + task
	case stopEdited:
		out.why = lang.T("the draft was edited since it was scored: decide on it as it is now")
	case stopQuestions:
		out.why = lang.T("the %s has questions for you", r.language.Word(r.now.Standing.Stage.Role))
	case stopPause:
		out.why = lang.T("the setting pause has each round wait for your word; to resume the run is this word")
	case stopFloor:
		out.why = lang.T("the audit of %s is %g, below the floor of %g (audit_floor in the settings), which --yes does not pass", stage, r.session.Record(stage).Audit.Score, *r.now.Standing.Policy.AuditFloor)
	case stopRisk:
		out.why = lang.T("the work has not passed the gate of %s; nobody but you can accept that, or send it back", stage)
		if r.session.Record(stage).Spent() {
			out.why = lang.T("the report of %s is still incomplete and has no verdict; nobody but you can accept that, or ask for another one", stage)
		}
	case stopGiven:
		out.why = lang.T("the document that was named for %s does not open its gate, and the run does not work on this stage", stage)
	case stopMissing:
		out.why = lang.T("the run does not work on %s; reopen or finish that stage, or resume with --stages", stage)
	default:
		out.why = lang.T("the gate of %s waits for your decision", stage)
	}
	return out
}

// end ends a run.
func (r *run) end(ctx context.Context, e *ending) (*Result, error) {
	out := &Result{
		Reason: e.reason, Why: e.why.In(r.language), Command: e.command, Cost: r.budget.Report(), Reported: r.state.Reported, Before: r.state.Before,
	}
	if r.now.Reply != nil {
		out.Session = &r.now
	}
	if e.reason != Done && r.session.CurrentState != workflow.Cancelled {
		out.Resume = "bmad-mcp run --resume " + r.state.TaskName
	}
	asked := map[string]bool{}
	for _, rec := range r.session.Stages {
		for _, q := range rec.Questions {
			asked[q.ID] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.Answers)) {
		if !asked[id] {
			out.Unused = append(out.Unused, id)
		}
	}
	if r.state.Before != nil {
		tree, err := r.look(ctx, r.project.Dir.Path())
		if err != nil {
			return nil, err
		}
		r.state.After, out.After = tree, tree
	}
	if e.reason == Person && r.session.CurrentState.WaitsForHuman() {
		r.tell(r.waiting())
	}
	last := Event{
		Type: Stopped, State: r.session.CurrentState, Reason: e.reason, Why: out.Why, Command: e.command,
		Spent: &out.Cost.Spent, Reported: r.state.Reported, Tokens: out.Cost.Usage.Prompt() + out.Cost.Usage.Output,
	}
	if e.reason == Done {
		last.Type = Completed
	}
	r.tell(last)
	return out, r.save()
}

// interrupt keeps the events of a run that an error ends, and returns the error.
func (r *run) interrupt(ctx context.Context, err error) error {
	why := err.Error()
	if ctx.Err() != nil {
		why = r.language.Say("interrupted")
	}
	r.tell(Event{Type: Stopped, State: r.session.CurrentState, Why: why})
	return err
}

// tellStart reports where a run begins, and what differs in the file that it has read.
func (r *run) tellStart() {
	e := Event{Type: RunStarted, TaskName: r.state.TaskName, Budget: r.Flags.Budget, State: r.session.CurrentState}
	for _, st := range r.plan.Stages {
		e.Stages = append(e.Stages, st.Stage)
	}
	r.tell(e)
	if !r.notice.Empty() {
		r.tell(Event{Type: Noticed, Why: r.notice.In(r.language)})
	}
}

// tell reports an event of the current stage.
func (r *run) tell(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	e.Seq, e.At, e.SessionID = r.seq, r.Engine.Clock().UTC().Truncate(time.Millisecond), r.state.SessionID
	e.Stage = cmp.Or(e.Stage, r.session.CurrentStage)
	if err := r.files.log(e); err != nil { // it is a record, and not a part of the run
		r.Log.Warn("the events of the run were not kept", "error", err)
	}
	if r.Tell != nil {
		r.Tell(e)
	}
}
