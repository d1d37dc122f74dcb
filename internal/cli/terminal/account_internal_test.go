package terminal

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestAccount checks that the account is that of the process, and that no variable makes it another's.
func TestAccount(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this machine lacks the command id")
	}
	out, err := exec.CommandContext(t.Context(), "id", "-un").Output()
	if err != nil {
		t.Skip(err)
	}
	for _, variable := range []string{"USER", "LOGNAME", "HOME", "SCRIPT_SUBJECT"} {
		t.Setenv(variable, "eve")
	}
	if got, want := findAccount(), strings.TrimSpace(string(out)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := NewWho()(t.TempDir()).Subject; got != strings.TrimSpace(string(out)) {
		t.Errorf("the engine acts for %q", got)
	}
}
