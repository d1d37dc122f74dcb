//go:build unix

package verify_test

import (
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
)

func TestFingerprintOfAPipe(t *testing.T) {
	dir := project(t)
	if err := syscall.Mkfifo(dir.Join("check.sh"), 0o600); err != nil {
		t.Skip(err)
	}
	if got := verify.Fingerprint(dir.Tree(), "check.sh"); got == "" {
		t.Error("a pipe counts as nothing")
	}
}
