//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group puts a command in a session of its own, so that it has no terminal to prompt at and its
// children (ssh, git-remote-https) end with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		// At once: its output is discarded.
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return nil
	}
}
