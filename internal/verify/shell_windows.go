package verify

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// foldsBlanks: cmd hands a command line on as it is, and each program takes it apart itself.
const foldsBlanks = false

// shell returns the command for the shell. The command line is made here: cmd does not
// take apart its arguments as other programs do, and /S takes off the outer quotes only.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /D /S /C "` + command + `"`, HideWindow: true}
	return cmd
}

// grouped returns the command for a program.
func grouped(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // a person has allowed what it runs
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	return cmd
}

// terminate ends a process; there is no way to ask.
func terminate(leader *os.Process) error { return leader.Kill() }

// finish has nothing to wait for.
func finish(*os.Process, <-chan time.Time) {}
