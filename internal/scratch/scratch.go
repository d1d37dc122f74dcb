// Package scratch gives tests room: it keeps what they write in memory, and lets garbage lie longer. Most tests make a project and a home of a few
// dozen files, and a disk that makes room for thousands of them costs half of the time. What a disk
// does to a write is tried on a simulated one (durable/durabletest) and on a real small one (the
// engine's TestDiskTrouble).
package scratch

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// disk is where temporary folders are outside memory.
var disk = os.TempDir()

// garbage is how much garbage there may be for each byte in use, in percent. The tests and the
// programs that they start use little, so that by default a third of their time is collecting it.
const garbage = 400

// Run runs the tests of a package, as m.Run does, with their temporary folders in memory where
// the system offers that. A TMPDIR or GOGC that is set is respected; by these the processes that
// tests start do the same.
func Run(m interface{ Run() int }) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
		if err := os.Setenv("GOGC", strconv.Itoa(garbage)); err != nil {
			panic(err)
		}
	}
	if os.Getenv("TMPDIR") != "" || !roomy(memory) {
		return m.Run()
	}
	dir, err := os.MkdirTemp(memory, "bmad-mcp-")
	if err != nil {
		return m.Run() // not ours to write in
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	// A test starts the program as another user, who has to get there.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // nobody sees the names in it
		panic(err)
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
	return m.Run()
}

// Disk returns the folder for temporary files outside memory: Linux has its memory below /dev,
// which counts as a place without projects for those who judge folders by their paths.
func Disk() string { return disk }

// Dir is t.TempDir outside memory.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(disk, "bmad-mcp-test-") //nolint:usetesting // t.TempDir is in memory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
