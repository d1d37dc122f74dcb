package process

import "syscall"

// orphaned has a program asked to end when the one that started it is killed, and cannot ask itself.
func orphaned(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
