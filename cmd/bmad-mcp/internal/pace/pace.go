// Package pace sets the collector's pace of a start. It imports next to nothing, so that it is initialised before
// the libraries, which leave most of that garbage.
package pace

import (
	"os"
	"runtime/debug"
)

// A start leaves 3 MB of garbage. Twice the usual heap spares it a collection, a tenth of its processor time:
// commands and calls of the hook end before it, and a server that gets no call frees memory without it.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}
