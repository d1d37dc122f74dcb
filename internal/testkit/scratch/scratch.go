// Package scratch gives tests room: it keeps the files that they write in memory, and lets garbage lie longer. Most
// tests make a project and a home of a few dozen files, and a disk that makes room for thousands of them costs half
// of the time. The effects of a disk on a write are tried on a simulated one (durable/durabletest) and on a real
// small one (the engine's TestDiskTrouble).
package scratch

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
)

// disk is the folder for temporary ones outside memory.
var disk = os.TempDir()

// garbage is how much garbage there may be for each byte in use, in percent. The tests and the
// programs that they start use little, so that by default a third of their time is collecting it.
const garbage = 400

// name is the beginning of the names of the folders of tests.
const name = "bmad-mcp-scratch-"

// Run runs the tests of a package, as m.Run does, between Enter and its end.
func Run(m interface{ Run() int }) int {
	defer Enter()()
	return m.Run()
}

// Parallel lets n tests of a package run at once, however few processors there are, because they wait.
func Parallel(n int) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Enter gives the tests of a package a folder for all their temporary ones, in memory if the system
// offers that, and sentences in English. A TMPDIR or GOGC that is set is respected; by these the
// processes that tests start do the same. It returns a function that removes the folder. A run that
// was interrupted leaves its folder, which the next one removes.
func Enter() (leave func()) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
		setenv("GOGC", strconv.Itoa(garbage))
	}
	for _, variable := range []string{"LC_ALL", "LC_MESSAGES", "LANGUAGE"} {
		setenv(variable, "")
	}
	setenv("LANG", "C.UTF-8") // the tests do not expect the person's own
	in := memory
	if os.Getenv("TMPDIR") != "" || !roomy(memory) {
		in = disk
	}
	sweep(in)
	dir, remove, err := create(in)
	if err != nil {
		return func() {} // not ours to write in
	}
	// A test starts the program as another user, who has to get there.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // nobody sees the names in it
		panic(err)
	}
	setenv("TMPDIR", dir)
	return func() {
		if err := remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

func setenv(name, value string) {
	if err := os.Setenv(name, value); err != nil {
		panic(err)
	}
}

// create makes a folder in another, which is in use until remove, or the end of this process.
func create(in string) (dir string, remove func() error, err error) {
	for {
		if dir, err = os.MkdirTemp(in, name); err != nil {
			return "", nil, err
		}
		release, ours := hold(dir)
		if _, err := os.Stat(dir); ours && err == nil { //nolint:gosec // it was made above
			return dir, func() error { return errors.Join(os.RemoveAll(dir), release()) }, nil //nolint:gosec // the same
		}
		if ours { // a sweep was faster
			_ = release()
		}
	}
}

// Disk returns the folder for temporary files outside memory: Linux has its memory below /dev,
// which counts as a place without projects for those who judge folders by their paths.
func Disk() string { return disk }

// swept is done before the first folder outside memory.
var swept = sync.OnceFunc(func() { sweep(disk) })

// Dir is t.TempDir outside memory.
func Dir(t testing.TB) string {
	t.Helper()
	swept()
	dir, remove, err := create(disk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return dir
}
