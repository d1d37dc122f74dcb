//go:build linux

package fleettest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// worker is a process of bmad-mcp worker.
type worker struct {
	m    *machine
	name string
	cmd  *exec.Cmd
	log  string
	gone chan struct{} // closed at its end
}

// start starts a worker with more flags; entries of env with a "=" are variables.
func (m *machine) start(name string, more ...string) *worker {
	m.f.t.Helper()
	args := []string{"worker", "--root", m.clones, "--lease", lease.String(), "--name", name}
	w := &worker{m: m, name: name, log: filepath.Join(m.f.root, name+".log"), gone: make(chan struct{})}
	var env []string
	for _, word := range more {
		if variable, _, ok := strings.Cut(word, "="); ok && !strings.HasPrefix(word, "-") && variable == strings.ToUpper(variable) {
			env = append(env, word)
		} else {
			args = append(args, word)
		}
	}
	w.cmd = m.command(args...)
	w.cmd.Env = append(append(w.cmd.Env, workerVariable+"="+name), env...)
	file, err := os.OpenFile(w.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(m.f.t, err)
	w.cmd.Stdout, w.cmd.Stderr = file, file
	must(m.f.t, w.cmd.Start())
	must(m.f.t, file.Close())
	go func() {
		_ = w.cmd.Wait() // its code is asked for elsewhere
		close(w.gone)
	}()
	m.f.mu.Lock()
	m.f.workers = append(m.f.workers, w)
	m.f.mu.Unlock()
	return w
}

// pid returns the number of the process.
func (w *worker) pid() int { return w.cmd.Process.Pid }

// signal sends a signal to the process alone.
func (w *worker) signal(s syscall.Signal) { _ = syscall.Kill(w.pid(), s) }

// kill ends the process at once, and waits for its end.
func (w *worker) kill() {
	w.signal(syscall.SIGKILL)
	<-w.gone
}

// ended reports whether the process has ended.
func (w *worker) ended() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// code waits for the end, and returns the exit code, -1 after a signal.
func (w *worker) code() int {
	w.m.f.t.Helper()
	w.m.f.eventually("the end of "+w.name, w.ended)
	return w.cmd.ProcessState.ExitCode()
}

// said returns the text on its standard error.
func (w *worker) said() string {
	text, _ := os.ReadFile(w.log)
	return string(text)
}

// state says how the process is.
func (w *worker) state() string {
	if w.ended() {
		return w.cmd.ProcessState.String()
	}
	return "running"
}

// waitForCall waits for a call of the worker that began after some lines of the bill.
func (w *worker) waitForCall(after int) entry {
	w.m.f.t.Helper()
	var found entry
	w.m.f.eventually("a call of "+w.name, func() bool {
		for _, e := range w.m.f.readBill()[after:] {
			if e.Worker == w.name && e.What == "begin" {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// isEngine reports whether a process is a stand-in that runs: an ended one may stay as a zombie that nobody collects, and
// its number may be that of another process by now.
func isEngine(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	isNamed := strings.Contains(string(stat), " (claude) ")
	return err == nil && isNamed && !strings.Contains(string(stat), ") Z ") && !strings.Contains(string(stat), ") X ")
}

func killProcess(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// ticks returns the processor time of a process, in hundredths of a second.
func ticks(pid int) (sum int) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	for _, field := range fields[11:13] { // utime and stime
		n, _ := strconv.Atoi(field)
		sum += n
	}
	return sum
}
