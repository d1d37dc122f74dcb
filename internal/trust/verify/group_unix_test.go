//go:build unix

package verify_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// awaitEnd waits until the process whose id a file holds has ended. The test's own time-out
// bounds the wait.
func awaitEnd(t *testing.T, file string) {
	t.Helper()
	pid := pidIn(t, file)
	if pid == 0 {
		t.Fatalf("%s holds no process id", file)
	}
	for range 3000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || isZombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d of %s is still there", pid, filepath.Base(file))
}

// pidIn returns the process id that a file holds, or 0.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	line, whole := strings.CutSuffix(string(data), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil || !whole {
		return 0
	}
	return pid
}

// isZombie reports whether a process has ended and nobody has asked for its end, as is
// the lot of orphans in many containers. Only Linux tells here.
func isZombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, ok := strings.Cut(string(data), ") ")
	return err == nil && ok && state[0] == 'Z'
}

// stubborn are commands that do not end by themselves; each leaves ids in files.
var stubborn = map[string]struct {
	command string
	pids    []string
}{
	"it ends when asked":                   {"echo $$ >shell; echo begun; exec sleep 600", []string{"shell"}},
	"it says good-bye":                     {"trap 'echo bye; exit 0' TERM; echo $$ >shell; echo begun; while :; do sleep 0.05; done", []string{"shell"}},
	"it ignores being asked":               {"trap '' TERM; echo $$ >shell; echo begun; while :; do sleep 0.05; done", []string{"shell"}},
	"its child ignores being asked":        {"(trap '' TERM; exec sleep 600) & echo $! >child; echo $$ >shell; echo begun; wait", []string{"child", "shell"}},
	"its silent child ignores being asked": {"(trap '' TERM; exec sleep 600) >/dev/null 2>&1 & echo $! >child; echo $$ >shell; echo begun; wait", []string{"child", "shell"}},
	"a grandchild holds the output":        {"rm -f grandchild; sh -c 'sleep 600 & echo $! >grandchild; wait' & echo $! >child; echo $$ >shell; until [ -s grandchild ]; do sleep 0.01; done; echo begun; wait", []string{"grandchild", "child", "shell"}},
	"it is stopped":                        {"echo $$ >shell; echo begun; kill -STOP $$", []string{"shell"}},
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	for name, c := range stubborn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var e workflow.Evidence
			// As long as the command needs to come to its last step, on a machine under load, too.
			for timeout := 500 * time.Millisecond; !strings.Contains(e.Tail, "begun") && timeout < ample; timeout *= 2 {
				e = verify.Run(t.Context(), dir, c.command, clock(), verify.Limits{Timeout: timeout, Tail: 2000})
			}
			if !e.TimedOut || e.ExitCode != -1 || e.NotRun != "" || e.TookMS != 1500 || !e.Failed() {
				t.Errorf("%+v", e)
			}
			if !strings.HasPrefix(e.Tail, "begun") {
				t.Errorf("what it said before: %q", e.Tail)
			}
			for _, file := range c.pids {
				awaitEnd(t, filepath.Join(dir, file))
			}
		})
	}
}

func TestTheCallIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range stubborn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan workflow.Evidence)
			go func() {
				done <- verify.Run(ctx, dir, c.command, clock(), verify.Limits{Timeout: ample, Tail: 2000})
			}()
			for _, file := range c.pids {
				for pidIn(t, filepath.Join(dir, file)) == 0 {
					time.Sleep(5 * time.Millisecond)
				}
			}
			cancel()
			e := <-done
			if e.NotRun != "the call was given up" || e.TimedOut || e.ExitCode != 0 || e.Tail != "" || e.TookMS != 0 || e.Failed() {
				t.Errorf("%+v", e)
			}
			for _, file := range c.pids {
				awaitEnd(t, filepath.Join(dir, file))
			}
		})
	}
}

// TestTimeoutOfTheCall has the caller's own deadline end the command: that says nothing of it.
func TestTimeoutOfTheCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	e := verify.Run(ctx, t.TempDir(), "exec sleep 600", clock(), verify.Limits{Timeout: ample, Tail: 100})
	if e.NotRun != "the call was given up" || e.TimedOut {
		t.Errorf("%+v", e)
	}
}

// TestOutputHeldOpen has a command end by itself and leave a child that holds its output:
// its own end counts, and it is not waited for the child's.
func TestOutputHeldOpen(t *testing.T) {
	t.Parallel()
	for exit, failed := range map[string]bool{"0": false, "4": true} {
		t.Run("exit "+exit, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e := verify.Run(t.Context(), dir, "sleep 600 & echo $! >child; echo done; exit "+exit, clock(), verify.Limits{Timeout: ample, Tail: 100})
			pid := pidIn(t, filepath.Join(dir, "child"))
			if pid == 0 {
				t.Fatal("there was no child")
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Errorf("the child had ended, so nothing was shown: %v", err)
			}
			if strconv.Itoa(e.ExitCode) != exit || e.Failed() != failed || e.TimedOut || e.NotRun != "" || e.Tail != "done" {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestItHasAGroupOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := verify.Run(t.Context(), dir, "kill -TERM 0", clock(), verify.Limits{Timeout: ample, Tail: 100})
	if e.ExitCode != -1 || e.TimedOut || e.NotRun != "" {
		t.Errorf("%+v", e)
	}
}
