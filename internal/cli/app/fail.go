package app

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// Fail prints an error, and returns the exit code for it. command is nil if the arguments name none.
func (a *App) Fail(command *cobra.Command, err error) int {
	var f *fault.Error
	var io *fs.PathError
	switch {
	case errors.As(err, &f):
	case errors.Is(err, syscall.EPIPE):
		return terminal.ExitStorage // the reader has gone, as after head
	case errors.As(err, &io):
		f = fault.From(err)
	default:
		// Errors of cobra: unknown commands, wrong numbers of arguments.
		f = fault.New(fault.InvalidArgument, "%s", terminal.FlagError(err)).WithHint("see bmad-mcp --help")
		if command != nil {
			f = f.WithHint("see %s --help", command.CommandPath()).Offer(terminal.Misspelt(command, err))
			if strings.Contains(err.Error(), "arg(s)") {
				f = f.WithHint("type it as: %s", command.UseLine())
			}
			if name, ok := terminal.UnknownCommand(err); ok && strings.Contains(name, "://") {
				f = f.WithHint("a repository with the BMAD method is added once, and then served: bmad-mcp method sources add %s", terminal.ShellWord(name))
			}
		}
	}
	if a.Terminal.Lang == "" { // the error came before any command
		a.ReadSettings()
	}
	if dir, err := a.Tasks.Project(); err == nil && a.built != nil && a.Tasks.Config.Language == lang.Auto { // the refusal belongs to no session
		f = a.Engine().Translated(context.Background(), request.Request{Address: project.Address{Places: []string{dir}}}, f)
	}
	f = f.Translated(a.Terminal.Lang)
	if a.Terminal.Lang = f.Language; a.Terminal.JSON {
		_ = a.Terminal.PrintJSON(mcpserver.NewFailure(f)) // a failed write cannot be reported anywhere
	} else {
		a.Terminal.Refuse(f.Reworded(terminal.Spoken))
	}
	return terminal.ExitCode(f)
}
