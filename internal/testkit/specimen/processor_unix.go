//go:build unix

package specimen

import (
	"syscall"
	"time"
)

// Processor returns the processor's time that this process has taken, which other processes on the
// machine do not lengthen as they do the time on the clock.
func Processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
