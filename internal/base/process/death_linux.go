package process

import "syscall"

// endWithParent has the system ask a program to end if the parent is killed, and cannot ask itself.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
