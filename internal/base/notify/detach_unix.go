//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// detach prepares a command to outlive this process, without the signals of its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
