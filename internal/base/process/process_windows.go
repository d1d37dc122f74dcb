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

// askToEnd kills a process: Windows has no signal to ask it first.
func askToEnd(leader *os.Process) error { return leader.Kill() }

// endGroup does nothing: processes have no group on Windows.
func endGroup(*os.Process, <-chan time.Time) {}

// guard does nothing: Windows has no process groups.
func guard(*os.Process, time.Duration) (end func()) { return func() {} }
