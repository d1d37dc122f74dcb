package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// address returns the address of the session that the arguments name.
func (a *app) address(args []string) (project.Address, error) {
	dir, err := a.project()
	at := project.Address{Session: taskName(args), Places: []string{dir}}
	if a.cwd != "" {
		at.Cwd = dir
	}
	return at, err
}

func taskName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// session returns the session that the arguments name.
func (a *app) session(cmd *cobra.Command, args []string) (*workflow.Session, error) {
	at, err := a.address(args)
	if err != nil {
		return nil, err
	}
	s, _, err := a.engine.Session(cmd.Context(), at)
	a.speakOf(s)
	return s, err
}

// inspect returns the session that the arguments name, the check of its history, and its project.
func inspect(a *app, cmd *cobra.Command, args []string) (*workflow.Session, workflow.Verification, string, error) {
	at, err := a.address(args)
	if err != nil {
		return nil, workflow.Verification{}, "", err
	}
	s, v, cwd, err := a.engine.Inspect(cmd.Context(), at)
	a.speakOf(s)
	return s, v.In(a.Lang), cwd, err
}

// do runs one action for the person or script at this terminal.
func (a *app) do(ctx context.Context, req request.Request) (engine.Outcome, error) {
	dir, err := a.project()
	if err != nil {
		return engine.Outcome{}, err
	}
	req.By = "terminal"
	if a.cwd != "" || req.Action == workflow.ActionStart {
		req.Cwd = dir
	} else {
		req.Places = []string{dir}
	}
	out, err := a.engine.Do(ctx, req)
	a.speakAs(ctx, req.Address, out, err)
	return out, err
}
