//go:build linux

package fleettest_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
)

// network is a network of its own for a machine, joined to this one by a cable. A relay at our end of it leads to the
// database, which listens on loopback alone.
type network struct {
	t           testing.TB
	name, cable string
	address     string // of our end
}

// newNetwork makes a network, or skips the test where the system does not let it.
func newNetwork(t *testing.T) *network {
	t.Helper()
	const prefix = "10.213.77."
	n := &network{t: t, name: fmt.Sprintf("bmad-%d", os.Getpid()), cable: fmt.Sprintf("bmad%d", os.Getpid()%100000), address: prefix + "1"}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("no program ip: install Debian's package iproute2")
	}
	if out, err := exec.Command("ip", "netns", "add", n.name).CombinedOutput(); err != nil {
		t.Skipf("no network can be made here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", n.name).Run() })
	for _, line := range []string{
		"link add " + n.cable + " type veth peer name far netns " + n.name,
		"addr add " + n.address + "/24 dev " + n.cable, "link set " + n.cable + " up",
		"-n " + n.name + " addr add " + prefix + "2/24 dev far", "-n " + n.name + " link set far up", "-n " + n.name + " link set lo up",
	} {
		n.ip(line)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", n.cable).Run() })
	return n
}

// ip runs ip.
func (n *network) ip(line string) {
	n.t.Helper()
	if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %s: %v: %s", line, err, out)
	}
}

// cut takes the cable out, so that nothing arrives, and nobody is told; join puts it back.
func (n *network) cut()  { n.ip("link set " + n.cable + " down") }
func (n *network) join() { n.ip("link set " + n.cable + " up") }

// relay passes connections on to an address. A closed valve holds what comes to it, without an end of the connection, until it
// is opened.
type relay struct {
	port               int
	questions, answers *valve
}

// newRelay starts a relay at an address of ours.
func newRelay(t testing.TB, at, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", at+":0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	r := &relay{port: l.Addr().(*net.TCPAddr).Port, questions: &valve{}, answers: &valve{}}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go r.questions.pass(near, far)
			go r.answers.pass(far, near)
		}
	}()
	return r
}

// valve is one direction of a relay.
type valve struct{ closed atomic.Bool }

// pass passes on what comes from a connection, until either ends.
func (v *valve) pass(from, to net.Conn) {
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		for v.closed.Load() {
			time.Sleep(10 * time.Millisecond)
		}
		if n > 0 {
			if _, err := to.Write(data[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	_, _ = from.Close(), to.Close()
}

// cutting is a way to cut a machine off the database: it prepares the machine, and returns what cuts it off and what joins it.
type cutting func(t *testing.T, far *machine, database *url.URL) (cut, join func())

// byCable takes out the cable of a network: nothing arrives, and the system knows of it at one end alone.
func byCable(t *testing.T, far *machine, database *url.URL) (cut, join func()) {
	n := newNetwork(t)
	database.Host = fmt.Sprintf("%s:%d", n.address, newRelay(t, n.address, database.Host).port)
	far.before = []string{"ip", "netns", "exec", n.name}
	return n.cut, n.join
}

// byHolding holds what both sides send, and lets it arrive too late.
func byHolding(t *testing.T, _ *machine, database *url.URL) (cut, join func()) {
	r := newRelay(t, "127.0.0.1", database.Host)
	database.Host = fmt.Sprintf("127.0.0.1:%d", r.port)
	set := func(closed bool) { r.questions.closed.Store(closed); r.answers.closed.Store(closed) }
	return func() { set(true) }, func() { set(false) }
}

// byHoldingAnswers lets the database hear the worker, and not the worker the database.
func byHoldingAnswers(t *testing.T, _ *machine, database *url.URL) (cut, join func()) {
	r := newRelay(t, "127.0.0.1", database.Host)
	database.Host = fmt.Sprintf("127.0.0.1:%d", r.port)
	return func() { r.answers.closed.Store(true) }, func() { r.answers.closed.Store(false) }
}

// TestNetworkCut: a worker without the database ends its engine before another takes the run over, writes nothing more for
// it, and goes on with others when the network is back.
func TestNetworkCut(t *testing.T) {
	needsFleet(t)
	for name, c := range map[string]struct {
		by   cutting
		deaf string
	}{
		"no cable": {byCable, ""}, "no cable and a deaf engine": {byCable, "1"},
		"late packets": {byHolding, ""}, "late answers": {byHoldingAnswers, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address := pgtest.New(t)
			f := fleetAt(t, address)
			at, err := url.Parse(address)
			must(t, err)
			far := f.machine("far")
			cut, join := c.by(t, far, at)
			t.Cleanup(join)
			far.env = append(far.env, "BMAD_STORE="+at.String())
			tasks := f.queueRuns(1, "--yes")
			// A deaf engine is given 5 s, which have to fit into the end of the lease.
			const longLease = 20 * time.Second
			w := far.start("cut", takesVariable+"=10m", deafVariable+"="+c.deaf, "--lease", longLease.String())
			call := w.waitForCall(0)
			cut()
			began := time.Now()
			f.machine("near").start("near")
			lastSeen := f.lastSeen(call)
			note("a worker with %s has ended its engine after %s, with a lease of %s", name, lastSeen.Sub(began).Round(time.Millisecond), longLease)
			f.waitFor("done", tasks...)
			for _, e := range f.readBill().ofWorker("near") {
				if !e.At.After(lastSeen) {
					t.Errorf("the next worker began at %s, and the engine was still seen at %s", e.At, lastSeen)
				}
			}
			revision, refs, lines := f.session(tasks[0]).Revision, f.refs(), len(f.readBill())
			join()
			if w.ended() {
				t.Fatalf("the worker has ended: %s", w.state())
			}
			f.workerNamed("near").kill()
			second := f.queueRuns(1, "--yes")[0]
			if next := w.waitForCall(lines); next.Task != second {
				t.Errorf("the worker goes on with %s, want %s", next.Task, second)
			}
			if got := f.session(tasks[0]).Revision; got != revision {
				t.Errorf("revision %d was written after %d", got, revision)
			}
			if got := f.refs(); got != refs {
				t.Errorf("the remote was moved from\n%s\nto\n%s", refs, got)
			}
			w.kill()
			f.machine("third").start("third")
			f.checkDone(append(tasks, second), 2)
		})
	}
}

// lastSeen waits for the end of an engine, and returns when it was seen last.
func (f *fleet) lastSeen(call entry) (at time.Time) {
	f.t.Helper()
	f.eventually("the end of the engine", func() bool {
		now := time.Now()
		if !isEngine(call.PID) {
			return true
		}
		at = now
		return false
	})
	return at
}

// workerNamed returns a worker.
func (f *fleet) workerNamed(name string) *worker {
	return f.workers[slices.IndexFunc(f.workers, func(w *worker) bool { return w.name == name })]
}
