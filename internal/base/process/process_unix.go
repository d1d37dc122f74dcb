//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
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

// guard starts a shell that ends the group of a process when this program has been killed: the shell then reads the
// end of a pipe which only this program can write to. Without a shell, the group has no guard and survives.
func guard(leader *os.Process, grace time.Duration) (end func()) {
	const script = `read -r _; kill -s TERM -- "-$1"; sleep "$2"; kill -s KILL -- "-$1"`
	cmd := exec.CommandContext(context.Background(), "sh", "-c", script, "guard", strconv.Itoa(leader.Pid), strconv.Itoa(int(grace.Seconds()))) //nolint:gosec // two numbers
	// The signals to our own group are not for it.
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return func() {}
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = in.Close()
		_ = cmd.Wait()
	}
}
