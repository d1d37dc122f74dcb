//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain is the program itself if the test asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_PROGRAM") != "" {
		os.Args = os.Args[:1]
		main()
	}
	os.Exit(m.Run())
}

// TestStart checks that a start collects no garbage up to its first answer, and that it does at the pace that the
// environment sets.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pace     string
		collects bool
	}{{"", false}, {"50", true}} {
		cmd := exec.Command(os.Args[0])
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"HOME=" + cmd.Dir, "TEST_AS_PROGRAM=1", "GOGC=" + tt.pace, "GOMAXPROCS=2", "GODEBUG=gctrace=1"}
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n")
		var trace strings.Builder
		cmd.Stderr = &trace
		answer, err := cmd.Output()
		if err != nil || !strings.Contains(string(answer), `"protocolVersion":"2025-06-18"`) {
			t.Fatalf("answer %q: %v", answer, err)
		}
		if got := strings.Contains(trace.String(), "gc 1 @"); got != tt.collects {
			t.Errorf("GOGC=%q: collects %v, want %v:\n%s", tt.pace, got, tt.collects, trace.String())
		}
	}
}
