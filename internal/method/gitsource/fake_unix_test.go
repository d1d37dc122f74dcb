//go:build unix

package gitsource_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

// pidIn returns the process id that a file holds, or 0.
func pidIn(file string) int {
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

// waitForExit waits until the process whose id a file holds has ended. The test's own time-out
// bounds the wait.
func waitForExit(t *testing.T, file string) {
	t.Helper()
	pid := pidIn(file)
	if pid == 0 {
		t.Fatalf("%s holds no process id", file)
	}
	for range 3000 {
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		_, state, ok := strings.Cut(string(data), ") ")
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && ok && state[0] == 'Z' {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d of %s is still there", pid, filepath.Base(file))
}

// hanging returns a git that never ends, and neither does its child, at the subcommand that it
// is asked for. Both ids go to files in dir.
func hanging(t *testing.T, dir, at string) string {
	t.Helper()
	return fake(t, `case " $* " in *" `+at+` "*)
	(trap '' TERM HUP INT; exec sleep 600) & echo $! >'`+dir+`/child'; echo $$ >'`+dir+`/git'; wait;; esac; exec git "$@"`)
}

func TestRemoteHangs(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"ls-remote", "fetch", "read-tree"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			c, _ := newCache(t)
			s := r.spec("#main")
			good, _ := update(t, c, s)
			r.commit("main", map[string]string{"README.md": "second"})
			dir := t.TempDir()
			c.Git = hanging(t, dir, at)
			var got gitsource.Copy
			var err error
			// As long as it needs to come that far, on a machine under load too.
			for c.Timeout = 250 * time.Millisecond; pidIn(filepath.Join(dir, "git")) == 0 && c.Timeout < ample; c.Timeout *= 2 {
				got, _, err = c.Update(t.Context(), s)
			}
			waitForExit(t, filepath.Join(dir, "child"))
			waitForExit(t, filepath.Join(dir, "git"))
			if !fault.Is(err, fault.NotFound) || !strings.Contains(got.Problem, "did not answer in time: git "+at) || fault.From(err).Hint == "" {
				t.Errorf("problem %q, %v", got.Problem, err)
			}
			if got.Commit != good.Commit || files(t, got.Dir)["README.md"] != "first" || c.Due(s) {
				t.Errorf("%+v, due %t", got, c.Due(s))
			}
		})
	}
}

// TestGivenUp: a try that somebody ends says nothing about the remote.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(t *testing.T, c *gitsource.Cache, s gitsource.Spec, begun func()){
		"an update": func(t *testing.T, c *gitsource.Cache, s gitsource.Spec, begun func()) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { begun(); cancel() }()
			if _, changed, err := c.Update(ctx, s); !errors.Is(err, context.Canceled) || changed {
				t.Errorf("changed %t, %v", changed, err)
			}
		},
		"a refresh": func(t *testing.T, c *gitsource.Cache, s gitsource.Spec, begun func()) {
			c.Refresh(s, func(bool) { t.Error("it has ended") })
			begun()
			c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			c, at := newCache(t)
			s := r.spec("#main")
			good, _ := update(t, c, s)
			at.move(gitsource.RefreshAfter)
			log, logged := logTo()
			dir := t.TempDir()
			c.Git, c.Log = hanging(t, dir, "ls-remote"), log
			give(t, c, s, func() {
				for pidIn(filepath.Join(dir, "git")) == 0 {
					time.Sleep(time.Millisecond)
				}
			})
			waitForExit(t, filepath.Join(dir, "child"))
			if got := have(t, c, s); got != good || !c.Due(s) || logged() != "" {
				t.Errorf("%+v, due %t, log %s", got, c.Due(s), logged())
			}
		})
	}
}

// TestOneAtATime asks for a refresh again while it is under way; all of it can be given up.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, at := newCache(t)
	dir := t.TempDir()
	c.Git, c.Timeout = hanging(t, dir, "ls-remote"), 20*time.Second
	s := r.spec("#main")
	var told atomic.Int32
	for range 10 {
		c.Refresh(s, func(bool) { told.Add(1) })
		for pidIn(filepath.Join(dir, "git")) == 0 {
			time.Sleep(time.Millisecond)
		}
		at.move(gitsource.RetryAfter) // it is due again
	}
	c.Close()
	if told.Load() != 0 {
		t.Errorf("%d refreshes have ended by themselves", told.Load())
	}
	waitForExit(t, filepath.Join(dir, "child"))
}

// TestOutputHeldOpen has a git that leaves something behind, as ssh does that keeps a
// connection for later: its own end counts.
func TestOutputHeldOpen(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	file := filepath.Join(t.TempDir(), "child")
	c.Git = fake(t, `case " $* " in *" ls-remote "*) sleep 600 & echo $! >'`+file+`';; esac; exec git "$@"`)
	if got, _ := update(t, c, r.spec("#main")); got.Commit != r.at("main") {
		t.Errorf("%+v", got)
	}
	if err := syscall.Kill(pidIn(file), syscall.SIGKILL); err != nil {
		t.Errorf("the child had ended, so nothing was shown: %v", err)
	}
}

// TestPrintsTooMuch has a git that goes on after the reader of its output has stopped.
func TestPrintsTooMuch(t *testing.T) {
	t.Parallel()
	c, _ := newCache(t)
	end := filepath.Join(t.TempDir(), "end")
	c.Git = fake(t, `trap '' PIPE; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); echo "0123456789012345678901234567890123456789	refs/heads/x"; done 2>/dev/null
echo x >'`+end+`'`)
	_, _, err := c.Update(t.Context(), parseSpec(t, "git+file:///srv/repo#x"))
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "printed more than it should") {
		t.Error(err)
	}
	if _, err := os.Stat(end); err == nil {
		t.Error("it came to its end")
	}
}

// TestNoGit has programs that are no git, or are not there.
func TestNoGit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program func(t *testing.T) string
		told    string
		hint    string
	}{
		"it is missing":    {func(*testing.T) string { return "no-such-program-as-git" }, "git cannot be started", "install git"},
		"it is no program": {func(t *testing.T) string { return t.TempDir() }, "git cannot be started", "install git"},
		"it prints rubbish": {func(t *testing.T) string {
			return fake(t, `printf 'rubbish\0\033[31m\n%s\n' "$*"`)
		}, "printed something else than refs", ""},
		"it prints what looks like refs": {func(t *testing.T) string {
			return fake(t, `printf 'rubbish\trefs/heads/main\n'`)
		}, "printed something else than refs", ""},
		"it prints nothing": {func(t *testing.T) string { return fake(t, `:`) }, "no branch or tag main", ""},
		"it fails silently": {func(t *testing.T) string { return fake(t, `exit 3`) }, "exit status 3", ""},
		"it complains without end": {func(t *testing.T) string {
			return fake(t, `yes "it is no good, alas" | head -100000 >&2; echo "fatal: at last" >&2; exit 1`)
		}, "it is no good, alas; at last", ""},
		"it downloads nothing": {func(t *testing.T) string {
			return fake(t, `case " $* " in *" fetch "*) exit 0;; esac; exec git "$@"`)
		}, "did not send a commit", ""},
		"it says it has downloaded": {func(t *testing.T) string {
			return fake(t, `case " $* " in *" ls-remote "*) exec git "$@";; *" rev-parse "*) echo /etc/passwd;; *) echo rubbish;; esac`)
		}, "did not send a commit", ""},
		"it writes no files": {func(t *testing.T) string {
			return fake(t, `case " $* " in *" read-tree "*) exit 0;; esac; exec git "$@"`)
		}, "has no files", ""},
		"it lists no files": {func(t *testing.T) string {
			return fake(t, `case " $* " in *" ls-tree "*) yes rubbish | tr -d '\n';; esac; exec git "$@"`)
		}, "printed more than it should", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			cache, _ := newCache(t)
			s := r.spec("#main")
			good, _ := update(t, cache, s)
			r.commit("main", map[string]string{"README.md": "second"})
			cache.Git = c.program(t)
			got, changed, err := cache.Update(t.Context(), s)
			if !fault.Is(err, fault.NotFound) || changed || !strings.Contains(got.Problem, c.told) || !strings.Contains(fault.From(err).Hint, c.hint) {
				t.Errorf("changed %t, problem %q, %v, hint %q", changed, got.Problem, err, fault.From(err).Hint)
			}
			if got.Commit != good.Commit || files(t, got.Dir)["README.md"] != "first" || len(inPlace(t, cache, s)) != 2 {
				t.Errorf("%+v in %q", got, inPlace(t, cache, s))
			}
		})
	}
}
