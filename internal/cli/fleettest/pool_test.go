//go:build linux

package fleettest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"
)

// pool is a number of workers, on machines of two each.
type pool struct {
	f       *fleet
	workers []*worker
	started int
	lost    map[string]time.Time // by the names of the workers
	env     []string             // of the stand-ins
}

// newPool starts workers.
func (f *fleet) newPool(count int, env ...string) *pool {
	f.t.Helper()
	p := &pool{f: f, lost: map[string]time.Time{}, env: env}
	for i := range count {
		if i/2 >= len(f.boxes) {
			f.boxes = append(f.boxes, f.machine(fmt.Sprintf("box-%d", i/2+1)))
		}
		p.workers = append(p.workers, p.next(f.boxes[i/2]))
	}
	return p
}

// next starts one more worker on a machine.
func (p *pool) next(m *machine) *worker {
	p.f.t.Helper()
	p.started++
	return m.start(fmt.Sprintf("worker-%03d", p.started), p.env...)
}

// lose kills a worker, and starts another in its place.
func (p *pool) lose(i int) {
	p.f.t.Helper()
	victim := p.workers[i]
	p.lost[victim.name] = time.Now()
	victim.kill()
	p.workers[i] = p.next(victim.m)
}

// end has all workers end, and waits.
func (p *pool) end() {
	p.f.t.Helper()
	for _, w := range p.workers {
		w.signal(syscall.SIGTERM)
	}
	for _, w := range p.workers {
		if code := w.code(); code != 0 {
			p.f.t.Errorf("%s ended with %d when it was asked to", w.name, code)
		}
	}
}

// manyRuns has workers do runs: none is lost, none is done twice.
func manyRuns(t *testing.T, runs, workers int) {
	f := newFleet(t)
	tasks := f.queueMixed(runs)
	began := time.Now()
	p := f.newPool(workers)
	f.checkDone(tasks, 0)
	b := f.readBill()
	note("%d runs by %d workers: %d paid calls, %d repeated, in %s", runs, workers, b.paid(), b.repeated(), time.Since(began).Round(time.Second))
	p.end()
}

// killedWorkers kills workers in the middle of their calls, after the answer, or at any moment. env has the variables of the
// stand-in.
func killedWorkers(t *testing.T, kills, workers int, env ...string) {
	f := newFleet(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	tasks := f.queueMixed(workers)
	p := f.newPool(workers, env...)
	for len(p.lost) < kills {
		if kills > workers && len(p.lost)%workers == 0 {
			runs := f.queue()
			f.decide(runs)
			tasks = append(tasks, f.queueMixed(max(0, 2*workers-countOpen(runs)))...)
		}
		i := random.IntN(workers)
		switch lines := len(f.readBill()); random.IntN(3) {
		case 0:
			time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
		case 1:
			p.waitForLine(lines, "begin", i)
		default:
			p.waitForLine(lines, "end", i)
		}
		p.lose(i)
	}
	f.checkDone(tasks, len(p.lost))
	b := f.readBill()
	for _, problem := range b.unexplained(p.lost) {
		t.Error(problem)
	}
	note("%d workers killed under %d runs: %d paid calls, %d repeated", len(p.lost), len(tasks), b.paid(), b.repeated())
	note("takeover of a killed worker's call, with a lease of %s: %s", lease, spread(b.takeovers(p.lost)))
	p.end()
}

// waitForLine waits until a worker has added a line to the bill, or has nothing to do.
func (p *pool) waitForLine(after int, what string, i int) {
	name := p.workers[i].name
	for range 20 {
		if slices.ContainsFunc(p.f.readBill()[after:], func(e entry) bool { return e.What == what && e.Worker == name }) {
			return
		}
		time.Sleep(pause)
	}
}

// countOpen counts the runs that workers can do.
func countOpen(runs map[string]queued) (count int) {
	for _, q := range runs {
		if slices.Contains([]string{"ready", "working", "lost", "waiting"}, q.State) {
			count++
		}
	}
	return count
}

// TestFewRuns is the short one of TestManyRuns.
func TestFewRuns(t *testing.T) {
	t.Parallel()
	manyRuns(t, 6, 2)
}

// TestManyRuns: of many runs in the queue none is lost, and none is done twice.
func TestManyRuns(t *testing.T) {
	needsFleet(t)
	manyRuns(t, 100, 8)
}

// TestFewKills is the short one of TestManyKills.
func TestFewKills(t *testing.T) {
	t.Parallel()
	killedWorkers(t, 3, 3)
}

// TestManyKills: workers that are killed lose no run, and cost at most one call each.
func TestManyKills(t *testing.T) {
	needsFleet(t)
	killedWorkers(t, 200, 8, takesVariable+"=1s")
}
