package scratch

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rounds are how often a work is compared with a unit before it counts as too slow, and how often at least.
const rounds, fewest = 60, 5

// Within fails the test if do takes longer than a number of units. A unit is a fixed piece of work, of the kind
// that this program does: about a millisecond of a processor of 2020. Units and works take turns, and of each the
// fastest counts, so that neither the machine nor what else runs on it matters.
func Within(t testing.TB, what string, units float64, do func()) {
	t.Helper()
	var best, each time.Duration
	ratio := 0.0
	for n := range rounds {
		each = least(n, each, unit)
		best = least(n, best, do)
		if ratio = float64(best) / float64(each); n >= fewest && ratio <= units {
			break
		}
	}
	t.Logf("%s: %.2f units, at most %v", what, ratio, units)
	if ratio > units {
		t.Errorf("%s takes %.2f units of work, want at most %v", what, ratio, units)
	}
}

// least returns the shorter of what a work took before and what it takes now.
func least(before int, known time.Duration, work func()) time.Duration {
	began := time.Now()
	work()
	if took := time.Since(began); before == 0 || took < known {
		return took
	}
	return known
}

// table is what a unit of work encodes and decodes.
var table = func() map[string][]string {
	out := map[string][]string{}
	for n := range 210 {
		out[strconv.Itoa(n)] = []string{"key" + strconv.Itoa(n), strings.Repeat("Whenever a provider retries, ", 4+n%7)}
	}
	return out
}()

func unit() {
	for range 2 {
		data, err := json.Marshal(table)
		if err == nil {
			err = json.Unmarshal(data, new(map[string][]string))
		}
		if err != nil {
			panic(err) // texts can be encoded
		}
	}
}
