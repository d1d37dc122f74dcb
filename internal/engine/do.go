package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/request"
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

// Adopt lets the person accept a session that was changed by other hands, as it is. It is
// not an action of the tool: req.Ask has to be a person at a terminal.
func (e *Engine) Adopt(ctx context.Context, req request.Request) (Outcome, error) {
	req.Action = workflow.ActionAdopt
	return e.perform(ctx, req)
}

// perform runs one action of a request that was checked.
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
		return e.list(ctx, req, p)
	}
	r := e.run(p, id, req, call)
	out, err := r.act(ctx)
	var none *silence
	if errors.As(err, &none) {
		out, err = r.stillPending(ctx, none.Silence)
	}
	if err != nil {
		return Outcome{}, r.explain(ctx, err)
	}
	r.caller.show(out.Revision)
	return out, nil
}

func (r *run) act(ctx context.Context) (Outcome, error) {
	switch r.req.Action {
	case workflow.ActionSubmit:
		return r.submit(ctx)
	case workflow.ActionAnswer:
		return r.answer(ctx)
	case workflow.ActionConfirm, workflow.ActionApprove:
		return r.decide(ctx, r.grant)
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
