//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

// dropTyped drops what was typed before a question is shown, and therefore is not an answer.
func dropTyped(fd int) {
	const read = 1                                        // FREAD
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read) // else the person sees what they typed
}
