package mcpserver_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/specimen"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// BenchmarkSessionsAtOnce drives 64 sessions at once through one server, each by
// submissions of about 20 kB, one after the other. It reports how many actions a
// second that makes, and how long one takes.
func BenchmarkSessionsAtOnce(b *testing.B) {
	const sessions = 64
	c := connect(b, b.TempDir(), "")
	ids := make([]string, sessions)
	for i := range ids {
		reply, refused := call(b, c, object{"action": "start", "objective": fmt.Sprint("Build relay ", i)})
		if refused {
			b.Fatal(reply)
		}
		ids[i] = reply["session_id"].(string)
	}
	text := "# PRD\n\n" + strings.Repeat("The relay stores every webhook durably before it answers the provider. ", 280) + "\n\nQuality Score: 70/100\n"
	var mu sync.Mutex
	var times []time.Duration
	for b.Loop() {
		var wg sync.WaitGroup
		for _, id := range ids {
			wg.Go(func() {
				began := time.Now()
				reply, refused := call(b, c, object{"action": "submit", "stage": "po", "session_id": id, "claude_result": text})
				took := time.Since(began)
				if refused {
					b.Error(reply)
				}
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			})
		}
		wg.Wait()
	}
	slices.Sort(times)
	b.ReportMetric(float64(len(times))/b.Elapsed().Seconds(), "actions/s")
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns/action")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns/action")
}

// BenchmarkHTTPClients has 64 clients at once, half of each era, on one project of one HTTP
// server: each submits about 20 kB to its own session, and reads its status. It
// reports how many calls a second that makes, and how long one takes.
func BenchmarkHTTPClients(b *testing.B) {
	const clients = 64
	s := serve(b, b.TempDir(), []string{"BMAD_MAX_ITERATIONS=100"}) // every submission is below the gate
	text := "# PRD\n\n" + strings.Repeat("The relay stores every webhook durably before it answers the provider. ", 280) + "\n\nQuality Score: 70/100\n"
	calls := make([]func(args object) error, clients)
	for n := range calls {
		protocol := ""
		if n%2 == 0 {
			protocol = "2025-11-25"
		}
		c := s.connect(protocol, nil)
		reply, refused, err := act(c, object{"action": "start", "objective": fmt.Sprint("Build relay ", n)})
		if err != nil || refused {
			b.Fatal(reply, err)
		}
		id := reply["session_id"]
		calls[n] = func(args object) error {
			args["session_id"] = id
			reply, refused, err := act(c, args)
			if err == nil && (refused || reply["session_id"] != id) {
				err = fmt.Errorf("%v", reply)
			}
			return err
		}
	}
	var mu sync.Mutex
	var times []time.Duration
	for b.Loop() {
		var wg sync.WaitGroup
		for _, call := range calls {
			wg.Go(func() {
				for _, args := range []object{{"action": "submit", "stage": "po", "claude_result": text}, {"action": "status"}} {
					began := time.Now()
					err := call(args)
					took := time.Since(began)
					if err != nil {
						b.Error(err)
					}
					mu.Lock()
					times = append(times, took)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	slices.Sort(times)
	b.ReportMetric(float64(len(times))/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns/call")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns/call")
}

// BenchmarkMemory reports the memory of a server that has listed a project of 20,000
// sessions, as the system counts it, and that of one that has listed one session.
func BenchmarkMemory(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	for _, n := range []int{1, 20_000} {
		if n > 1 && testing.Short() {
			continue // it takes a minute to make them
		}
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			dir, env := b.TempDir(), append(os.Environ(), isolatedEnv(b)...)
			p := spawn(b, dir, env)
			defer func() { p.kill() }()
			reply, _, err := p.task(object{"action": "start", "objective": "Build a relay"})
			if err != nil {
				b.Fatal(err)
			}
			id := reply["session_id"].(string)
			name := filepath.Join(dir, ".bmad-task", "session-"+id+".json")
			data, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			for i := 1; i < n; i++ {
				other := fmt.Sprintf("%08d-1111-4000-8000-000000000000", i)
				text := strings.ReplaceAll(strings.ReplaceAll(string(data), id, other), `"build-a-relay"`, fmt.Sprintf(`"build-a-relay-%d"`, i))
				if err := os.WriteFile(strings.ReplaceAll(name, id, other), []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if reply, refused, err := p.task(object{"action": "status"}); err != nil || refused {
					b.Fatal(reply, err)
				}
			}
			b.ReportMetric(float64(residentBytes(b, p, "VmHWM:")), "peak-B")
		})
	}
}

// memoryOf returns a figure of a process's memory, in bytes, as the system counts it; 0 if it has
// ended.
func memoryOf(pid int, key string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), key)
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// BenchmarkDoctorMemory reports the memory of the commands that read every session of a project,
// with session files of ordinary size.
func BenchmarkDoctorMemory(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	for _, n := range []int{20, 1_000, 20_000} {
		if n > 1_000 && testing.Short() {
			continue // it takes minutes to make them
		}
		dir := b.TempDir()
		storetest.Ordinary(b, dir, n)
		storetest.OrdinaryTexts(b, dir, n)
		env := append(os.Environ(), isolatedEnv(b)...)
		for _, command := range [][]string{{"doctor", "--fix"}, {"doctor"}, {"gc"}} {
			b.Run(fmt.Sprintf("sessions=%d/%s", n, strings.Join(command, "")), func(b *testing.B) {
				for b.Loop() {
					cmd := exec.Command(binary, append(command, "--json")...)
					cmd.Dir, cmd.Env = dir, env
					var report bytes.Buffer
					cmd.Stdout = &report
					if err := cmd.Start(); err != nil {
						b.Fatal(err)
					}
					ended := make(chan error, 1)
					go func() { ended <- cmd.Wait() }()
					for most := 0; ; {
						select {
						case err := <-ended:
							if err != nil {
								b.Fatalf("%v\n%.2000s", err, report.String())
							}
							b.ReportMetric(float64(most)/(1<<20), "peak-MB")
						case <-time.After(time.Millisecond): // the system forgets the figure when the process ends
							most = max(most, memoryOf(cmd.Process.Pid, "VmHWM:"))
							continue
						}
						break
					}
				}
			})
		}
	}
}

// BenchmarkStartUp is the time from the start of the program to its initialize answer, the
// processor's time of such a process from its start to its end, and its memory when it answers.
func BenchmarkStartUp(b *testing.B) {
	dir, env := b.TempDir(), append(os.Environ(), isolatedEnv(b)...)
	var used []time.Duration
	var memory []int
	for b.Loop() {
		p := spawn(b, dir, env)
		b.StopTimer()
		memory = append(memory, residentBytes(b, p, "VmRSS:"))
		p.kill()
		used = append(used, processorTime(p))
		b.StartTimer()
	}
	b.ReportMetric(milliseconds(middle(used)), "cpu-ms")
	b.ReportMetric(float64(middle(memory)), "resident-B")
}

// BenchmarkHookCall is a call of the hook of Claude Code: a process from its start to its end.
func BenchmarkHookCall(b *testing.B) {
	dir, env := b.TempDir(), append(os.Environ(), isolatedEnv(b)...)
	for _, event := range []struct{ name, text string }{
		{"prompt", `{"session_id":"c1","hook_event_name":"UserPromptSubmit","prompt":"go on with the relay","cwd":"."}`},
		{"command", `{"session_id":"c1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git status && go test ./... | tail -5"},"cwd":"."}`},
	} {
		b.Run("event="+event.name, func(b *testing.B) {
			var used []time.Duration
			for b.Loop() {
				cmd := exec.Command(binary, "hook", "claude-code")
				cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(event.text)
				if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
					b.Fatalf("%v: %s", err, out)
				}
				used = append(used, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			}
			b.ReportMetric(milliseconds(middle(used)), "cpu-ms")
		})
	}
}

// BenchmarkFirstRun is the processor's time of a process that a host starts for one run: from its
// start through six stages on documents of about 20 kB to its end, less that of its start. It
// reports the memory of the process at its end too.
func BenchmarkFirstRun(b *testing.B) {
	for name, write := range map[string]func(uint64, int) string{"varied": specimen.English, "chinese": specimen.Chinese} {
		b.Run("documents="+name, func(b *testing.B) {
			var used []time.Duration
			var memory []int
			for b.Loop() {
				dir, env := b.TempDir(), append(os.Environ(), isolatedEnv(b)...)
				idle := spawn(b, dir, env)
				idle.kill()
				p := spawn(b, dir, env)
				wholeRun(b, p, write)
				memory = append(memory, residentBytes(b, p, "VmRSS:"))
				p.kill()
				used = append(used, processorTime(p)-processorTime(idle))
			}
			b.ReportMetric(milliseconds(middle(used)), "cpu-ms")
			b.ReportMetric(float64(middle(memory)), "resident-B")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// wholeRun makes a run of six stages.
func wholeRun(b *testing.B, p *process, write func(uint64, int) string) {
	b.Helper()
	act := func(args object) object {
		reply, refused, err := p.task(args)
		if err != nil || refused {
			b.Fatal(reply, err)
		}
		return reply
	}
	reply := act(object{"action": "start", "objective": "Build a relay that stores webhooks and delivers them again"})
	id := reply["session_id"]
	for i, stage := range workflow.Default().IDs() {
		text := write(uint64(i), 20<<10) + "\n## Sprint 1: relay\n\n- S1-1 Store webhooks\n\nQuality Score: 95/100\n"
		if workflow.StageID(stage) == workflow.Review || workflow.StageID(stage) == workflow.QA {
			text = specimen.Report(text, owedIDs(reply))
		}
		reply = act(object{"action": "submit", "stage": stage, "session_id": id, "claude_result": text})
		if reply["state"] == "awaiting_confirmation" {
			reply = act(object{"action": "confirm", "session_id": id, "confirmed": true})
		}
		if reply["state"] == "awaiting_approval" {
			reply = act(object{"action": "approve", "session_id": id, "approved": true})
		}
	}
	if reply["state"] != "completed" {
		b.Fatalf("the run is not complete: %v", reply)
	}
}

// owedIDs returns the ids of the criteria for which a reply asks a row.
func owedIDs(reply object) []string {
	var ids []string
	list, _ := reply["owed"].([]any)
	for _, id := range list {
		ids = append(ids, fmt.Sprint(id))
	}
	return ids
}

func processorTime(p *process) time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func middle[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

// residentBytes reads a figure of a process's memory as Linux gives it; 0 elsewhere.
func residentBytes(b testing.TB, p *process, key string) int {
	b.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	size := memoryOf(p.cmd.Process.Pid, key)
	if size == 0 {
		b.Fatal("the server has ended")
	}
	return size
}
