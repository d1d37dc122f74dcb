//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing, because only Linux can tell a program about the death of its parent.
func endWithParent(*syscall.SysProcAttr) {}
