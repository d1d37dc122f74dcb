package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

func own(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.HideWindow = true
}

// terminate ends a process; there is no way to ask.
func terminate(leader *os.Process) error { return leader.Kill() }

// finish does nothing, because there is no group to wait for.
func finish(*os.Process, <-chan time.Time) {}
