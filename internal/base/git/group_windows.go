package git

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// setProcessGroup has a command end together with all children (ssh, git-remote-https), and opens no window
// for it.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	cmd.Cancel = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		tree := exec.CommandContext(ctx, "taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid))
		tree.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
		_ = tree.Run() // the process itself is killed in any case
		return cmd.Process.Kill()
	}
}
