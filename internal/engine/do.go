package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Do runs one action. An error is always a *fault.Error, except the context's
// own when the caller gave up; nothing was changed then.
func (e *Engine) Do(ctx context.Context, req request.Request) (Outcome, error) {
	if err := req.Validate(); err != nil {
		return Outcome{}, e.Translated(ctx, req, err)
	}
	return e.perform(ctx, req)
}

// Adopt lets the person accept a session as it is after other hands have changed it. It is not an action of the
// tool: req.Ask has to be a person at a terminal.
func (e *Engine) Adopt(ctx context.Context, req request.Request) (Outcome, error) {
	req.Action = workflow.ActionAdopt
	return e.perform(ctx, req)
}

// perform runs the action of a checked request.
func (e *Engine) perform(ctx context.Context, req request.Request) (Outcome, error) {
	out, err := e.handle(ctx, req)
	switch {
	case err == nil:
		out.Fit()
		return out, nil
	case errors.Is(err, context.Canceled), errors.Is(err, request.ErrAsked):
		return Outcome{}, err
	}
	return Outcome{}, e.Translated(ctx, req, err)
}

// handle returns the outcome of a request, with a reply of any size.
func (e *Engine) handle(ctx context.Context, req request.Request) (Outcome, error) {
	call := e.memory.count.Add(1)
	if e.options.Trust != nil && req.Wait == 0 { // who waits needs nothing meanwhile
		defer e.options.Trust.Hold()()
	}
	if req.Action == workflow.ActionStart {
		return e.start(ctx, req)
	}
	at := req.Address
	at.Optional = req.Action == workflow.ActionStatus
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return Outcome{}, err
	}
	defer p.Close()
	if id == "" { // only status goes without a session
		return e.listSessions(ctx, req, p)
	}
	r := e.newRun(p, id, req, call)
	out, err := r.act(ctx)
	var none *gate.Silence
	if errors.As(err, &none) {
		out, err = r.stillPending(ctx, *none)
	}
	if err != nil {
		return Outcome{}, r.explainError(ctx, err)
	}
	r.caller.noteShown(out.Revision)
	out.Queued = !req.Notifies && out.Standing != nil && isAtWorkers(ctx, p, out.Standing.Session)
	return out, nil
}

func (r *run) act(ctx context.Context) (Outcome, error) {
	switch r.req.Action {
	case workflow.ActionSubmit:
		return r.submit(ctx)
	case workflow.ActionAnswer:
		return r.answer(ctx)
	case workflow.ActionConfirm, workflow.ActionApprove:
		return r.decide(ctx, r.readDecision)
	case workflow.ActionStatus:
		return r.status(ctx)
	case workflow.ActionResume:
		return r.resume(ctx)
	case workflow.ActionReopen:
		return r.reopen(ctx)
	case workflow.ActionCancel:
		return r.cancel(ctx)
	case workflow.ActionAdopt:
		return r.adopt(ctx)
	}
	return Outcome{}, request.UnknownAction(string(r.req.Action))
}

// Translated returns an error in the language of the person behind a request, unless code closer to
// a session has chosen one.
func (e *Engine) Translated(ctx context.Context, req request.Request, err error) *fault.Error {
	f := fault.From(err)
	switch {
	case f.Language != "":
		return f
	case f.Code == fault.Internal: // a bug: asking the project for the language could trigger it again
		return f.Translated(e.Projects().Language(""))
	}
	return f.Translated(e.Language(context.WithoutCancel(ctx), req))
}

// Language returns the language to refuse a request in: of the session in the request, else of the project and the
// newest session, else of callers without a project. It reads one session at most.
func (e *Engine) Language(ctx context.Context, req request.Request) lang.Language {
	at := req.Address
	if at.Session != "" && req.Action != workflow.ActionStart {
		if p, id, err := e.Projects().Find(ctx, at); err == nil {
			defer p.Close()
			return p.Language(objectiveOf(ctx, p, id))
		}
		at.Session = ""
	}
	p, err := e.Projects().At(at)
	if err != nil { // the project in the request is wrong; another may be at work
		p, err = e.Projects().At(project.Address{Places: at.Places})
	}
	if err != nil {
		return e.Projects().Language(req.Objective)
	}
	defer p.Close()
	if p.Config.Language != lang.Auto {
		return p.Language("")
	}
	return lang.Choose(lang.Auto, req.Objective, p.Language(objectiveOf(ctx, p, "")))
}

// objectiveOf returns the objective of a session; without an id, of the one changed last.
func objectiveOf(ctx context.Context, p *project.Project, id string) string {
	if id != "" {
		if s, err := p.Backend.Get(ctx, id); err == nil {
			return s.Objective
		}
	}
	if newest, err := p.Backend.Latest(ctx, 1); err == nil && len(newest.Sessions) > 0 {
		return newest.Sessions[0].Objective
	}
	return ""
}
