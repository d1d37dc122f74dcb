//go:build !unix

package specimen

import "time"

var began = time.Now()

// Processor returns the time since the process began: the processor's own time is not at hand here.
func Processor() time.Duration { return time.Since(began) }
