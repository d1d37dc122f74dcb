//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package terminal

// dropTyped drops what was typed before a question is shown, where the system can.
func dropTyped(int) {}
