//go:build linux || darwin

package process_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// TestMark checks that a process is found by its mark, and never another one.
func TestMark(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `trap 'echo asked; exit 3' INT; echo ready; while :; do sleep 0.05; done`)
	process.Detach(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var text [64]byte
	if n, err := out.Read(text[:]); err != nil || !strings.Contains(string(text[:n]), "ready") {
		t.Fatal(err)
	}
	own := process.MarkOf(cmd.Process.Pid)
	if !own.Runs() || !process.Self().Runs() || own.Started == "" {
		t.Fatalf("%+v is not seen", own)
	}
	for name, m := range map[string]process.Mark{
		"nothing": {}, "without a start": {PID: own.PID}, "another start": {PID: own.PID, Started: own.Started + "1"}, "our start": {PID: own.PID, Started: process.Self().Started},
		"a group": {PID: -own.PID, Started: own.Started}, "everything": {PID: -1, Started: own.Started}, "init": {PID: 1, Started: own.Started},
	} {
		if err := m.Interrupt(); m.Runs() || !errors.Is(err, process.ErrUnmarked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !own.Runs() {
		t.Fatal("a signal for another process has reached it")
	}
	if err := own.Interrupt(); err != nil {
		t.Fatal(err)
	}
	n, _ := out.Read(text[:])
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(text[:n]), "asked") {
		t.Errorf("it ended with %v and %q", err, text[:n])
	}
	if err := own.Interrupt(); own.Runs() || !errors.Is(err, process.ErrUnmarked) {
		t.Errorf("after its end: %v", err)
	}
}
