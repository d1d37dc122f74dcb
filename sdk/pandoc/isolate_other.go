//go:build !linux

package pandoc

import "os/exec"

// isolate does nothing: other systems have no namespaces.
func isolate(*exec.Cmd) {}
