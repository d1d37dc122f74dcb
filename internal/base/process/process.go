// Package process ends a program together with all processes started by it.
//
// The program runs in a separate process group. When the context ends, the group is asked to end (SIGTERM),
// and killed (SIGKILL) after a grace. A guard does the same if this process is killed. A process outside the
// group, for example a daemon, goes on. On Windows only the program itself is ended, and has no guard.
//
// Command lines, of which a person allows some, are compared here too.
package process

import (
	"os/exec"
	"time"
)

// Group is a program with all children.
type Group struct {
	cmd     *exec.Cmd
	grace   time.Duration
	stopped bool
	over    <-chan time.Time
	// unguard ends the guard.
	unguard func()
}

// Own prepares a command, which must have a context and not be started yet, to run in a separate group.
func Own(cmd *exec.Cmd, grace time.Duration) *Group {
	g := &Group{cmd: cmd, grace: grace, unguard: func() {}}
	setGroup(cmd)
	// Another process could block us by holding a pipe open.
	cmd.WaitDelay = grace
	cmd.Cancel = func() error {
		g.stopped, g.over = true, time.After(grace)
		return askToEnd(cmd.Process)
	}
	return g
}

// Start starts the command, and the guard.
func (g *Group) Start() error {
	err := g.cmd.Start()
	if err == nil {
		g.unguard = guard(g.cmd.Process, g.grace)
	}
	return err
}

// Wait waits for the started command as [exec.Cmd.Wait] does, and reports whether the context has
// stopped it. If so, no process of the group is left.
func (g *Group) Wait() (stopped bool, err error) {
	err = g.cmd.Wait() // returns after Cancel, if it is called
	if g.stopped {
		endGroup(g.cmd.Process, g.over)
	}
	g.unguard()
	return g.stopped, err
}

// End ends the processes left running by a command that ended by itself. It is called after Wait.
func (g *Group) End() {
	if !g.stopped && askToEnd(g.cmd.Process) == nil {
		endGroup(g.cmd.Process, time.After(g.grace))
	}
}
