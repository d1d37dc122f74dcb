package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Tasks are the sessions of a workspace, as the arguments of commands name them.
type Tasks struct {
	*Workspace
	// Engine returns the engine for the person at this machine.
	Engine func() *engine.Engine
	// Log takes the problems of work in the background.
	Log   *slog.Logger
	term  *terminal.Terminal
	setUp func() error
}

// Session returns the session that the arguments name.
func (t *Tasks) Session(cmd *cobra.Command, args []string) (*workflow.Session, error) {
	at, err := t.Address(args)
	if err != nil {
		return nil, err
	}
	s, _, err := t.Engine().Session(cmd.Context(), at)
	t.term.SpeakOf(s)
	return s, err
}

// Inspect returns the session that the arguments name, the check of its history, and its project.
func (t *Tasks) Inspect(cmd *cobra.Command, args []string) (*workflow.Session, workflow.Verification, string, error) {
	at, err := t.Address(args)
	if err != nil {
		return nil, workflow.Verification{}, "", err
	}
	s, v, cwd, err := t.Engine().Inspect(cmd.Context(), at)
	t.term.SpeakOf(s)
	return s, v.In(t.term.Lang), cwd, err
}

// Do runs one action for the person or script at this terminal.
func (t *Tasks) Do(ctx context.Context, req request.Request) (engine.Outcome, error) {
	dir, err := t.Project()
	if err != nil {
		return engine.Outcome{}, err
	}
	req.By = "terminal"
	if t.Cwd != "" || req.Action == workflow.ActionStart {
		req.Cwd = dir
	} else {
		req.Places = []string{dir}
	}
	out, err := t.Engine().Do(ctx, req)
	t.SpeakAs(ctx, req.Address, out, err)
	return out, err
}

// SpeakAs chooses the language of the session that an action was for, by its outcome, or by its
// refusal, which names the session.
func (t *Tasks) SpeakAs(ctx context.Context, of project.Address, out engine.Outcome, err error) {
	if out.Standing != nil {
		t.term.SpeakOf(out.Standing.Session)
	}
	var f *fault.Error
	if errors.As(err, &f) && f.SessionID != "" {
		of.Session = f.SessionID
		if s, _, err := t.Engine().Session(ctx, of); err == nil {
			t.term.SpeakOf(s)
		}
	}
}
