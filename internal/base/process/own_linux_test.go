package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// TestMain lets the test binary stand in for a program that owns another: a shell with a script. The numbers of the shell
// and of a child are the first line of its output.
func TestMain(m *testing.M) {
	script := os.Getenv("OWNS")
	if script == "" {
		os.Exit(m.Run())
	}
	cmd := exec.CommandContext(context.Background(), "sh", "-c", script)
	cmd.Stdout = os.Stdout
	group := process.Own(cmd, time.Second)
	if err := group.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = group.Wait()
}

// TestKilledOwner checks that nothing which a killed program has started in the group goes on.
func TestKilledOwner(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"a child":               "sleep 3600 & echo $$ $!; wait",
		"a child of none":       "(sleep 3600 & echo $$ $!); exec sleep 3600",
		"one that does not ask": "trap '' TERM; (trap '' TERM; exec sleep 3600) & echo $$ $!; while :; do sleep 1; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := exec.Command(self)
			owner.Env = append(os.Environ(), "OWNS="+script)
			out, err := owner.StdoutPipe()
			if err == nil {
				err = owner.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			time.Sleep(50 * time.Millisecond) // the guard is there
			if err := owner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait() // it was killed
			numbers := strings.Fields(line)
			if len(numbers) != 2 {
				t.Fatalf("%q", line)
			}
			for _, number := range numbers {
				if pid, err := strconv.Atoi(number); err != nil || !ends(pid) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
					t.Errorf("%s of %q goes on: %v", number, line, err)
				}
			}
		})
	}
}

// ends waits until a process has ended. In a container, an orphan may stay as a zombie, because nobody collects it.
func ends(pid int) bool {
	for range 1000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// TestGuardEnds checks that a guard neither stays nor ends what a program has left in the group.
func TestGuardEnds(t *testing.T) {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", "sleep 3600 >/dev/null 2>&1 & echo $!")
	var out strings.Builder
	cmd.Stdout = &out
	group := process.Own(cmd, time.Second)
	if err := group.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // for a guard that takes its own end for ours
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the child that was left has ended: %v", err)
	}
	group.End()
	if !ends(pid) {
		t.Error("the group goes on")
	}
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.Contains(string(line), "guard\x00"+strconv.Itoa(cmd.Process.Pid)) {
				t.Errorf("the guard stays: %q", line)
			}
		}
	}
}
