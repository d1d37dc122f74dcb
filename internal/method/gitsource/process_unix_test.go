//go:build unix

package gitsource_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

// steps are the programs that an update with a new commit runs.
var steps = []string{"ls-remote", "init", "fetch", "rev-parse", "ls-tree", "read-tree"}

// TestKilledAtEveryStep kills the process that updates at each of its steps.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for i := range len(steps) + 1 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			c, at := newCache(t)
			s := r.spec("#main")
			good, _ := update(t, c, s)
			second := r.commit("main", map[string]string{"README.md": "second"})
			count := filepath.Join(t.TempDir(), "count")
			program := fake(t, `echo "$*" >>'`+count+`'
if [ "$(wc -l <'`+count+`')" -gt `+fmt.Sprint(i)+` ]; then kill -9 $PPID; exit 1; fi
exec git "$@"`)
			out, err := process(t, job{c.Folder, r.address("#main"), program}).Output()
			data, _ := os.ReadFile(count)
			asked := strings.Split(strings.TrimSpace(string(data)), "\n")
			if i == len(steps) {
				// The step after the last does not come: these are all there are.
				if err != nil || string(out) != second || len(asked) != len(steps) {
					t.Errorf("%q, %v, after %q", out, err, asked)
				}
				return
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Exited() || len(asked) != i+1 || !strings.Contains(asked[i], " "+steps[i]+" ") {
				t.Fatalf("it was not killed at %s: %v, after %q", steps[i], err, asked)
			}
			got := have(t, c, s)
			if got.Commit != good.Commit || files(t, got.Dir)["README.md"] != "first" {
				t.Errorf("served %+v", got)
			}
			at.at = got.TriedAt // the other process had the clock of the system
			if c.Due(s) {
				t.Error("a try that killed its process is made at once again")
			}
			at.move(gitsource.RetryAfter)
			if !c.Due(s) {
				t.Error("it is not due")
			}
			if got, changed := update(t, c, s); !changed || got.Commit != second || files(t, got.Dir)["README.md"] != "second" {
				t.Errorf("afterwards %+v", got)
			}
			want := []string{good.Commit, second, "source.json"}
			slices.Sort(want)
			if names := inPlace(t, c, s); !slices.Equal(names, want) {
				t.Errorf("in the cache: %q, want %q", names, want)
			}
		})
	}
}

// TestEverybodyAtOnce updates the same remote from several processes and goroutines.
func TestEverybodyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	program, asked := recorder(t)
	c.Git = program
	other := &gitsource.Cache{Folder: c.Folder, Now: c.Now, Git: program, Timeout: ample}
	s := r.spec("#main")
	for round := range 2 {
		want := r.commit("main", map[string]string{"README.md": fmt.Sprint("round ", round)})
		var wait sync.WaitGroup
		var mu sync.Mutex
		news := 0
		for range 3 {
			wait.Go(func() {
				out, err := process(t, job{c.Folder, r.address("#main"), program}).Output()
				if err != nil || string(out) != want {
					t.Errorf("a process: %q, %v", out, err)
				}
			})
			for _, cache := range []*gitsource.Cache{c, other} {
				wait.Go(func() {
					got, changed, err := cache.Update(t.Context(), s)
					if err != nil || got.Commit != want || files(t, got.Dir)["README.md"] != fmt.Sprint("round ", round) {
						t.Errorf("%+v, %v", got, err)
					}
					mu.Lock()
					defer mu.Unlock()
					if changed {
						news++
					}
				})
			}
		}
		wait.Wait()
		if news > 1 {
			t.Errorf("%d have changed it", news)
		}
		if n := asked("fetch"); n != round+1 {
			t.Errorf("%d fetches for %d commits", n, round+1)
		}
		if got := have(t, c, s); got.Commit != want || got.Problem != "" || len(inPlace(t, c, s)) != round+2 {
			t.Errorf("%+v in %q", got, inPlace(t, c, s))
		}
	}
}
