//go:build unix

package verify

import (
	"context"
	"os/exec"
)

// foldsBlanks is true if any number of blanks separates words.
const foldsBlanks = true

// shell returns the command for the shell.
func shell(ctx context.Context, command string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", "-c", command) //nolint:gosec // a person has allowed what it runs
}
