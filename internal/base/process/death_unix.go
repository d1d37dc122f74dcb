//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing, because only Linux tells a program that its parent was killed.
func endWithParent(*syscall.SysProcAttr) {}
