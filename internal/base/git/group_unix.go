//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// setProcessGroup puts a command in a new session, without a terminal to prompt at, and ends the children
// (ssh, git-remote-https) with it.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		// At once: the output is discarded.
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return nil
	}
}
