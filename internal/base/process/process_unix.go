//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// groupPoll is the interval of checks whether a group has ended.
const groupPoll = 10 * time.Millisecond

func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// askToEnd asks the group of a process to end.
func askToEnd(leader *os.Process) error {
	if err := syscall.Kill(-leader.Pid, syscall.SIGTERM); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	// If this failed, the leader is killed after the grace, and then the group.
	return nil
}

// endGroup waits for the group of an ended process, and kills the rest of it when the time is over. It polls
// instead of checking once at the end, because the number of a group is only safe from reuse for as long as
// the group has a member.
func endGroup(leader *os.Process, over <-chan time.Time) {
	look := time.NewTicker(groupPoll)
	defer look.Stop()
	for {
		if err := syscall.Kill(-leader.Pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		select {
		case <-over:
			_ = syscall.Kill(-leader.Pid, syscall.SIGKILL) // they may just have ended
			return
		case <-look.C:
		}
	}
}
