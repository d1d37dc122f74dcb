package runner

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/obeyed"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// bytesPerToken is about that of English. It counts if an engine does not count its tokens.
const bytesPerToken = 4

// maxTries bounds the calls of an engine for one submission.
const maxTries = 3

// task is the work for one submission.
type task struct {
	stage  workflow.Stage
	plan   PlanStage
	worker Worker
	// builds is true if the work is to change the project, writes if it may.
	builds, writes bool
	before         string // the files of the project
}

// work has the stage's engine do its work, and submits it.
func (r *run) work(ctx context.Context) (*ending, error) {
	r.worked++
	t, err := r.task(ctx)
	if err != nil {
		return nil, err
	}
	var problem lang.Text
	for try := 1; try <= maxTries; try++ {
		if end := r.checkLimits(); end != nil {
			return end, nil
		}
		if try > 1 {
			r.tell(Event{Type: Retry, Stage: t.stage.ID, Engine: t.plan.Engine, Round: r.now.Iteration + 1, Why: problem.In(r.language)}, true)
		}
		var final bool
		if problem, final, err = r.call(ctx, t, try, problem); err != nil {
			return nil, err
		}
		if problem.Empty() { // paid for, even if it was the last
			if problem, err = r.submit(ctx); problem.Empty() || err != nil {
				return nil, err
			}
		}
		if final {
			break
		}
	}
	if end := r.checkLimits(); end != nil {
		return end, nil
	}
	return &ending{reason: Failed, why: lang.T("%s did not do the work of %s: %s. Nothing was submitted", t.plan.Engine, t.stage.ID, problem)}, nil
}

// task prepares the work for the current stage.
func (r *run) task(ctx context.Context) (*task, error) {
	st := r.stage()
	planned, _ := r.plan.stage(st.ID)
	t := &task{stage: st, plan: planned, worker: r.worker(planned.Engine)}
	if !r.plan.definition.Scoping(r.session) {
		t.builds, t.writes = st.Kind == workflow.KindBuild, writes(st)
	}
	if t.writes && !r.state.Admitted {
		if err := r.admitTree(ctx, r.project.Dir.Path(), &Plan{Stages: []PlanStage{planned}}); err != nil {
			return nil, err
		}
		r.state.Admitted = true
	}
	if t.writes && r.state.Before == nil {
		tree, err := r.look(ctx, r.project.Dir.Path())
		if err != nil {
			return nil, err
		}
		if r.state.Before = tree; tree == nil {
			r.state.Before = &Tree{}
		}
	}
	// After a crash the work may be half done: the files before its first attempt count.
	if a := r.state.Attempt; a != nil && a.point == r.at() {
		t.before = a.Files
	} else {
		t.before = r.worktree(ctx)
	}
	if round := r.now.Iteration + 1; r.begun[st.ID] < round {
		r.begun[st.ID] = round
		r.tell(Event{Type: StageStarted, Stage: st.ID, Round: round, State: r.session.CurrentState,
			Engine: planned.Engine, Model: planned.Model, Why: planned.why.In(r.language)}, true)
	}
	return t, nil
}

// call makes one call of an engine, and keeps its answer and its cost. problem is the reason why
// there is no answer to submit; final is true if another try cannot bring one.
func (r *run) call(ctx context.Context, t *task, try int, last lang.Text) (problem lang.Text, final bool, err error) {
	prompt, err := promptFor(r.now, t.builds, last)
	if err != nil {
		return problem, false, err
	}
	job := hostcli.Job{
		Dir: r.project.Dir.Path(), Prompt: prompt, Writes: t.writes, Model: t.plan.Model, Allow: r.Flags.Commands, Open: r.Flags.Open,
		Tell: func(a hostcli.Activity) { r.activity(t, a) },
	}
	job.Left, _ = r.budget.Left()
	if r.Flags.Minutes > 0 {
		job.Timeout = max(r.deadline().Sub(r.Engine.Clock()), time.Second)
	}
	if c := r.state.Conversations[t.stage.ID]; try == 1 && c.Engine == t.plan.Engine && (t.stage.Kind != workflow.KindVerdict || len(r.now.Returned) > 0) {
		job.Session = c.Session // each judgement is by fresh eyes, but for a report that was returned
	}
	r.state.Calls++
	r.state.Attempt, r.state.Answer = &attempt{r.at(), t.before}, nil
	if err := r.save(); err != nil {
		return problem, false, err
	}
	raw, err := r.files.raw(t.stage.ID, r.state.Calls)
	if err != nil {
		return problem, false, err
	}
	job.Raw = raw
	closed, _ := obeyed.Closed(job.Open...)
	var before obeyed.State
	if t.writes {
		before = closed.In(r.project.Dir.Tree())
	}
	outcome, workErr := t.worker.Work(ctx, job)
	_ = raw.Close() // it shows how an engine works, and is not a part of the run
	r.count(t, prompt, outcome)
	var failure *hostcli.Failure
	switch {
	case ctx.Err() != nil:
		return problem, false, errors.Join(ctx.Err(), r.save())
	case errors.As(workErr, &failure):
		problem, final = lang.T("%s", failure.Why), failure.Final
	case workErr != nil:
		problem = lang.Of(workErr)
	default:
		problem = r.keep(ctx, t, outcome)
	}
	if before != nil { // no tool could refuse the writes of a command
		if name := closed.In(r.project.Dir.Tree()).Since(before); name != "" {
			f, _ := closed.Match(name)
			r.state.Answer = nil
			problem, final = lang.T("it has written %s, which other programs obey (%s). Look at the file and remove it; or go on with --resume, and with --allow-path %s if it may write that", name, f.By, f.Name), true
		}
	}
	return problem, final, r.save()
}

// keep keeps an answer if it can be submitted, else problem is the reason why not.
func (r *run) keep(ctx context.Context, t *task, o *hostcli.Outcome) (problem lang.Text) {
	changed := false
	if t.builds {
		now := r.worktree(ctx)
		changed = now != t.before || now == "" // of too many files nothing is known, and nothing is said against the report
	}
	if problem = check(t.stage, o.Text, t.builds, changed); !problem.Empty() {
		return problem
	}
	if r.state.Conversations == nil {
		r.state.Conversations = map[workflow.StageID]conversation{}
	}
	r.state.Conversations[t.stage.ID] = conversation{t.plan.Engine, o.Session}
	r.state.Answer = &answer{r.at(), t.plan.Engine, o.Text}
	return problem
}

// worktree identifies the files of the project: those that the repository shows to differ, and all
// by their fingerprint, which leaves hidden folders out.
func (r *run) worktree(ctx context.Context) string {
	now, _ := r.project.Fingerprint(nil, time.Time{})
	tree, err := r.look(ctx, r.project.Dir.Path())
	if err == nil && tree != nil {
		now += " " + workflow.Hash([]byte(tree.Head+strings.Join(tree.Changed, "\x00")))
	}
	return now
}

// maxReported bounds the cost that an engine may state for its work, in dollars.
const maxReported = 1e6

// count adds the usage of a call. An engine's own statement of its cost is that of a server, at best.
func (r *run) count(t *task, prompt string, o *hostcli.Outcome) {
	if o == nil {
		return
	}
	percent := 0
	least := price.Estimate{Prompt: int64(len(prompt)) / bytesPerToken, Output: int64(len(o.Text)) / bytesPerToken, Many: true}
	for _, model := range slices.Sorted(maps.Keys(o.Usage)) {
		percent = max(percent, r.budget.Spend(model, r.Engine.Clock(), o.Usage[model], least).Percent)
	}
	if o.Reported != nil && *o.Reported >= 0 && *o.Reported <= maxReported {
		sum := *o.Reported
		if r.state.Reported != nil {
			sum += *r.state.Reported
		}
		r.state.Reported = &sum
	}
	report := r.budget.Report()
	r.state.Spent = report.Models
	r.tell(Event{
		Type: Cost, Stage: t.stage.ID, Engine: t.plan.Engine, Spent: &report.Spent, Percent: percent, Reported: r.state.Reported,
		Tokens: report.Usage.Prompt() + report.Usage.Output, Unpriced: report.Unknown,
	}, true)
}

func (r *run) deadline() time.Time {
	return r.started.Add(time.Duration(r.Flags.Minutes) * time.Minute)
}

// checkLimits returns the ending of a run if it may cost no more, else nil.
func (r *run) checkLimits() *ending {
	report := r.budget.Report()
	left, limited := r.budget.Left()
	switch {
	case r.unproven:
		return &ending{reason: Spent, why: lang.T("this machine has no record of what this run may cost, and run.json can be changed by anything in the project: name a --budget in US dollars, or --budget none")}
	case limited && report.Unknown:
		return &ending{reason: Spent, why: lang.T("the engine used a model whose price is not known, so that the budget of %s cannot hold; name the model's price in prices.json, another model with --model, or resume with --budget none", r.Flags.Budget)}
	case limited && left == 0:
		return &ending{reason: Spent, why: lang.T("the budget of %s is spent (%s)", r.Flags.Budget, report.Spent.Short())}
	case r.Flags.Minutes > 0 && !r.Engine.Clock().Before(r.deadline()):
		return &ending{reason: Spent, why: lang.T("the time is up (%s)", lang.Count(r.Flags.Minutes, "minute"))}
	}
	return nil
}

// activity reports an act of an engine.
func (r *run) activity(t *task, a hostcli.Activity) {
	e := Event{Type: EngineEvent, Stage: t.stage.ID, Engine: t.plan.Engine, Activity: a.Kind, Text: clip(a.Text, 200)}
	if a.Usage != nil {
		e.Tokens = a.Usage.Prompt() + a.Usage.Output
	}
	r.tell(e, false)
}

// submit hands in the kept answer. problem is the reason why the session does not take it. The answer
// is not kept then either.
func (r *run) submit(ctx context.Context) (problem lang.Text, err error) {
	a := r.state.Answer
	problem, err = r.handIn(ctx, request.Result{Engine: author(a.Engine, r.stage(), r.session.Objective), Text: a.Text})
	if err == nil {
		r.state.Answer, r.state.Attempt = nil, nil
		err = r.save()
	}
	return problem, err
}

// submitGiven hands in the document that the person has named for a stage.
func (r *run) submitGiven(ctx context.Context) error {
	text, err := r.givenText(ctx)
	if err != nil {
		return err
	}
	st := r.stage()
	problem, err := r.handIn(ctx, request.Result{Engine: st.EnginesFor(r.session.Objective)[0], Text: text})
	if err == nil && !problem.Empty() {
		err = fault.New(fault.InvalidArgument, "the document that was named for %s is not taken: %s", st.ID, problem).
			WithHint("correct it, or have the run work on this stage")
	}
	if err != nil {
		return err
	}
	if r.state.Given == nil {
		r.state.Given = map[workflow.StageID]bool{}
	}
	r.state.Given[st.ID] = true
	return r.save()
}

// handIn submits a text for exactly the point at which the session was read. problem is the reason
// why the text itself is not taken.
func (r *run) handIn(ctx context.Context, result request.Result) (problem lang.Text, err error) {
	at := r.at()
	r.state.Submission = &submission{at, workflow.Hash([]byte(result.Text))}
	out, err := r.Engine.Do(ctx, request.Request{
		Action:   workflow.ActionSubmit,
		Address:  project.Address{Session: r.state.SessionID, Cwd: r.project.Dir.Path()},
		Caller:   request.Caller{By: r.By},
		Stage:    string(at.Stage),
		Revision: &at.Revision,
		Submit:   request.Submit{Results: []request.Result{result}},
	})
	if fault.Is(err, fault.InvalidArgument) {
		return lang.Of(err), nil
	}
	if err != nil {
		return problem, err
	}
	e := Event{Type: Submitted, Stage: at.Stage, Round: r.now.Iteration + 1, State: out.State}
	rec := out.Standing.Record(at.Stage) // the reply is about the stage that the session has come to
	e.Score, e.Verdict, e.Returned, e.Rows = rec.Score, rec.Verdict, rec.Returned, words.Rows(r.language, rec.Criteria)
	if rec.Audit != nil {
		e.Audit = &rec.Audit.Score
	}
	r.tell(e, true)
	return problem, nil
}
