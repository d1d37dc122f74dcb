package cli

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
)

// fail reports an error and returns its exit code.
func (a *app) fail(err error) int {
	var f *fault.Error
	var io *fs.PathError
	switch {
	case errors.As(err, &f):
	case errors.Is(err, syscall.EPIPE):
		return terminal.ExitStorage // the reader has gone, as head does
	case errors.As(err, &io):
		f = fault.From(err)
	default:
		// cobra's own: unknown commands, wrong numbers of arguments.
		f = fault.New(fault.InvalidArgument, "%s", terminal.FlagError(err)).WithHint("see bmad-mcp --help")
		if a.command != nil {
			f = f.WithHint("see %s --help", a.command.CommandPath()).Offer(terminal.Misspelt(a.command, err))
		}
	}
	if a.Lang == "" { // refused before a command had begun
		a.readSettings()
	}
	if dir, err := a.project(); err == nil && a.engine != nil && a.language == lang.Auto { // the refusal belongs to no session
		f = a.engine.Translated(context.Background(), request.Request{Address: project.Address{Places: []string{dir}}}, f)
	}
	f = f.Translated(a.Lang)
	if a.Lang = f.Language; a.JSON {
		_ = a.PrintJSON(mcpserver.NewFailure(f)) // a failed write cannot be reported anywhere
	} else {
		a.Refuse(f)
	}
	return terminal.ExitCode(f)
}
