//go:build !race

package engine_test

import "os"

// every is which actions a sweep over all faults tries: each third of them, at each of its
// steps, so that the tests stay short; all of them if BMAD_EVERY_CUT is set, as .ci/run --all has it.
var every = map[bool]int{true: 1, false: 3}[os.Getenv("BMAD_EVERY_CUT") != ""]
