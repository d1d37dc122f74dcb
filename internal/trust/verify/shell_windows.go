package verify

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns the command for the shell. The command line is built here: cmd does not take apart its arguments
// as other programs do, and /S takes off only the outer quotes.
func shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /D /S /C "` + command + `"`}
	return cmd
}

// wrapper is Gradle's own program in a project, and gradleTest runs the tests by it.
const wrapper, gradleTest = "gradlew.bat", `.\gradlew.bat test`
