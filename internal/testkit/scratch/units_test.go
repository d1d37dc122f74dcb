package scratch

import (
	"fmt"
	"testing"
)

// heard notes failures instead of failing.
type heard struct {
	testing.TB
	failures []string
}

func (h *heard) Helper()                   {}
func (h *heard) Logf(string, ...any)       {}
func (h *heard) Errorf(f string, a ...any) { h.failures = append(h.failures, fmt.Sprintf(f, a...)) }

// TestWithin: four units of work are too much for two, and not for eight, and a work is compared
// again as long as it may only have been disturbed.
func TestWithin(t *testing.T) {
	NeedsTime(t, "it compares durations")
	times := 0
	four := func() {
		times++
		for range 4 {
			unit()
		}
	}
	h := &heard{TB: t}
	if Within(h, "four", 8, four); len(h.failures) > 0 || times != fewest+1 {
		t.Errorf("after %d rounds: %q", times, h.failures)
	}
	times = 0
	Within(h, "four", 2, four)
	if len(h.failures) != 1 || times != rounds {
		t.Errorf("after %d rounds: %q", times, h.failures)
	}
	disturbed := 0
	Within(h, "once slow", 2, func() {
		if disturbed++; disturbed <= fewest {
			four()
		}
	})
	if len(h.failures) != 1 {
		t.Errorf("%q", h.failures)
	}
}
