package terminal

import "golang.org/x/sys/unix"

// dropTyped drops what was typed before a question is shown, and therefore is not an answer.
func dropTyped(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) } // else the person sees what they typed
