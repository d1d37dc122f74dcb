// Package verify runs a command that a person has allowed, and captures what came of it
// as [workflow.Evidence]. Whether it is allowed is for the caller to know.
//
// The command is a line for the system's shell. It runs in a process group of its own:
// the command's children end with it when its time is over or nobody waits for it any
// more. They are asked first (SIGTERM) and made to after a grace. What left the group, a
// daemon, goes its own way; so does what a command that ends by itself leaves running.
// On Windows only the shell itself is ended.
//
// The tail is the end of what the command wrote, of both its streams as they came. Only
// that much is held in memory, however much there is.
package verify

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Limits bound a command.
type Limits struct {
	// Timeout is how long it may take; 0 is as long as the call's context lasts.
	Timeout time.Duration
	// Tail is how many bytes of its output are kept; 0 is none.
	Tail int
}

// grace is how long a command that is asked to end has for that, and how long its output
// is waited for when something else than the command itself holds it open.
const grace = 2 * time.Second

// errTimeout is the cause of a context that Limits.Timeout ended.
var errTimeout = errors.New("timeout")

// givenUp is said of a command when nobody waits for it any more.
const givenUp = "the call was given up"

// Run runs command in the folder dir by the system's shell (sh -c; on Windows cmd /C),
// with nothing to read, and returns what came of it. What kept the command from running
// is in NotRun.
func Run(ctx context.Context, dir, command string, now func() time.Time, l Limits) workflow.Evidence {
	e := workflow.Evidence{Command: command, At: now()}
	if e.NotRun = refuse(ctx, dir, command); e.NotRun != "" {
		return e
	}
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.Timeout, errTimeout)
		defer cancel()
	}
	out := &tail{size: l.Tail}
	cmd := shell(ctx, command)
	cmd.Dir = dir
	cmd.Env = environment(cmd.Environ())
	cmd.Stdout, cmd.Stderr = out, out // the same writer: one pipe, so the order is the command's
	// A pipe that another process holds open would hold us for as long.
	cmd.WaitDelay = grace
	var stopped bool
	var over <-chan time.Time
	cmd.Cancel = func() error {
		stopped, over = true, time.After(grace)
		return terminate(cmd.Process)
	}
	if err := cmd.Start(); err != nil {
		switch {
		case errors.Is(context.Cause(ctx), errTimeout):
			e.TimedOut, e.ExitCode = true, -1
		case ctx.Err() != nil:
			e.NotRun = givenUp
		default:
			e.NotRun = err.Error()
		}
		return e
	}
	err := cmd.Wait() // it comes after Cancel, if that is called
	if stopped {
		finish(cmd.Process, over)
	}
	switch {
	case stopped && !errors.Is(context.Cause(ctx), errTimeout):
		e.NotRun = givenUp
		return e
	case stopped:
		e.TimedOut, e.ExitCode = true, -1
	case cmd.ProcessState == nil:
		e.NotRun = "what came of it cannot be told: " + err.Error()
		return e
	default:
		// The state and not the error: output that others hold open is no failure of the command.
		e.ExitCode = cmd.ProcessState.ExitCode()
	}
	e.TookMS = max(0, now().Sub(e.At).Milliseconds())
	e.Tail = out.String()
	return e
}

// refuse says what keeps a command from being started, as far as the system would not
// say it or would not say it well.
func refuse(ctx context.Context, dir, command string) string {
	if ctx.Err() != nil {
		return givenUp
	}
	if strings.TrimSpace(command) == "" {
		return "the command is empty" // a shell calls that a success
	}
	if dir == "" {
		return "there is no folder to run it in" // not wherever the server happens to stand
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "the folder to run it in cannot be entered: " + err.Error()
	case !info.IsDir():
		return dir + " is a file, not a folder to run it in"
	}
	return ""
}

// environment returns the server's environment for the command. It is kept as it is,
// since a build finds its tools, caches and credentials by it as it does in the person's
// terminal, but for two things. The settings of this server (BMAD_*) are for this server:
// a project that uses or builds bmad-mcp itself must not be tested under them. And CI=1
// tells tools that nobody watches: no questions, no watch mode, no progress bars.
func environment(all []string) []string {
	var out []string
	for _, entry := range all {
		if !strings.HasPrefix(strings.ToUpper(entry), "BMAD_") { // Windows does not tell cases apart
			out = append(out, entry)
		}
	}
	return append(out, "CI=1") // of a name that is there twice the last one counts
}
