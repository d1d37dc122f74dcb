//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// CanDetach reports whether a program can be started that outlives this one, and be asked to end.
func CanDetach() bool { return Self().Started != "" }

// Detach prepares a command to run in a session of its own, without a terminal and out of reach of the signals to this
// program.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
