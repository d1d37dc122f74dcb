// Package process ends a program together with the processes that it has started.
//
// The program runs in a process group of its own. When its context ends, the group is asked to
// end (SIGTERM), and killed (SIGKILL) after a grace. A process that has left the group, for example a
// daemon, goes on. On Windows only the program itself is ended.
//
// Command lines, of which a person allows some, are compared here too.
package process

import (
	"os/exec"
	"time"
)

// Group is a program with its children.
type Group struct {
	cmd     *exec.Cmd
	grace   time.Duration
	stopped bool
	over    <-chan time.Time
}

// Own prepares a command, which must have a context and not be started yet, to run in a group of
// its own.
func Own(cmd *exec.Cmd, grace time.Duration) *Group {
	g := &Group{cmd: cmd, grace: grace}
	own(cmd)
	// Another process that holds a pipe open would block us.
	cmd.WaitDelay = grace
	cmd.Cancel = func() error {
		g.stopped, g.over = true, time.After(grace)
		return terminate(cmd.Process)
	}
	return g
}

// Wait waits for the started command as [exec.Cmd.Wait] does, and reports whether the context has
// stopped it. If so, no process of the group is left.
func (g *Group) Wait() (stopped bool, err error) {
	err = g.cmd.Wait() // returns after Cancel, if that is called
	if g.stopped {
		finish(g.cmd.Process, g.over)
	}
	return g.stopped, err
}

// End ends the processes that a command left running if it ended by itself. It is called after Wait.
func (g *Group) End() {
	if !g.stopped && terminate(g.cmd.Process) == nil {
		finish(g.cmd.Process, time.After(g.grace))
	}
}
