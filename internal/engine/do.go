package engine

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Do runs one action. An error is always a *fault.Error, except the context's
// own when the caller gave up; nothing was changed then.
func (e *Engine) Do(ctx context.Context, req Request) (*Reply, error) {
	reply, err := e.do(ctx, req)
	switch {
	case err == nil:
		reply.Fit()
		return reply, nil
	case errors.Is(err, context.Canceled), errors.Is(err, ErrAsked):
		return nil, err
	}
	return nil, fault.From(err).Translated(e.Language(context.WithoutCancel(ctx), req))
}

func (e *Engine) do(ctx context.Context, req Request) (*Reply, error) {
	call := e.memory.count.Add(1)
	if err := req.validate(); err != nil {
		return nil, err
	}
	if req.Action == workflow.ActionStart {
		return e.start(ctx, req)
	}
	at := req.Address()
	at.Optional = req.Action == workflow.ActionStatus
	p, id, err := e.projects.Find(ctx, at)
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
	r.memory.show(r.key(id), reply.Revision)
	return reply, nil
}

func (r *run) act(ctx context.Context) (*Reply, error) {
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
	}
	return nil, unknownAction(string(r.req.Action))
}
