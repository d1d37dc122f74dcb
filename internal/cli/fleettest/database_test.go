//go:build linux

package fleettest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
)

// TestDatabaseRestarts: workers outlast immediate shutdowns of the database, shorter than their lease and longer.
func TestDatabaseRestarts(t *testing.T) {
	needsFleet(t)
	const workers = 4
	for name, outage := range map[string]time.Duration{"short": 0, "long": 2 * lease} {
		t.Run(name, func(t *testing.T) {
			server := pgtest.Start(t)
			f := fleetAt(t, server.Database(t))
			tasks := f.queueMixed(12)
			p := f.newPool(workers)
			const outages = 3
			for range outages {
				p.waitForWork()
				server.StopAtOnce()
				time.Sleep(outage)
				must(t, server.Up())
			}
			f.checkDone(tasks, outages*workers)
			b := f.readBill()
			note("%d %s outages of the database under %d workers: %d paid calls, %d repeated", outages, name, workers, b.paid(), b.repeated())
			p.end()
		})
	}
}

// waitForWork waits for one more call of any worker.
func (p *pool) waitForWork() {
	p.f.t.Helper()
	lines := len(p.f.readBill())
	p.f.eventually("a call", func() bool {
		p.f.decide(p.f.queue())
		return len(p.f.readBill()) > lines
	})
}

// TestFailover: the primary is lost, and the workers go on with the promoted standby.
func TestFailover(t *testing.T) {
	needsFleet(t)
	const workers = 4
	primary := pgtest.Start(t)
	address := primary.Database(t)
	standby := primary.Standby(t)
	both := fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d/", primary.Port, standby.Port)
	f := fleetAt(t, strings.Replace(address, fmt.Sprintf("127.0.0.1:%d/", primary.Port), both, 1)+"&target_session_attrs=read-write")
	tasks := f.queueMixed(12)
	p := f.newPool(workers)
	p.waitForWork()
	primary.Kill(t)
	standby.Promote(t)
	f.checkDone(tasks, workers)
	b := f.readBill()
	note("a fail-over of the database under %d workers: %d paid calls, %d repeated", workers, b.paid(), b.repeated())
	p.end()
}
