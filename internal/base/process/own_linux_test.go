package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// TestMain lets the test binary stand in for a program that owns another, whose number it prints.
func TestMain(m *testing.M) {
	if os.Getenv("OWNER") == "" {
		os.Exit(m.Run())
	}
	cmd := exec.CommandContext(context.Background(), "sleep", "3600")
	process.Own(cmd, time.Second)
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(cmd.Process.Pid)
	_ = cmd.Wait()
}

// TestKilledOwner checks that the children of a killed program are asked to end.
func TestKilledOwner(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(self)
	owner.Env = append(os.Environ(), "OWNER=1")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed
	for range 500 {
		// In a container, an orphan that has ended may stay as a zombie, because nobody collects it.
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Error("it goes on")
}
