//go:build linux

package fleettest_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
)

// network is a network of its own for a machine, joined to this one by a cable. The database is reached by a relay at our
// end of it, because it listens on loopback alone.
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

// relay passes connections at our end on to an address, and returns its port.
func (n *network) relay(to string) (port int) {
	n.t.Helper()
	l, err := net.Listen("tcp", n.address+":0")
	must(n.t, err)
	n.t.Cleanup(func() { _ = l.Close() })
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
			go pass(near, far)
			go pass(far, near)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func pass(from, to net.Conn) {
	_, _ = io.Copy(to, from) // ends with either
	_, _ = from.Close(), to.Close()
}

// TestNetworkCut: a worker without the database ends its engine before another takes the run over, writes nothing more for
// it, and goes on with others when the network is back.
func TestNetworkCut(t *testing.T) {
	needsFleet(t)
	for name, deaf := range map[string]string{"an engine": "", "a deaf engine": "1"} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(t)
			address := pgtest.New(t)
			f := fleetAt(t, address)
			at, err := url.Parse(address)
			must(t, err)
			far := f.machine("far")
			port := n.relay(at.Host)
			at.Host = fmt.Sprintf("%s:%d", n.address, port)
			far.env = append(far.env, "BMAD_STORE="+at.String())
			far.before = []string{"ip", "netns", "exec", n.name}
			tasks := f.queueRuns(1, "--yes")
			cut := far.start("cut", takesVariable+"=10m", deafVariable+"="+deaf)
			call := cut.waitForCall(0)
			n.cut()
			began := time.Now()
			lastSeen := began
			f.machine("near").start("near")
			f.eventually("the end of the engine", func() bool {
				now := time.Now()
				if !isAlive(call.PID) {
					return true
				}
				lastSeen = now
				return false
			})
			note("a worker without the network has ended %s after %s, with a lease of %s", name, lastSeen.Sub(began).Round(time.Millisecond), lease)
			f.waitFor("done", tasks...)
			for _, e := range f.readBill() {
				if e.Worker == "near" && !e.At.After(lastSeen) {
					t.Errorf("the next worker began at %s, and the engine was still seen at %s", e.At, lastSeen)
				}
			}
			refs, lines := f.refs(), len(f.readBill())
			n.join()
			if cut.ended() {
				t.Fatalf("the worker has ended: %s", cut.state())
			}
			if got := f.refs(); got != refs {
				t.Errorf("the remote was moved from\n%s\nto\n%s", refs, got)
			}
			f.checkDone(tasks, 1)
			for _, w := range f.workers {
				if w.name == "near" {
					w.kill()
				}
			}
			f.queueRuns(1, "--yes")
			cut.waitForCall(lines)
		})
	}
}
