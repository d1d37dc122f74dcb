package scratch

import (
	"os"
	"testing"
)

// NeedsTime skips a test of load, of a sweep or of durations unless TEST_BMAD_SLOW is set: beside other
// work such a test fails or delays everything else. why completes the message.
func NeedsTime(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("TEST_BMAD_SLOW") == "" {
		t.Skipf("set TEST_BMAD_SLOW=1 to run it: %s", why)
	}
}
