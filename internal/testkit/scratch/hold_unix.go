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
	// Others may have put a pipe or a link there.
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	release = func() error { return syscall.Close(fd) }
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = release()
		return nil, false
	}
	return release, true
}

// sweep removes the folders that nobody uses: their tests were interrupted.
func sweep(in string) {
	dirs, _ := filepath.Glob(filepath.Join(in, name+"*"))
	for _, dir := range dirs {
		if release, ours := hold(dir); ours {
			_ = os.RemoveAll(dir) // a folder of another user stays
			_ = release()
		}
	}
}
