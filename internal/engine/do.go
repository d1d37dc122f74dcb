package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Do runs one action. An error is always a *fault.Error, except the context's
// own when the caller gave up; nothing was changed then.
func (e *Engine) Do(ctx context.Context, req request.Request) (*reply.Reply, error) {
	if err := req.Validate(); err != nil {
		return nil, e.Translated(ctx, req, err)
	}
	return e.perform(ctx, req)
}

// Adopt lets the person accept a session that was changed by other hands, as it is. It is
// not an action of the tool: req.Ask has to be a person at a terminal.
func (e *Engine) Adopt(ctx context.Context, req request.Request) (*reply.Reply, error) {
	req.Action = workflow.ActionAdopt
	return e.perform(ctx, req)
}

// perform runs one action of a request that was checked.
func (e *Engine) perform(ctx context.Context, req request.Request) (*reply.Reply, error) {
	reply, err := e.handle(ctx, req)
	switch {
	case err == nil:
		reply.Fit()
		return reply, nil
	case errors.Is(err, context.Canceled), errors.Is(err, request.ErrAsked):
		return nil, err
	}
	return nil, e.Translated(ctx, req, err)
}

// handle returns the reply to a request, of any size.
func (e *Engine) handle(ctx context.Context, req request.Request) (*reply.Reply, error) {
	call := e.memory.count.Add(1)
	if req.Action == workflow.ActionStart {
		return e.start(ctx, req)
	}
	at := req.Address
	at.Optional = req.Action == workflow.ActionStatus
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if id == "" { // only status goes without a session
		return e.list(ctx, req, p)
	}
	r := e.run(p, id, req, call)
	reply, err := r.act(ctx)
	var none *silence
	if errors.As(err, &none) {
		reply, err = r.stillPending(ctx, none.Silence)
	}
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	r.caller.show(reply.Revision)
	return reply, nil
}

func (r *run) act(ctx context.Context) (*reply.Reply, error) {
	switch r.req.Action {
	case workflow.ActionSubmit:
		return r.submit(ctx)
	case workflow.ActionAnswer:
		return r.answer(ctx)
	case workflow.ActionConfirm, workflow.ActionApprove:
		return r.decide(ctx)
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
	return nil, request.UnknownAction(string(r.req.Action))
}
