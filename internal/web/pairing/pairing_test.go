package pairing_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// TestRunning checks that a dashboard is listed while it runs, and not if its process has gone.
func TestRunning(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if got := pairing.Running(state); got != nil {
		t.Fatalf("without a folder: %v", got)
	}
	began := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	removeOld, err := pairing.Register(state, pairing.Dashboard{Origin: "http://localhost:1", Started: began})
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(state, "dashboards", "stale.json")
	text := strings.Replace(`{"id":"stale","pid":PID,"origin":"http://localhost:9","started":"2026-11-22T09:00:00Z"}`, "PID", itoa(gone.Process.Pid), 1)
	if err := os.WriteFile(stale, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := pairing.Running(state); len(got) != 1 {
		t.Fatalf("a process that has gone runs: %v", got)
	}
	removeNew, err := pairing.Register(state, pairing.Dashboard{Origin: "http://localhost:2", Started: began.Add(time.Hour), Roots: []string{"/src"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the file of a process that has gone stays: %v", err)
	}
	got := pairing.Running(state)
	if len(got) != 2 || got[0].Origin != "http://localhost:2" || got[0].PID != os.Getpid() || got[0].Roots[0] != "/src" || got[1].Origin != "http://localhost:1" {
		t.Fatalf("got %+v", got)
	}
	private(t, state)
	removeOld()
	removeNew()
	if got := pairing.Running(state); len(got) != 0 {
		t.Errorf("ended ones run: %v", got)
	}
}

func itoa(n int) string {
	out := ""
	for ; n > 0; n /= 10 {
		out = string(rune('0'+n%10)) + out
	}
	return out
}

// private fails if others can read something of the state.
func private(t *testing.T, folder string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Log("modes of files are not checked on Windows")
		return
	}
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if info, _ := e.Info(); err == nil && path != folder && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func refused(t *testing.T, err error, code fault.Code, words string) {
	t.Helper()
	if !fault.Is(err, code) || !strings.Contains(err.Error(), words) || fault.From(err).Hint == "" {
		t.Errorf("got %v (%s), want %s: … %s, with a hint", err, fault.From(err).Code, code, words)
	}
}

// TestCode checks that a code pairs once, and that a second use of it is refused on both sides.
func TestCode(t *testing.T) {
	t.Parallel()
	state, at := t.TempDir(), &clock{time.Now()}
	codes := pairing.NewCodes(state, "http://localhost:7", at.now)
	other := pairing.NewCodes(state, "http://localhost:8", at.now)
	code, err := codes.New()
	if err != nil || len(code) != 8 || strings.ContainsAny(code, "ILOU") {
		t.Fatalf("got %q, %v", code, err)
	}
	if ok, err := codes.Approved(code); ok || err != nil {
		t.Fatalf("approved by nobody: %v, %v", ok, err)
	}
	_, err = pairing.Approve(state, "abc", at.at)
	refused(t, err, fault.InvalidArgument, "is not a pairing code")
	_, err = pairing.Approve(state, "../../ab", at.at)
	refused(t, err, fault.InvalidArgument, "is not a pairing code")
	_, err = pairing.Approve(state, "00000000", at.at)
	refused(t, err, fault.NotFound, "no dashboard shows this code")
	_, err = pairing.Approve(t.TempDir(), code, at.at)
	refused(t, err, fault.NotFound, "no dashboard shows this code")

	origin, err := pairing.Approve(state, strings.ToLower(code[:4]+"-"+code[4:]), at.at)
	if err != nil || origin != "http://localhost:7" {
		t.Fatalf("got %q, %v", origin, err)
	}
	_, err = pairing.Approve(state, code, at.at)
	refused(t, err, fault.Conflict, "used before")
	_, err = other.Approved(code)
	refused(t, err, fault.NotFound, "not one of this dashboard")
	private(t, state)

	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if ok, err := codes.Approved(code); ok && err == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("the approval was taken %d times", won.Load())
	}
	_, err = codes.Approved(code)
	refused(t, err, fault.Conflict, "used before")
	_, err = pairing.Approve(state, code, at.at)
	refused(t, err, fault.Conflict, "used before")
}

// TestCodeExpires checks that neither side takes a code that is too old, and that few are kept.
func TestCodeExpires(t *testing.T) {
	t.Parallel()
	state, at := t.TempDir(), &clock{time.Now()}
	codes := pairing.NewCodes(state, "http://localhost:7", at.now)
	late, _ := codes.New()
	taken, _ := codes.New()
	if _, err := pairing.Approve(state, taken, at.at); err != nil {
		t.Fatal(err)
	}
	at.at = at.at.Add(pairing.ValidFor + time.Second)
	_, err := pairing.Approve(state, late, at.at)
	refused(t, err, fault.NotFound, "has expired")
	_, err = codes.Approved(taken)
	refused(t, err, fault.NotFound, "has expired")

	first, _ := codes.New()
	for range 20 {
		if _, err := codes.New(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = pairing.Approve(state, first, at.at)
	refused(t, err, fault.NotFound, "no dashboard shows this code")
	if left, _ := filepath.Glob(filepath.Join(state, "pairings", "*.shown")); len(left) != 16 {
		t.Errorf("%d codes are kept", len(left))
	}
	if _, err := pairing.NewCodes("", "", at.now).New(); !fault.Is(err, fault.Storage) {
		t.Errorf("without a state folder: %v", err)
	}
}
