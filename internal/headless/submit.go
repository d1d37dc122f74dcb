package headless

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// submitAnswer hands in the kept answer. problem is the reason why the session does not take it. The answer
// is not kept then either.
func (r *run) submitAnswer(ctx context.Context) (problem lang.Text, err error) {
	a := r.state.Answer
	if len(r.state.Wrote) > 0 { // the commit has failed then
		t := r.newTask()
		if t.Engine = a.Engine; t.Writes {
			if err := r.commitCall(ctx, t); err != nil {
				return problem, err
			}
		}
	}
	problem, err = r.handIn(ctx, request.Result{Engine: workflow.Engine(a.Engine), Text: a.Text})
	if err == nil {
		r.state.Answer, r.state.Attempt = nil, nil
		err = r.save(ctx)
	}
	return problem, err
}

// submitGiven hands in the person's document for a stage.
func (r *run) submitGiven(ctx context.Context) error {
	stage := r.session.CurrentStage
	text, err := r.givenText(ctx, r.project, stage)
	if err != nil {
		return err
	}
	problem, err := r.handIn(ctx, request.Result{Text: text})
	if err == nil && !problem.Empty() {
		err = fault.New(fault.InvalidArgument, "the document that was named for %s is not taken: %s", stage, problem).
			WithHint("correct it, or have the run work on this stage")
	}
	if err != nil {
		return err
	}
	if r.state.Given == nil {
		r.state.Given = map[workflow.StageID]bool{}
	}
	r.state.Given[stage] = true
	return r.save(ctx)
}

// givenText reads the person's document for a stage: a file of the project, or the stage's deliverable in
// another task, wherever the store of that keeps it.
func (o *Options) givenText(ctx context.Context, p *project.Project, stage workflow.StageID) (string, error) {
	if name := o.Flags.Docs[stage]; name != "" {
		return p.ReadDocument("--doc", name)
	}
	there, id, err := o.Engine.Projects().Find(ctx, project.Address{Cwd: p.Dir.Path(), Session: o.Flags.From})
	if err != nil {
		return "", err
	}
	defer there.Close()
	from, err := there.Backend.Get(ctx, id)
	if err != nil {
		return "", err
	}
	rec := from.Record(stage)
	for _, ref := range []*workflow.ContentRef{rec.ClaudeResultRef, rec.CodexResultRef, rec.FinalResultRef} {
		if rec.Status == workflow.Done && ref != nil {
			text, err := there.Backend.Read(ctx, *ref)
			if err == nil && ref.SHA256 != "" && workflow.Hash([]byte(text)) != ref.SHA256 {
				return "", fault.New(fault.Conflict, "the text %s was changed after it was handed in", ref.FilePath).
					WithHint("restore the file, or hand the document in once more")
			}
			return text, err
		}
	}
	return "", fault.New(fault.NotFound, "the run %q has no finished document for stage %q", from.TaskName, stage).
		WithHint("name a file with --doc %s=PATH, or have the run work on this stage", stage)
}

// handIn submits a text for exactly the point at which the session was read, as the work of the stage's first
// engine if the workflow does not know the text's own. problem is the reason why the text itself is not taken.
func (r *run) handIn(ctx context.Context, result request.Result) (problem lang.Text, err error) {
	if !slices.Contains(workflow.Engines(), result.Engine) {
		result.Engine = r.now.Standing.Stage.EnginesFor(r.session.Objective)[0]
	}
	at := r.currentPoint()
	r.state.Submission = &submission{at, workflow.Hash([]byte(result.Text))}
	req := r.newRequest(workflow.ActionSubmit)
	req.Stage, req.Revision, req.Results = string(at.Stage), &at.Revision, []request.Result{result}
	if r.now.Standing.Stage.Kind == workflow.KindBuild && len(r.Flags.Sprints) > 0 {
		req.Sprints = r.Flags.Sprints
	}
	out, err := r.Engine.Do(ctx, req)
	if fault.Is(err, fault.InvalidArgument) {
		return lang.Of(err), nil
	}
	if err != nil {
		return problem, err
	}
	rec := out.Standing.Session.Record(at.Stage) // the reply is about the session's new stage
	e := Event{
		Type: Submitted, Round: r.now.Iteration + 1, State: out.State,
		Score: rec.Score, Verdict: rec.Verdict, Returned: rec.Returned, Rows: engine.DescribeRows(r.language, rec.Criteria),
	}
	if rec.Audit != nil {
		e.Audit = &rec.Audit.Score
	}
	r.tellEvent(e)
	return problem, nil
}

// yesWords are the words of a decision taken beforehand on the command line.
const yesWords = "--yes of the command line"

// sprintWords are the words of the person who has a plan built that they have approved.
const sprintWords = "approved in the run %s, whose sprints --each-sprint builds"

// askPerson takes a person's step: it asks them, or uses their words of before.
func (r *run) askPerson(ctx context.Context, s step) (*Result, error) {
	yes, at := true, r.currentPoint()
	req := r.newRequest(r.session.CurrentState.GateAction())
	req.Revision = &at.Revision
	r.tellEvent(r.waitingEvent())
	switch s {
	case fileAnswers:
		req.Via, req.Answers = workflow.ChannelScript, map[string]string{}
		for _, q := range r.now.Questions {
			req.Answers[q.ID] = r.Answers[q.ID]
		}
	case sayYes:
		req.Via, req.Yes, req.Feedback = workflow.ChannelScript, &yes, yesWords
		if r.Gates != Yes {
			req.Feedback = fmt.Sprintf(sprintWords, r.Flags.From)
		}
	default:
		req.Ask = r.Person
		r.notifyPerson(r.now.Wait())
	}
	out, err := r.Engine.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if out.Silence != nil {
		why := r.language.Say("no decision was taken: %s", out.Silence.Why)
		return &Result{Reason: Person, Why: why, Command: out.Gate.Terminal}, nil
	}
	r.session = out.Standing.Session
	r.tellDecision(at.Stage)
	return nil, nil
}

// waitingEvent describes the gate or the questions at which the session waits.
func (r *run) waitingEvent() Event {
	if r.session.CurrentState == workflow.Clarifying {
		return Event{Type: Questioned, State: r.session.CurrentState, Questions: r.now.Questions}
	}
	e := Event{
		Type: GateReached, Round: r.now.Iteration, State: r.session.CurrentState,
		Score: r.now.Score, Verdict: r.now.Verdict,
	}
	if r.now.Audit != nil {
		e.Audit = &r.now.Audit.Score
	}
	if r.now.Draft != nil {
		e.Draft = r.now.Draft.Path
	}
	if r.now.Gate != nil {
		e.Command = r.now.Gate.Terminal
	}
	return e
}

// tellDecision reports a person's decision, as rework if it sends work back.
func (r *run) tellDecision(from workflow.StageID) {
	last := r.session.Last()
	if last.Grant == nil {
		return
	}
	e := Event{State: r.session.CurrentState, Decision: last.Grant.Decision, Channel: last.Grant.Channel}
	if last.Event == workflow.EventSentBack || last.Event == workflow.EventChangesRequested {
		e.Type, e.Text, e.Why = Rework, clipLine(last.Grant.Feedback, 300), string(from)
	} else {
		e.Type, e.Stage = GateReached, from
	}
	r.tellEvent(e)
}

// commitCall commits the work of a call that has brought an answer.
func (r *run) commitCall(ctx context.Context, t *task) error {
	if !t.Writes {
		return nil
	}
	subject, round := r.session.Objective, r.now.Iteration+1
	if t.stage.Kind != workflow.KindBuild || round > 1 {
		subject = r.language.Say("%s: %s, round %d", r.session.TaskName, t.Stage, round)
	}
	return r.commitWork(ctx, subject, r.language.Say("%s, round %d, by %s.", t.Stage, round, t.Engine))
}
