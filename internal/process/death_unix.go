//go:build unix && !linux

package process

import "syscall"

// orphaned does nothing: only Linux tells a program that the one that started it was killed.
func orphaned(*syscall.SysProcAttr) {}
