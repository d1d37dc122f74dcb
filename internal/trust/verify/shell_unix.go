//go:build unix

package verify

import (
	"context"
	"os/exec"
)

// shell returns the command for the shell.
func shell(ctx context.Context, command string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", "-c", command) //nolint:gosec // a person has allowed the command
}

// wrapper is Gradle's own program in a project, and gradleTest runs the tests by it.
const wrapper, gradleTest = "gradlew", "./gradlew test"
