package durable

import (
	"io/fs"
	"syscall"
)

// identityOf has the time of creation in place of a number of the file, which would have to be
// opened for it.
func identityOf(info fs.FileInfo) identity {
	if is, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return identity{file: uint64(is.CreationTime.Nanoseconds())} //nolint:gosec // a number only for comparisons
	}
	return identity{}
}
