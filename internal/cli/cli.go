// Package cli is the terminal face: one file a subcommand. Without a subcommand
// it serves MCP on stdio. Every subcommand drives the same engine as the server.
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

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// Main runs the program and returns its exit code.
func Main(args []string, in io.Reader, out, errOut io.Writer) (code int) {
	// A client that closes our output must not kill us in the middle of an action.
	signal.Ignore(syscall.SIGPIPE)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // a terminal that closes; nohup goes on without one
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// The first signal asks; with stop done, a second one ends the process.
	context.AfterFunc(ctx, stop)

	// Text of a model or a repository must not move the cursor over our output.
	a := &app{in: in, out: visible.NewWriter(out), err: visible.NewWriter(errOut), raw: out}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.err, "panic: %v\n\n%s\n", p, debug.Stack())
			code = a.fail(fault.Unexpected(p))
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	var err error
	a.command, err = root.ExecuteContextC(ctx)
	if a.library != nil {
		a.library.Close() // a fetch that is under way would otherwise count as one that failed
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitStorage
	case errors.Is(err, errPending):
		return exitGate
	case errors.Is(err, errSpent):
		return exitSpent
	case errors.Is(err, errEngine):
		return exitEngine
	case errors.Is(err, errStopped):
		return exitInterrupted
	case errors.Is(err, errUnvouched):
		return exitNotFound
	case errors.Is(err, context.Canceled):
		a.warn("interrupted; bmad-mcp task status says where a session stands")
		return exitInterrupted
	}
	return a.fail(err)
}
