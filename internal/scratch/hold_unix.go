//go:build unix && !solaris && !aix

package scratch

import (
	"os"
	"path/filepath"
	"syscall"
)

// hold claims a folder for this process, unless another has it. The system takes the claim back at
// the end of the process, however it ends.
func hold(dir string) (release func() error, ours bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, false
	}
	return f.Close, true
}

// sweep removes the folders that nobody uses: their tests were interrupted.
func sweep(in string) {
	dirs, _ := filepath.Glob(filepath.Join(in, name+"*"))
	for _, dir := range dirs {
		if release, ours := hold(dir); ours {
			_ = os.RemoveAll(dir) // what is another user's stays
			_ = release()
		}
	}
}
