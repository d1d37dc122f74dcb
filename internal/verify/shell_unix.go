//go:build unix

package verify

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// foldsBlanks: sh reads words apart at any number of blanks.
const foldsBlanks = true

// groupPoll is how often it is looked whether a group has ended.
const groupPoll = 10 * time.Millisecond

// shell returns the command for the shell, in a process group of its own.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", command) //nolint:gosec // a person has allowed this command
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// terminate asks the group of a process to end.
func terminate(leader *os.Process) error {
	if err := syscall.Kill(-leader.Pid, syscall.SIGTERM); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	// Where it could not be asked the leader is killed after the grace, and the group then.
	return nil
}

// finish waits for the group of a process that has ended, and kills what is left of it
// when the time is over. It looks often, and not once at the end: while somebody is in
// the group its number is not given to another.
func finish(leader *os.Process, over <-chan time.Time) {
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
