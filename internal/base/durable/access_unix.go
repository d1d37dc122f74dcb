//go:build unix

package durable

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// mayWrite asks the system whether this account may make files in a folder.
func mayWrite(folder string) error {
	const writeAndEnter = 2 | 1
	if err := syscall.Access(folder+string(filepath.Separator)+".", writeAndEnter); err != nil {
		return &fs.PathError{Op: "access", Path: folder, Err: err}
	}
	return nil
}
