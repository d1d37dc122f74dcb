package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
)

// The exit codes, part of the contract with scripts.
const (
	exitOK         = 0
	exitStorage    = 1
	exitUsage      = 2
	exitNotFound   = 3
	exitConflict   = 4
	exitNotAllowed = 5
	exitGate       = 6
	exitInternal   = 7
	// exitSpent and exitEngine are the codes of bmad-mcp run alone.
	exitSpent  = 8
	exitEngine = 9
	// exitInterrupted is the code that shells give to SIGINT.
	exitInterrupted = 130
)

// exitTitle begins the exit codes in the help of a command.
const exitTitle = "Exit codes:"

const exitHelp = exitTitle + `
  0  done
  1  the disk refused
  2  the call is malformed
  3  no such session, task or file
  4  another call got there first, or the call is ambiguous
  5  the session's stage or state does not allow it
  6  a human decision is needed first
  7  bmad-mcp itself failed, which is a bug; standard error has the details
  130  interrupted`

// errReported ends the program with exitStorage: the error was already printed.
var errReported = errors.New("reported")

// errPending ends the program with exitGate: a decision was needed and not given.
var errPending = errors.New("pending")

// errUnvouched ends the program with exitNotFound: the seal that would prove it is missing.
var errUnvouched = errors.New("unvouched")

// runExitHelp is exitHelp with the codes that only a run has.
var runExitHelp = strings.Replace(exitHelp, "\n  130  ", "\n  8  the budget or the time is spent\n  9  the engine did not do the work; nothing was submitted\n  130  ", 1)

// errSpent and errEngine end the program with exitSpent and exitEngine: the run has told the reason.
var (
	errSpent  = errors.New("spent")
	errEngine = errors.New("engine")
)

// errStopped ends the program with exitInterrupted: the command has told about the work that remains.
var errStopped = errors.New("stopped")

// fail reports an error and returns its exit code.
func (a *app) fail(err error) int {
	var f *fault.Error
	var io *fs.PathError
	switch {
	case errors.As(err, &f):
	case errors.Is(err, syscall.EPIPE):
		return exitStorage // the reader has gone, as head does
	case errors.As(err, &io):
		f = fault.From(err)
	default:
		// cobra's own: unknown commands, wrong numbers of arguments.
		f = fault.New(fault.InvalidArgument, "%s", flagError(err)).WithHint("see bmad-mcp --help")
		if a.command != nil {
			f = f.WithHint("see %s --help", a.command.CommandPath()).Offer(misspelt(a.command, err))
		}
	}
	if a.lang == "" { // refused before a command had begun
		a.readSettings()
	}
	if dir, err := a.project(); err == nil && a.engine != nil && a.language == lang.Auto { // the refusal belongs to no session
		f = a.engine.Translated(context.Background(), request.Request{Address: project.Address{Places: []string{dir}}}, f)
	}
	f = f.Translated(a.lang)
	if a.lang = f.Language; a.asJSON {
		a.printFailure(f)
	} else {
		a.warn("%s", f.Message)
		if f.Hint != "" {
			fmt.Fprintln(a.err, a.lang.Say("  what to do: %s", f.Hint))
		}
		if len(f.Allowed) > 0 {
			fmt.Fprintln(a.err, a.lang.Say("  possible now: %s", joinWords(f.Allowed)))
		}
	}
	switch f.Code {
	case fault.InvalidArgument:
		return exitUsage
	case fault.NotFound:
		return exitNotFound
	case fault.Conflict:
		return exitConflict
	case fault.WrongStage, fault.NotAllowed:
		return exitNotAllowed
	case fault.GatePending:
		return exitGate
	case fault.Internal:
		return exitInternal
	}
	return exitStorage
}
