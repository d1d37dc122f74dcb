package headless

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Runner takes objectives through workflows.
type Runner struct{ Options }

// New returns a runner.
func New(o Options) *Runner {
	o.Prices, o.Gates = cmp.Or(o.Prices, price.Default()), cmp.Or(o.Gates, Stop)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Wait == nil {
		o.Wait = sleep
	}
	return &Runner{o}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Start begins a session for an objective, and runs it.
func (r *Runner) Start(ctx context.Context, objective, name string) (*Result, error) {
	plan, err := r.Plan(ctx, objective)
	if err == nil {
		err = plan.refused
	}
	if err != nil { // before anything is made
		return nil, err
	}
	begun, err := r.Engine.Do(ctx, request.Request{
		Action:  workflow.ActionStart,
		Start:   request.Start{Objective: objective, Workflow: r.Flags.Workflow, TaskName: name, Apart: r.Flags.Worktree},
		Address: project.Address{Cwd: r.Folder},
		Caller:  request.Caller{By: r.By},
	})
	if err != nil {
		return nil, err
	}
	return r.Resume(ctx, begun.SessionID)
}

// Resume takes a session, of a run or of an assistant, as far as it gets. The result of a run that has begun and ends by an
// error has only the costs.
func (r *Runner) Resume(ctx context.Context, task string) (_ *Result, err error) {
	run, err := r.openRun(ctx, task)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.close()) }()
	run.tellStart()
	for {
		if run.isYielding() {
			return run.finishRun(ctx, &Result{Reason: Yielded, Why: run.language.Say("the worker ends, and the run goes back to the queue")})
		}
		out, err := run.takeStep(ctx)
		if err != nil {
			return run.reportInterrupt(ctx, err), err
		}
		if out != nil {
			return run.finishRun(ctx, out)
		}
	}
}

// findSession returns a session and the project of it.
func (r *Runner) findSession(ctx context.Context, task string) (*workflow.Session, *project.Project, error) {
	s, folder, err := r.Engine.Session(ctx, project.Address{Cwd: r.Folder, Session: task})
	if err != nil {
		return nil, nil, err
	}
	p, err := r.Engine.Projects().At(project.Address{Cwd: folder})
	return s, p, err
}

// openRun locks the run of a session and reads the state.
func (r *Runner) openRun(ctx context.Context, task string) (_ *run, err error) {
	s, p, err := r.findSession(ctx, task)
	if err != nil {
		return nil, err
	}
	if s.Branch != "" && s.Branch != workflow.BranchFor(s.TaskName) { // it could be the person's
		p.Close()
		return nil, fault.New(fault.Conflict, "the run %q names the branch %s, and its own is %s", s.TaskName, s.Branch, workflow.BranchFor(s.TaskName)).
			WithHint("a run with its documents is: bmad-mcp run --from %s --stages dev.. OBJECTIVE", s.TaskName)
	}
	if r.Flags.Worktree && s.Branch == "" && r.Lease == nil {
		p.Close()
		return nil, fault.New(fault.InvalidArgument, "the run %q was begun in the main tree, and has no worktree", s.TaskName).
			WithHint("leave out --worktree, or start a run with it: bmad-mcp run --worktree --from %s --stages dev.. OBJECTIVE", s.TaskName)
	}
	if p, err = r.enterWorktree(ctx, s, p); err != nil {
		p.Close()
		return nil, err
	}
	out := &run{Options: r.Options, project: p, session: s}
	out.language, out.started = p.Language(s.Objective), r.Engine.Clock()
	var kept *state
	if out.files, kept, err = openFiles(ctx, p.Home, s); err != nil {
		p.Close()
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.close())
		}
	}()
	if events, err := out.files.readEvents(); err == nil && len(events) > 0 { // else they count from the beginning
		out.seq = events[len(events)-1].Seq
	}
	switch {
	case r.Lease != nil:
		if kept, err = readLease(r.Lease, p.Dir.Path()); err != nil {
			return nil, err
		}
	case r.Rights != nil:
		out.record = r.Rights(p.Home.Path())
	}
	if err := out.setState(ctx, kept); err != nil {
		return nil, err
	}
	d := p.Config.Under(s.Definition())
	at := d.Index(s.CurrentStage)
	if out.plan, err = out.planFor(d, s.Objective, out.language, at); err != nil {
		return nil, err
	}
	if err := out.checkGiven(ctx, p, out.plan.Stages[min(at, len(out.plan.Stages)):], out.state.Given); err != nil {
		return nil, err
	}
	return out, out.save(ctx)
}

// gatherFacts gathers the facts behind the next step.
func (r *run) gatherFacts() facts {
	s, id := r.now.Standing, r.session.CurrentStage
	st, planned := r.plan.stageOf(id)
	f := facts{
		state: s.Session.CurrentState, passed: !planned, given: planned && st.Engine == "", changed: s.Stopped(),
		ordinary: !s.Overrides() && !s.Blocked(), edited: s.Session.CurrentState.Gated() && s.Draft.Edited,
		below: s.BelowFloor(), strict: s.Policy.Gate == workflow.GateStrict, gates: r.Gates, person: r.Person != nil,
		barred: s.IsBarred(), pauses: s.WaitsForStart(), worked: r.worked, spent: r.state.Given[id],
	}
	if f.given && len(r.Flags.Sprints) > 0 { // the person has approved this very text
		f.gates = Yes
	}
	f.kept = r.state.Answer != nil && r.state.Answer.point == r.currentPoint()
	open := s.Session.Current().OpenQuestions()
	f.answers = len(open) > 0 && !slices.ContainsFunc(open, func(q workflow.Question) bool { return r.Answers[q.ID] == "" })
	return f
}

// takeStep takes one step, and returns how the run ends if it was the last.
func (r *run) takeStep(ctx context.Context) (*Result, error) {
	if err := errors.Join(ctx.Err(), r.readSession(ctx)); err != nil {
		return nil, err
	}
	if a := r.state.Attempt; a != nil && a.Call > 0 {
		return r.recallCall(ctx)
	}
	switch s := nextStep(r.gatherFacts()); s {
	case decide, sayYes, askQuestions, fileAnswers:
		return r.askPerson(ctx, s)
	case submitKept:
		_, err := r.submitAnswer(ctx) // a refused answer is dropped
		return nil, err
	case submitGiven:
		return nil, r.submitGiven(ctx)
	case work:
		return r.workOnStage(ctx)
	case finish, stopStages:
		return &Result{Reason: Done, Why: r.sayStop(s)}, nil
	case stopChanged:
		return &Result{Reason: Person, Why: r.sayStop(s), Command: "bmad-mcp adopt " + r.state.TaskName}, nil
	default:
		out := &Result{Reason: Person, Why: r.sayStop(s)}
		if r.now.Gate != nil {
			out.Command = r.now.Gate.Terminal
		}
		return out, nil
	}
}

// sayStop returns the reason why a step ends the run.
func (r *run) sayStop(s step) string {
	l, stage, rec := r.language, r.session.CurrentStage, r.session.Current()
	switch s {
	case finish:
		return l.Say("the workflow is complete")
	case stopStages:
		return l.Say("the stages that were asked for are done; %s would be next", stage)
	case stopCancelled:
		return l.Say("the run was cancelled")
	case stopChanged:
		return l.Say("the run, or a text that you approved, was changed by other hands; only you can accept it as it is")
	case stopEdited:
		return l.Say("the draft was edited since it was scored: decide on it as it is now")
	case stopQuestions:
		return l.Say("the %s has questions for you", l.Word(r.now.Standing.Stage.Role))
	case stopPause:
		return l.Say("the setting pause has each round wait for your word; to resume the run is this word")
	case stopFloor:
		return l.Say("our check of %s gives form %g, below the floor of %g (audit_floor in the settings), which --yes does not pass", stage, rec.Audit.Score, *r.now.Standing.Policy.AuditFloor)
	case stopRisk:
		if rec.Spent() {
			return l.Say("the report of %s is still incomplete and has no verdict; nobody but you can accept that, or ask for another one", stage)
		}
		return l.Say("the work has not passed the gate of %s; nobody but you can accept that, or send it back", stage)
	case stopGiven:
		return l.Say("the document that was named for %s does not open its gate, and the run does not work on this stage", stage)
	}
	if why := r.now.WhyBarred(); !why.Empty() {
		return l.Say("the gate of %s waits for other people: %s", stage, why)
	}
	return l.Say("the gate of %s waits for your decision", stage)
}

// finishRun ends a run with a result, of which the steps have said the reason.
func (r *run) finishRun(ctx context.Context, out *Result) (*Result, error) {
	out.Session, out.Cost, out.Reported, out.Before = &r.now, r.budget.Report(), r.state.Reported, r.state.Before
	if out.Reason != Done && r.session.CurrentState != workflow.Cancelled {
		out.Resume = "bmad-mcp run --resume " + r.state.TaskName + out.Resume
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
		tree, err := r.lookAtTree(ctx, r.project.Dir.Path())
		if err != nil {
			return nil, err
		}
		before := *r.state.Before
		before.Head = cmp.Or(r.state.Commit, before.Head) // the run's own commits are told by themselves
		out.Moved = tree.describeMove(&before, r.branch() != "").In(r.language)
		if tree != nil && tree.Head != r.state.Before.Head {
			out.Committed = r.committedFiles(ctx, r.state.Before.Head, tree.Head)
		}
		r.state.After, out.After = tree, tree
	}
	if out.Reason == Done || r.Lease != nil { // the worktree goes with a lease
		if err := r.commitWork(ctx, r.language.Say("%s: documents", r.session.TaskName), ""); err != nil {
			return nil, err
		}
	}
	if r.session.Branch != "" {
		out.Branch, out.Commit, out.Worktree = r.session.Branch, r.state.Commit, r.state.Worktree
	}
	if out.Reason == Person && r.session.CurrentState.WaitsForHuman() {
		r.tellEvent(r.waitingEvent())
	}
	last := Event{
		Type: Stopped, State: r.session.CurrentState, Reason: out.Reason, Why: out.Why, Command: out.Command,
		Spent: &out.Cost.Spent, Reported: out.Reported, Tokens: out.Cost.Usage.Prompt() + out.Cost.Usage.Output,
	}
	if out.Reason == Done {
		last.Type = Completed
	}
	r.tellEvent(last)
	r.notifyPerson(endOf(out.Reason, r.session.CurrentState, r.now.Wait()))
	return out, r.save(ctx)
}

// committedFiles returns the files that differ between two commits, as far as they are known.
func (r *run) committedFiles(ctx context.Context, from, to string) []string {
	h, err := git.OpenHistory(ctx, r.project.Dir.Path())
	if h == nil || err != nil {
		return nil
	}
	defer h.Close()
	files, _, _ := h.Changed(ctx, from, to) // without one of the commits nothing is known
	return slices.DeleteFunc(files, r.isOwn)
}

// reportInterrupt keeps the events of a run ended by an error, and returns what it has cost.
func (r *run) reportInterrupt(ctx context.Context, err error) *Result {
	out := &Result{Why: err.Error(), Cost: r.budget.Report(), Reported: r.state.Reported}
	if ctx.Err() != nil {
		out.Why = r.language.Say("interrupted")
	} else {
		r.notifyPerson(notify.Failed)
	}
	r.tellEvent(Event{
		Type: Stopped, State: r.session.CurrentState, Why: out.Why,
		Spent: &out.Cost.Spent, Reported: out.Reported, Tokens: out.Cost.Usage.Prompt() + out.Cost.Usage.Output,
	})
	return out
}

// tellStart reports the first stage of a run, and the differences in its file.
func (r *run) tellStart() {
	e := Event{Type: RunStarted, TaskName: r.state.TaskName, Budget: r.Flags.Budget, State: r.session.CurrentState}
	for _, st := range r.plan.Stages {
		e.Stages = append(e.Stages, st.Stage)
	}
	r.tellEvent(e)
	if !r.notice.Empty() {
		r.tellEvent(Event{Type: Noticed, Why: r.notice.In(r.language)})
	}
	isOwn := r.project.Home != r.project.Dir // its sessions are in the main tree
	if main := git.MainTree(r.project.Dir.Path()); main != "" && !r.project.IsShared() && !isOwn {
		r.tellEvent(Event{Type: Noticed, Why: r.language.Say("this is a linked worktree of %s: git worktree remove takes the run with it, and does not ask", main)})
	}
	r.tellOthers()
}

// tellOthers reports the other runs at work in the project, each once.
func (r *run) tellOthers() {
	ids, _ := AtWork(r.project.Home) // what cannot be read does not work
	for _, id := range ids {
		if id == r.state.SessionID || slices.Contains(r.others, id) {
			continue
		}
		if other, err := filesOf(r.project.Home, id).readState(); err == nil && other != nil && other.Worktree == r.state.Worktree {
			r.others = append(r.others, id)
			why := r.language.Say("the run %s works in this folder too, and nobody can tell the changes of the two apart; a worktree for each keeps them apart", other.TaskName)
			r.tellEvent(Event{Type: Noticed, Why: why})
		}
	}
}

// enterWorktree returns the project in the worktree of the run of a session, in place of p, which it closes then. It makes
// the worktree if it is not there: of the run's branch, so that only uncommitted changes are lost with a removed one.
func (r *Runner) enterWorktree(ctx context.Context, s *workflow.Session, p *project.Project) (*project.Project, error) {
	if s.Branch == "" || r.Lease != nil || git.CheckedOut(p.Dir.Path()) == s.Branch {
		return p, nil
	}
	folder, top := p.Worktree(s.TaskName)
	switch {
	case p.Home != p.Dir:
		return p, fault.New(fault.Conflict, "the worktree %s of the run is on another branch than %s", top, s.Branch).
			WithHint("git -C %s switch %s", top, s.Branch)
	case top == "":
		return p, fault.New(fault.NotAllowed, "the run works on the branch %s of git, and %s is in no repository", s.Branch, p.Dir.Path()).
			WithHint("run it in the repository that it was started in")
	}
	main, base := project.Top(p.Home.Path()), r.Base
	if base == "" {
		var err error
		if base, err = git.Head(p.Home.Path()); err != nil {
			return p, err
		}
	}
	if _, err := os.Lstat(top); errors.Is(err, fs.ErrNotExist) && slices.Contains(git.RecordedWorktrees(main), top) {
		if err := git.RemoveWorktree(ctx, main, top); err != nil { // git's record of the one that was removed
			return p, err
		}
	}
	err := git.AddWorktree(ctx, main, top, s.Branch, base)
	if err != nil {
		return p, err
	}
	if dir, err := durable.OpenDir(folder); err == nil { // the records of the run hide themselves from git
		_, err = dir.MkdirAll(store.Folder)
		err = errors.Join(err, dir.Ignore(store.Folder), dir.Close())
		if err != nil {
			return p, fault.From(err)
		}
	}
	there, err := r.Engine.Projects().Follow(p, s)
	if err == nil && there == p {
		err = fault.New(fault.Storage, "the worktree %s was made, and is none of %s", top, p.Home.Path()).WithHint("see git worktree list")
	}
	return there, err
}
