// Package verify decides which command checks a session's work, runs it, and captures the
// result as [workflow.Evidence]. Whether a command is allowed is decided by the caller.
//
// The command is a line for the system's shell. It runs in a process group of its own, so that its
// children end with it on a timeout, if the call is given up, or if this program is killed: first by SIGTERM,
// after a grace by SIGKILL. A process outside of the group, for example a daemon, goes on, and so does a process
// left running by a command that ends by itself. On Windows only the shell is ended.
//
// The tail is the end of the command's output, both streams in their order. Only this much
// is held in memory.
package verify

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits bound a command.
type Limits struct {
	// Timeout bounds the time of the command; 0 leaves the bound to the call's context.
	Timeout time.Duration
	// Tail bounds the kept bytes of the output.
	Tail int
	// Language is the language of [workflow.Evidence.NotRun].
	Language lang.Language
	// Env changes the environment of the command: NAME=value sets a variable, NAME removes one.
	Env []string
	// Copy, if not nil, gets all of the output as it comes.
	Copy io.Writer
}

// grace is the time between SIGTERM and SIGKILL, and the wait for the output if something other than the
// command holds it open.
const grace = 2 * time.Second

// errTimeout is the cause of a context ended by Limits.Timeout.
var errTimeout = errors.New("timeout")

// givenUp returns the reason for a command abandoned by the caller.
func givenUp(l lang.Language) string { return l.Say("the call was given up") }

// Run runs command in the folder dir with the system's shell (sh -c; on Windows cmd /C), or by a program with its
// arguments for which command is only a name, and an empty input. It returns the result; NotRun is the reason why
// it did not run.
func Run(ctx context.Context, dir, command string, now func() time.Time, l Limits, program ...string) workflow.Evidence {
	e := workflow.Evidence{Command: command, At: now()}
	if e.NotRun = refusalReason(ctx, dir, command, l.Language); e.NotRun != "" {
		return e
	}
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.Timeout, errTimeout)
		defer cancel()
	}
	out := &tail{size: l.Tail}
	cmd := shell(ctx, command)
	if len(program) > 0 {
		cmd = exec.CommandContext(ctx, program[0], program[1:]...) //nolint:gosec // a person has allowed it
	}
	cmd.Dir = dir
	cmd.Env = environment(cmd.Environ(), l.Env)
	var all io.Writer = out
	if l.Copy != nil {
		all = io.MultiWriter(out, l.Copy)
	}
	cmd.Stdout, cmd.Stderr = all, all // the same writer: one pipe, so the order is the command's
	group := process.Own(cmd, grace)
	if err := group.Start(); err != nil {
		switch {
		case errors.Is(context.Cause(ctx), errTimeout):
			e.TimedOut, e.ExitCode = true, -1
		case ctx.Err() != nil:
			e.NotRun = givenUp(l.Language)
		default:
			e.NotRun = err.Error()
		}
		return e
	}
	stopped, err := group.Wait()
	switch {
	case stopped && !errors.Is(context.Cause(ctx), errTimeout):
		e.NotRun = givenUp(l.Language)
		return e
	case stopped:
		e.TimedOut, e.ExitCode = true, -1
	case cmd.ProcessState == nil:
		e.NotRun = l.Language.Say("its result is unknown: %v", err)
		return e
	default:
		// Use the state and not the error: output held open by others is not the command's failure.
		e.ExitCode = cmd.ProcessState.ExitCode()
	}
	e.TookMS = max(0, now().Sub(e.At).Milliseconds())
	e.Tail = out.String()
	return e
}

// refusalReason returns the reason why a command cannot be started, if the system's own error would be missing or
// unclear.
func refusalReason(ctx context.Context, dir, command string, l lang.Language) string {
	if ctx.Err() != nil {
		return givenUp(l)
	}
	if strings.TrimSpace(command) == "" {
		return l.Say("the command is empty") // a shell would succeed
	}
	if dir == "" {
		return l.Say("there is no folder to run it in") // not wherever the server happens to run
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return l.Say("the folder to run it in cannot be entered: %v", err)
	case !info.IsDir():
		return l.Say("%s is a file, not a folder to run it in", dir)
	}
	return ""
}

// environment returns the server's environment for the command, with which a build finds tools, caches and
// credentials as in the person's terminal: a project that uses or builds bmad-mcp must not be tested under the settings
// of this one. CI=1 tells tools that nobody watches: no questions, no watch mode, no progress bars. changes are the
// changes of Limits.Env.
func environment(all, changes []string) []string {
	out := slices.DeleteFunc(process.Environ(all), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(changes, name)
	})
	out = append(out, "CI=1") // of duplicate names the last one counts
	return append(out, slices.DeleteFunc(slices.Clone(changes), func(c string) bool { return !strings.Contains(c, "=") })...)
}
