package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// request returns a request for the session that the arguments name.
func (a *app) request(args []string) (request.Request, error) {
	dir, err := a.project()
	req := request.Request{SessionID: taskName(args), Places: []string{dir}}
	if a.cwd != "" {
		req.Cwd = dir
	}
	return req, err
}

func taskName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// session returns the session that the arguments name.
func (a *app) session(cmd *cobra.Command, args []string) (*workflow.Session, error) {
	req, err := a.request(args)
	if err != nil {
		return nil, err
	}
	s, _, err := a.engine.Session(cmd.Context(), req.Address())
	a.speakOf(s)
	return s, err
}

// inspect returns the session that the arguments name, what is found of its history, and
// its project.
func inspect(a *app, cmd *cobra.Command, args []string) (*workflow.Session, workflow.Verification, string, error) {
	req, err := a.request(args)
	if err != nil {
		return nil, workflow.Verification{}, "", err
	}
	s, v, cwd, err := a.engine.Inspect(cmd.Context(), req.Address())
	a.speakOf(s)
	return s, v.In(a.lang), cwd, err
}

// do runs one action for the person or script at this terminal.
func (a *app) do(ctx context.Context, req request.Request) (*reply.Reply, error) {
	dir, err := a.project()
	if err != nil {
		return nil, err
	}
	req.By = "terminal"
	if a.cwd != "" || req.Action == workflow.ActionStart {
		req.Cwd = dir
	} else {
		req.Places = []string{dir}
	}
	reply, err := a.engine.Do(ctx, req)
	a.speakAs(ctx, req, reply, err)
	return reply, err
}
