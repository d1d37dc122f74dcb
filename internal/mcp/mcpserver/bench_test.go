package mcpserver_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
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
	s := serve(b, b.TempDir(), []string{"BMAD_MAX_ROUNDS=100"}) // every submission is below the gate
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
