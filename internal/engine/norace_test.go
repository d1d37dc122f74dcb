//go:build !race

package engine_test

import (
	"os"
	"strconv"
)

// every is which actions a sweep over all faults tries, at each of their steps: each eleventh, so that the tests
// stay short, or each n-th if TEST_BMAD_EVERY_CUT is n: 3 in .ci/run, 1 in .ci/run --all.
var every = func() int {
	if n, err := strconv.Atoi(os.Getenv("TEST_BMAD_EVERY_CUT")); err == nil {
		return n
	}
	return 11
}()
