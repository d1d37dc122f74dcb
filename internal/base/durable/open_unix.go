//go:build unix

package durable

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags opens for reading: neither waiting for the other end of a pipe, nor taking a
// terminal for the process.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// mayWrite asks the system whether this account may make files in a folder.
func mayWrite(folder string) error {
	const writeAndEnter = 2 | 1
	if err := syscall.Access(folder+"/.", writeAndEnter); err != nil {
		return &fs.PathError{Op: "access", Path: folder, Err: err}
	}
	return nil
}
