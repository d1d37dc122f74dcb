// Package scratch keeps what tests write in memory. Most tests make a project and a home of a few
// dozen files, and a disk that makes room for thousands of them costs half of the time. What a disk
// does to a write is tried on a simulated one (durable/durabletest) and on a real small one (the
// engine's TestDiskTrouble).
package scratch

import (
	"fmt"
	"os"
	"testing"
)

// disk is where temporary folders are outside memory.
var disk = os.TempDir()

// Run runs the tests of a package, as m.Run does, with their temporary folders in memory where
// the system offers that. A TMPDIR that is set is respected; it is also how the processes that
// tests start come to work in the same place.
func Run(m interface{ Run() int }) int {
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
