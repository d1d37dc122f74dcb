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
		if len(os.Args) > 1 && os.Args[1] != "hook" {
			os.Args = os.Args[:1]
		}
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

// TestHook checks that a call of the hook that is about nothing ends before the libraries are initialised, and that
// another reaches the program with all of its input.
func TestHook(t *testing.T) {
	t.Parallel()
	for command, ends := range map[string]bool{"go test ./...": true, "bmad-mcp decide --yes": false, "rm -rf .bmad-task": false} {
		cmd := exec.Command(os.Args[0], "hook", "claude-code")
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"HOME=" + cmd.Dir, "TEST_AS_PROGRAM=1", "GODEBUG=inittrace=1"}
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"` + command + `"}}`)
		var trace strings.Builder
		cmd.Stderr = &trace
		out, err := cmd.Output()
		if err != nil || strings.Contains(trace.String(), "init github.com/santhosh-tekuri/jsonschema") == ends {
			t.Errorf("%s: ends early %v: %v\n%s", command, !ends, err, trace.String())
		}
		if denied := strings.Contains(string(out), `"permissionDecision":"deny"`); denied != strings.HasPrefix(command, "rm") {
			t.Errorf("%s: %s", command, out)
		}
	}
}
