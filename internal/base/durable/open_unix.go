//go:build unix

package durable

import (
	"os"
	"syscall"
)

// openFlags opens for reading: neither waiting for the other end of a pipe, nor taking a
// terminal for the process.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY
