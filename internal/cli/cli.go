package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// Main runs the program and returns its exit code.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	return Run(app.New(terminal.New(in, out, errOut)), args, in)
}

// Run is Main with a ready App.
func Run(a *app.App, args []string, in io.Reader) (code int) {
	// A client closing our output must not kill us in the middle of an action.
	signal.Ignore(syscall.SIGPIPE)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // sent by a closing terminal; ignored under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// The first signal asks; with stop done, a second one ends the process.
	context.AfterFunc(ctx, stop)

	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.Terminal.Err, "panic: %v\n\n%s\n", p, debug.Stack())
			code = a.Fail(nil, fault.Unexpected(p))
		}
	}()
	if len(args) == 0 && terminal.IsTerminal(in) { // a person, and no host
		args = []string{"help"}
	}
	newCommand := newRoot
	if len(args) == 0 { // a host starts a server, which has no use for the others
		newCommand = newBareRoot
	}
	root := newCommand(a)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(a.Terminal.Out)
	root.SetErr(a.Terminal.Err)
	command, err := root.ExecuteContextC(ctx)
	a.Close()
	var end *terminal.Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &end):
		return end.Code
	case errors.Is(err, context.Canceled):
		a.Terminal.Warnf("interrupted. To see where a run stands: bmad-mcp status")
		return terminal.ErrStopped.Code
	}
	if former := explainFormer(command, err); former != nil {
		err = former
	}
	return a.Fail(command, err)
}
