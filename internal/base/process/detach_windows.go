package process

import "os/exec"

// CanDetach returns false: Windows has no signal by which a program without a console ends in order.
func CanDetach() bool { return false }

// Detach does nothing.
func Detach(*exec.Cmd) {}
