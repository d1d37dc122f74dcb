package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Address returns the address of the session that the arguments name.
func (a *App) Address(args []string) (project.Address, error) {
	dir, err := a.Project()
	at := project.Address{Session: TaskName(args), Places: []string{dir}}
	if a.Cwd != "" {
		at.Cwd = dir
	}
	return at, err
}

// TaskName returns the task that the arguments name, "" if they name none.
func TaskName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Session returns the session that the arguments name.
func (a *App) Session(cmd *cobra.Command, args []string) (*workflow.Session, error) {
	at, err := a.Address(args)
	if err != nil {
		return nil, err
	}
	s, _, err := a.Engine().Session(cmd.Context(), at)
	a.SpeakOf(s)
	return s, err
}

// Inspect returns the session that the arguments name, the check of its history, and its project.
func (a *App) Inspect(cmd *cobra.Command, args []string) (*workflow.Session, workflow.Verification, string, error) {
	at, err := a.Address(args)
	if err != nil {
		return nil, workflow.Verification{}, "", err
	}
	s, v, cwd, err := a.Engine().Inspect(cmd.Context(), at)
	a.SpeakOf(s)
	return s, v.In(a.Lang), cwd, err
}

// Do runs one action for the person or script at this terminal.
func (a *App) Do(ctx context.Context, req request.Request) (engine.Outcome, error) {
	dir, err := a.Project()
	if err != nil {
		return engine.Outcome{}, err
	}
	req.By = "terminal"
	if a.Cwd != "" || req.Action == workflow.ActionStart {
		req.Cwd = dir
	} else {
		req.Places = []string{dir}
	}
	out, err := a.Engine().Do(ctx, req)
	a.SpeakAs(ctx, req.Address, out, err)
	return out, err
}

// SpeakAs chooses the language of the session that an action was for, by its outcome, or by its
// refusal, which names the session.
func (a *App) SpeakAs(ctx context.Context, of project.Address, out engine.Outcome, err error) {
	if out.Standing != nil {
		a.SpeakOf(out.Standing.Session)
	}
	var f *fault.Error
	if errors.As(err, &f) && f.SessionID != "" {
		of.Session = f.SessionID
		if s, _, err := a.Engine().Session(ctx, of); err == nil {
			a.SpeakOf(s)
		}
	}
}

// GrantText describes the channel of a decision and how long it took. An unvouched entry is not
// repeated as a fact.
func (a *App) GrantText(g *workflow.Grant, unvouched bool) string {
	switch {
	case g == nil:
		return ""
	case unvouched:
		return a.Lang.Say("unvouched: says %s", g.Channel)
	}
	text := fmt.Sprintf("%s (%s)", g.Channel, g.Assurance)
	if g.Channel == workflow.ChannelRelayed {
		text = a.Lang.Say("relayed by the assistant (%s)", g.Assurance)
	}
	if took, ok := g.Took(); ok {
		text = a.Lang.Say("%s in %s", text, took.Round(time.Second))
	}
	return text
}
