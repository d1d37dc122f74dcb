package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

func setGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.HideWindow = true
}

// askToEnd ends a process; there is no way to ask.
func askToEnd(leader *os.Process) error { return leader.Kill() }

// endGroup does nothing, because there is no group to wait for.
func endGroup(*os.Process, <-chan time.Time) {}
