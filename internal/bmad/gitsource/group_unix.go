//go:build unix

package gitsource

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group puts a command in a session of its own: so it has no terminal that anybody could
// be asked at, and what it starts (ssh, git-remote-https) ends with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		// At once: what it writes is thrown away.
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return nil
	}
}
