//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// command runs a program in a project until it ends.
func (b *bench) command(program, project, stdin string, arguments ...string) (*exec.Cmd, error) {
	cmd := exec.Command(program, arguments...)
	cmd.Dir, cmd.Env, cmd.Stdin = project, b.environ(filepath.Dir(project)), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(arguments, " "), err, out)
	}
	return cmd, nil
}

// status is a figure of a process that the system keeps in kB, in MB.
func status(pid int, name string) (float64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if kb, ok := strings.CutPrefix(line, name+":"); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")), 64)
			return value * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("/proc has no %s of the process", name)
}

// peak waits for the end of a command, and returns the most memory that it has had, in MB. The figure that comes
// with the end counts the process that started it, too.
func peak(cmd *exec.Cmd) (most float64, err error) {
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return most, err
		case <-time.After(10 * time.Millisecond):
			if now, err := status(cmd.Process.Pid, "VmHWM"); err == nil { // it may have ended
				most = now
			}
		}
	}
}

// life is the least time of several lives of the yardstick.
func life(b *bench, program string) (float64, error) { return b.lives(program, 5) }

// work is the time of the yardstick for its work.
func work(b *bench, program string) (float64, error) { return b.lives(program, 1, "work") }

func (b *bench) lives(program string, n int, arguments ...string) (least float64, err error) {
	for range n {
		cmd, err := b.command(program, b.work, "", arguments...)
		if err != nil {
			return 0, err
		}
		if took := ms(used(cmd)); least == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// workSeconds is work in seconds.
func workSeconds(b *bench, program string) (float64, error) {
	took, err := work(b, program)
	return took / 1000, err
}

// waiting is the memory of the yardstick while it waits.
func waiting(_ *bench, program string) (float64, error) {
	s := &server{cmd: exec.Command(program, "wait")}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	said, err := s.cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := s.cmd.Start(); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(said, make([]byte, len("hello"))); err != nil {
		return 0, err
	}
	all, err := status(s.cmd.Process.Pid, "VmRSS")
	if err != nil {
		return 0, err
	}
	_ = in.Close() // that is the end that it waits for
	_, _ = io.Copy(io.Discard, said)
	return all, s.cmd.Wait()
}

func startTime(b *bench, program string) (float64, error) {
	s, err := b.start(program, "", nil)
	if err != nil {
		return 0, err
	}
	cpu, err := s.cpu()
	if err != nil {
		return 0, err
	}
	_, err = s.stop()
	return ms(cpu), err
}

func hookTime(b *bench, program string) (float64, error) {
	project, err := b.folder()
	if err != nil {
		return 0, err
	}
	event := fmt.Sprintf(`{"hook_event_name":"PreToolUse","cwd":%q,"tool_name":"Bash","tool_input":{"command":"go test ./..."}}`, project)
	cmd, err := b.command(program, project, event, "hook", "claude-code")
	if err != nil {
		return 0, err
	}
	return ms(used(cmd)), nil
}

// hookShare is the part of a start that a call of the hook takes, each the least of some.
func hookShare(b *bench, program string) (float64, error) {
	hook, start := math.Inf(1), math.Inf(1)
	for range 5 {
		h, err := hookTime(b, program)
		if err != nil {
			return 0, err
		}
		s, err := startTime(b, program)
		if err != nil {
			return 0, err
		}
		hook, start = min(hook, h), min(start, s)
	}
	return hook / start, nil
}

// listening starts a server whose host has listed its tools.
func (b *bench) listening(program string, environ []string, wrap ...string) (*server, error) {
	s, err := b.start(program, "", environ, wrap...)
	if err != nil {
		return nil, err
	}
	_, err = s.request("tools/list", map[string]any{})
	return s, err
}

func firstRun(b *bench, program string) (float64, error) { return b.runTime(program, 1) }

func warmRun(b *bench, program string) (float64, error) { return b.runTime(program, 6) }

// runTime is the processor's time of the last of n runs of a process.
func (b *bench) runTime(program string, n int) (float64, error) {
	s, err := b.listening(program, nil)
	if err != nil {
		return 0, err
	}
	var before, after time.Duration
	for range n {
		if before, err = s.cpu(); err != nil {
			return 0, err
		}
		if err := b.walk(s, nil); err != nil {
			return 0, err
		}
		if after, err = s.cpu(); err != nil {
			return 0, err
		}
	}
	_, err = s.stop()
	return ms(after - before), err
}

// pause is longer than the time without a call after which a server gives memory back.
const pause = 6 * time.Second

// afterRuns returns a server that has just made some runs.
func (b *bench) afterRuns(program string, runs int) (*server, error) {
	s, err := b.listening(program, nil)
	if err != nil {
		return nil, err
	}
	for range runs {
		if err := b.walk(s, nil); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// memory returns the measure of a server's memory right after the last call of some runs; name is what /proc calls it.
func memory(runs int, name string) func(*bench, string) (float64, error) {
	return func(b *bench, program string) (float64, error) { return b.memory(program, runs, name, 0) }
}

// restedMemory returns the measure of the same a pause later.
func restedMemory(runs int, name string) func(*bench, string) (float64, error) {
	return func(b *bench, program string) (float64, error) { return b.memory(program, runs, name, pause) }
}

func (b *bench) memory(program string, runs int, name string, wait time.Duration) (float64, error) {
	s, err := b.afterRuns(program, runs)
	if err != nil {
		return 0, err
	}
	time.Sleep(wait)
	value, err := status(s.cmd.Process.Pid, name)
	if err != nil {
		return 0, err
	}
	_, err = s.stop()
	return value, err
}

// pauseTime is the processor's time of a pause after a run.
func pauseTime(b *bench, program string) (float64, error) {
	s, err := b.afterRuns(program, 1)
	if err != nil {
		return 0, err
	}
	before, err := s.cpu()
	if err != nil {
		return 0, err
	}
	time.Sleep(pause)
	after, err := s.cpu()
	if err != nil {
		return 0, err
	}
	_, err = s.stop()
	return ms(after - before), err
}

// waits are the system calls by which Go's runtime waits, and manages threads and memory. How many there
// are depends on the scheduler.
var waits = strings.Fields("futex epoll_pwait epoll_ctl epoll_create1 eventfd2 nanosleep clock_nanosleep sched_yield mmap munmap madvise mprotect " +
	"tgkill getpid gettid rt_sigreturn rt_sigaction rt_sigprocmask sigaltstack clone clone3 set_robust_list rseq exit restart_syscall")

// systemCalls returns the measure of a percentile of the system calls that an action makes.
func systemCalls(percentile int) func(*bench, string) (float64, error) {
	return func(b *bench, program string) (float64, error) {
		strace, err := exec.LookPath("strace")
		if err != nil {
			return 0, skipped("strace is missing")
		}
		// Not in the folder above a project, which the server watches.
		traces, err := b.folder()
		if err != nil {
			return 0, err
		}
		traced := filepath.Join(traces, "calls")
		s, err := b.listening(program, nil, strace, "-f", "-qq", "-o", traced, "-e", "trace=!"+strings.Join(waits, ","))
		if err != nil {
			return 0, err
		}
		count := func() (int, error) {
			// What an action leaves to the background belongs to it.
			time.Sleep(300 * time.Millisecond)
			data, err := os.ReadFile(traced)
			// A call that was interrupted by another has two lines; signals have one.
			others := bytes.Count(data, []byte(" resumed>")) + bytes.Count(data, []byte("--- SIG"))
			return bytes.Count(data, []byte("\n")) - others, err
		}
		last, err := count()
		if err != nil {
			return 0, err
		}
		var counts []int
		err = b.walk(s, func() error {
			now, err := count()
			counts = append(counts, now-last)
			last = now
			return err
		})
		if err != nil {
			return 0, err
		}
		if _, err := s.stop(); err != nil {
			return 0, err
		}
		slices.Sort(counts)
		return float64(counts[(len(counts)-1)*percentile/100]), nil
	}
}

func size(_ *bench, program string) (float64, error) {
	info, err := os.Stat(program)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1e6, nil
}

func packed(_ *bench, program string) (float64, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return 0, err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	return float64(out.Len()) / 1e6, w.Close()
}

func runBytes(b *bench, program string) (float64, error) {
	n, err := b.replies(program, nil)
	return float64(n) / 1e3, err
}

func leanRun(b *bench, program string) (float64, error) {
	all, err := b.replies(program, nil)
	if err != nil {
		return 0, err
	}
	lean, err := b.replies(program, []string{"BMAD_REPLIES=lean"})
	return float64(lean) / float64(all), err
}

// replies counts the bytes of all replies of a run that ends with a look at its status.
func (b *bench) replies(program string, environ []string) (int, error) {
	s, err := b.listening(program, environ)
	if err != nil {
		return 0, err
	}
	if err := b.walk(s, nil); err != nil {
		return 0, err
	}
	if err := s.task(map[string]any{"action": "status"}); err != nil {
		return 0, err
	}
	_, err = s.stop()
	return s.bytes, err
}

// firstRecall is the time of a search of the notes by a new process. A write comes before, because only a write keeps
// the index.
func firstRecall(b *bench, program string) (float64, error) {
	project, err := b.folder()
	if err != nil {
		return 0, err
	}
	if err := b.notes(project, 10_000); err != nil {
		return 0, err
	}
	if _, err := b.command(program, project, "", "memory", "add", "--type", "decisions", "webhooks are throttled by their sender"); err != nil {
		return 0, err
	}
	cmd, err := b.command(program, project, "", "memory", "search", "throttled webhooks")
	if err != nil {
		return 0, err
	}
	return ms(used(cmd)), nil
}

// doctor returns the measure of the time, or of the memory, of doctor in a large project.
func doctor(memory bool) func(*bench, string) (float64, error) {
	return func(b *bench, program string) (float64, error) {
		project, err := b.folder()
		if err != nil {
			return 0, err
		}
		if err := b.sessions(program, project, 20_000); err != nil {
			return 0, err
		}
		// The copies have no records of their own, which doctor reports.
		cmd := exec.Command(program, "doctor")
		cmd.Dir, cmd.Env = project, b.environ(filepath.Dir(project))
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		most, err := peak(cmd)
		if err != nil && cmd.ProcessState.ExitCode() != 1 {
			return 0, fmt.Errorf("doctor: %w", err)
		}
		if memory {
			return most, nil
		}
		return used(cmd).Seconds(), nil
	}
}

// list is the time of the second list of a process.
func list(b *bench, program string) (float64, error) {
	project, err := b.folder()
	if err != nil {
		return 0, err
	}
	if err := b.sessions(program, project, 100_000); err != nil {
		return 0, err
	}
	s, err := b.start(program, project, nil)
	if err != nil {
		return 0, err
	}
	least := time.Duration(0)
	for n := range 6 {
		before, err := s.cpu()
		if err != nil {
			return 0, err
		}
		if err := s.task(map[string]any{"action": "status"}); err != nil {
			return 0, err
		}
		after, err := s.cpu()
		if err != nil {
			return 0, err
		}
		if n > 0 && (least == 0 || after-before < least) {
			least = after - before
		}
	}
	_, err = s.stop()
	return ms(least), err
}

// build is the time of the clock that a build takes when a package near the bottom has changed.
func build(b *bench, program string) (float64, error) {
	if program != b.o.program {
		return 0, skipped("only the module's own program is built")
	}
	source := filepath.Join(b.o.module, "internal", "workflow", "figures_touched.go")
	defer func() { _ = os.Remove(source) }() // made below
	touch := func(n int) error {
		return os.WriteFile(source, fmt.Appendf(nil, "package workflow\n\nconst figuresTouched = %d%d\n", time.Now().UnixNano(), n), 0o600)
	}
	compile := func() error {
		cmd := exec.Command("go", "build", "-o", filepath.Join(b.work, "built"), "./cmd/bmad-mcp")
		cmd.Dir = b.o.module
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, out)
		}
		return nil
	}
	if err := compile(); err != nil {
		return 0, err
	}
	if err := touch(1); err != nil {
		return 0, err
	}
	began := time.Now()
	err := compile()
	return time.Since(began).Seconds(), err
}
