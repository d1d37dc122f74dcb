package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Tasks finds the sessions of a workspace by the arguments of commands.
type Tasks struct {
	*Workspace
	// Engine returns the engine for the person at this machine.
	Engine func() *engine.Engine
	// Log is for problems of work in the background.
	Log   *slog.Logger
	term  *terminal.Terminal
	setUp func() error
}

// Session returns the session in the arguments.
func (t *Tasks) Session(cmd *cobra.Command, args []string) (*workflow.Session, error) {
	at, err := t.Address(args)
	if err != nil {
		return nil, err
	}
	s, _, err := t.Engine().Session(cmd.Context(), at)
	t.term.SpeakOf(s)
	return s, err
}

// Inspect returns the session in the arguments, the check of the session's history, and the project.
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

// SpeakAs chooses the language of an action's session. The session is in the outcome, or in the refusal.
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

// OfTask makes a command take the name of a task, or the beginning of a name. If it is left out and several
// tasks are active, a person chooses one.
func (t *Tasks) OfTask(cmd *cobra.Command) *cobra.Command {
	return t.withTask(cmd, t.pickTask)
}

// MayOfTask makes a command take the name of a task, or the beginning of a name; without one the command is
// about all tasks.
func (t *Tasks) MayOfTask(cmd *cobra.Command) *cobra.Command {
	return t.withTask(cmd, func(context.Context) ([]string, error) { return nil, nil })
}

func (t *Tasks) withTask(cmd *cobra.Command, missing func(ctx context.Context) ([]string, error)) *cobra.Command {
	cmd.Use += " [RUN]"
	cmd.Args, cmd.ValidArgsFunction = cobra.MaximumNArgs(1), t.CompleteTasks
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if len(args) == 0 {
			args, err = missing(cmd.Context())
		} else {
			args[0], err = t.Named(cmd.Context(), args[0])
		}
		if err != nil {
			return err
		}
		return run(cmd, args)
	}
	return cmd
}

// Named returns the name of the task that a person means: the task with this name or id, or else the only one
// whose name begins so. An unknown name is returned unchanged, for the command to refuse.
func (t *Tasks) Named(ctx context.Context, begin string) (string, error) {
	at, err := t.Address([]string{begin})
	if err != nil {
		return "", err
	}
	p, _, err := t.Engine().Projects().Find(ctx, at)
	if err == nil {
		p.Close()
		return begin, nil
	}
	if begin == "" || !fault.Is(err, fault.NotFound) {
		return begin, ctx.Err()
	}
	known, names, err := t.Engine().Known(ctx, project.Address{Cwd: at.Places[0]})
	if err != nil {
		return begin, ctx.Err()
	}
	var active []string
	for _, s := range known {
		names = append(names, s.TaskName)
		if s.CurrentState.Active() {
			active = append(active, s.TaskName)
		}
	}
	isOther := func(name string) bool { return !strings.HasPrefix(name, begin) }
	names = slices.DeleteFunc(names, isOther)
	if active = slices.DeleteFunc(active, isOther); len(active) == 1 { // a run that has ended is meant less
		return active[0], nil
	}
	switch len(names) {
	case 0:
		return begin, nil
	case 1:
		return names[0], nil
	}
	slices.Sort(names)
	return "", fault.New(fault.Conflict, "%d runs begin with %q", len(names), begin).
		WithHint("type more of the name of one: %s", terminal.JoinWords(names))
}

// pickTask has the person choose one of several active tasks. Without a choice it returns an error.
func (t *Tasks) pickTask(ctx context.Context) ([]string, error) {
	person, err := t.term.Person()
	if err != nil || !t.term.Pretty() {
		return nil, nil
	}
	dir, err := t.Project()
	if err != nil {
		return nil, err
	}
	if p, _, err := t.Engine().Projects().Find(ctx, project.Address{Cwd: dir}); err == nil {
		p.Close() // one run alone can be meant
		return nil, nil
	}
	known, _, err := t.Engine().Known(ctx, project.Address{Cwd: dir})
	known = slices.DeleteFunc(slices.Clone(known), func(s workflow.Summary) bool { return !s.CurrentState.Active() })
	if err != nil || len(known) < 2 {
		return nil, ctx.Err()
	}
	var rows [][]string
	for i, s := range known {
		rows = append(rows, []string{strconv.Itoa(i + 1), s.TaskName, string(s.CurrentStage), string(s.CurrentState), t.term.Since(s.UpdatedAt)})
	}
	if err := t.term.Columns(nil, rows); err != nil {
		return nil, err
	}
	line, _ := person.Line(ctx, t.term.Lang.Say("Which one [1-%d]: ", len(known))) // without an answer no task is chosen
	if n, err := strconv.Atoi(line); err == nil && 1 <= n && n <= len(known) {
		return []string{known[n-1].TaskName}, nil
	}
	return nil, ctx.Err()
}
