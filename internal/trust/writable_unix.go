//go:build unix

package trust

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// mayUse asks without a change whether a file can be read, or new files be put into a folder.
func mayUse(path string, isFolder bool) error {
	mode := uint32(unix.R_OK)
	if isFolder {
		mode |= unix.W_OK | unix.X_OK
	}
	if err := unix.Access(path, mode); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}
