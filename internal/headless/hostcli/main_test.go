package hostcli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// TestMain lets the test binary stand in for an engine's program, as variables tell it to.
func TestMain(m *testing.M) {
	if do := os.Getenv("STANDIN"); do != "" {
		os.Exit(standIn(do))
	}
	if os.Getenv("TEST_BMAD_CLAUDE")+os.Getenv("TEST_BMAD_CODEX") == "" { // the real ones have something to save
		hostcli.Hurry()
	}
	scratch.Parallel(8)
	os.Exit(scratch.Run(m))
}

// standIn acts as an engine's program in one way, and returns its exit code.
func standIn(do string) int {
	file := os.Getenv("STANDIN_FILE")
	prompt, _ := io.ReadAll(os.Stdin)
	code, _ := strconv.Atoi(os.Getenv("STANDIN_EXIT"))
	_, _ = fmt.Fprint(os.Stderr, os.Getenv("STANDIN_WORDS"))
	switch do {
	case "print": // a few bytes at a time, so that lines arrive in pieces
		data, _ := os.ReadFile(file)
		for len(data) > 0 {
			n := min(len(data), 1021)
			_, _ = os.Stdout.Write(data[:n])
			data = data[n:]
		}
	case "record": // its own call
		settings := ""
		for i, arg := range os.Args {
			if arg == "--settings" {
				data, _ := os.ReadFile(os.Args[i+1])
				settings, os.Args[i+1] = string(data), "FILE"
			}
		}
		here, _ := os.Getwd()
		data, _ := json.Marshal(map[string]any{"args": os.Args[1:], "env": os.Environ(), "prompt": string(prompt), "settings": settings, "dir": here})
		_ = os.WriteFile(file, data, 0o600)
	case "flood": // one line that is too long, and then more than anyone reads
		line := strings.Repeat("x", 1<<20)
		for range 17 {
			fmt.Print(line)
		}
		fmt.Print("\n")
		for n, _ := strconv.Atoi(os.Getenv("STANDIN_MB")); n > 0; n-- {
			fmt.Println(line)
		}
		data, _ := os.ReadFile(os.Getenv("STANDIN_THEN"))
		_, _ = os.Stdout.Write(data)
	case "leave": // a child that holds the output open
		_ = child(file)
		data, _ := os.ReadFile(os.Getenv("STANDIN_THEN"))
		_, _ = os.Stdout.Write(data)
	case "hang", "stubborn", "linger", "linger on":
		if do == "stubborn" || do == "linger on" {
			signal.Ignore(syscall.SIGTERM)
		}
		_ = child(file)
		data, _ := os.ReadFile(os.Getenv("STANDIN_THEN"))
		if strings.HasPrefix(do, "linger") {
			_, _ = os.Stdout.Write(data)
			time.Sleep(time.Hour)
		}
		fmt.Println(`{"type":"system","subtype":"init","session_id":"hanging"}` + "\n" + `{"type":"thread.started","thread_id":"hanging"}`)
		time.Sleep(time.Hour)
	}
	return code
}

// child starts a process that does nothing for an hour, and writes its number to a file.
func child(file string) error {
	cmd := exec.Command("sleep", "3600")
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}
