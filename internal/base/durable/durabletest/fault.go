package durabletest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"
)

// Kind is a kind of failure.
type Kind int

// The kinds of fault.
const (
	// None: nothing.
	None Kind = iota
	// PowerLoss: the step does not happen, nor anything after it.
	PowerLoss
	// HalfWrite: a write does half of its work, then the power is lost. If the step is not a write, it is a
	// PowerLoss.
	HalfWrite
	// Broken: this one step fails with EIO; a write has done half of its work.
	Broken
	// Full: from this step on, each step in need of space, for example a write, fails with ENOSPC, until
	// the next Plan.
	Full
	// ReadOnly: from this step on, every change fails with EROFS, until the next Plan.
	ReadOnly
	// Kill: the process dies at the step, and the power stays on: changes not yet durable are visible to
	// the next process, and still not durable.
	Kill
	// Denied: from this step on, every change fails with EACCES, until the next Plan.
	Denied
)

// Kinds lists the failures tried by Sweep.
func Kinds() []Kind { return []Kind{PowerLoss, HalfWrite, Kill, Broken, Full, ReadOnly, Denied} }

// String names the kind.
func (k Kind) String() string {
	return [...]string{"none", "power loss", "power loss in a write", "I/O error", "disk full", "read-only", "kill", "permission denied"}[k]
}

// Fault is a failure at a step.
type Fault struct {
	Kind Kind
	// Step is the number of the step, from 0.
	Step int
}

var errPower = errors.New("the power is off")

// countStep counts a step, and returns the step's error if it fails. The caller holds the lock.
func (d *Disk) countStep(op, name string) error {
	n := len(d.steps)
	d.steps = append(d.steps, Step{op, name})
	var cause error
	switch d.fault.Kind {
	case PowerLoss, HalfWrite, Kill:
		d.dead = d.dead || n == d.fault.Step
		if d.dead {
			cause = errPower
		}
	case Broken:
		if n == d.fault.Step {
			cause = syscall.EIO
		}
	case Full:
		if n >= d.fault.Step && slices.Contains([]string{"create", "write", "mkdir", "rename", "fsync", "fsync folder", "close", "lock"}, op) {
			cause = syscall.ENOSPC
		}
	case ReadOnly, Denied:
		if n >= d.fault.Step && op != "close" {
			cause = map[Kind]error{ReadOnly: syscall.EROFS, Denied: syscall.EACCES}[d.fault.Kind]
		}
	}
	if cause == nil {
		return nil
	}
	return pathError(op, name, cause)
}

// partOf returns the number of bytes written by a failing write of n bytes.
func (d *Disk) partOf(n int) int {
	if d.fault.Kind == PowerLoss || d.fault.Kind == Kill || d.fault.Kind == ReadOnly || d.fault.Kind == Denied || d.dead && len(d.steps)-1 != d.fault.Step {
		return 0
	}
	return n / 2
}

// manyNames bounds the undurable names in Images: the images double with every one.
const manyNames = 8

// Images returns the possible disks after a power loss now, each once: any undurable changes of names can
// be there or not, whatever their order, and of unsynced bytes all, the first half, zeros or none. The
// first image is the visible state, left by the death of the process.
func (d *Disk) Images() []*Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.names) > manyNames {
		panic(fmt.Sprintf("durabletest: %d names are not durable, too many to try each combination", len(d.names)))
	}
	seen := map[string]bool{}
	var out []*Disk
	add := func(image *Disk) {
		if key := image.Fingerprint(); !seen[key] {
			seen[key] = true
			out = append(out, image)
		}
	}
	bytesLeft := []func(*node) []byte{
		func(n *node) []byte { return n.data },
		func(n *node) []byte { return n.data[:len(n.synced)+(len(n.data)-len(n.synced))/2] },
		func(n *node) []byte {
			return append(slices.Clone(n.synced), make([]byte, len(n.data)-len(n.synced))...)
		},
		func(n *node) []byte { return n.synced },
	}
	for set := (1 << len(d.names)) - 1; set >= 0; set-- {
		for _, left := range bytesLeft {
			add(d.imageWith(set, left))
		}
	}
	return out
}

// imageWith returns the disk with the changes of names in a bit set.
func (d *Disk) imageWith(set int, left func(*node) []byte) *Disk {
	undo := map[*node]map[string]*node{}
	for i, c := range d.names {
		if set&(1<<i) == 0 {
			continue
		}
		for _, folder := range []*node{c.from, c.to} {
			if folder != nil && undo[folder] == nil {
				undo[folder] = maps.Clone(folder.kept)
			}
		}
		c.makeDurable()
	}
	out := New()
	out.root = d.root.copyTree(func(n *node) map[string]*node { return n.kept }, left)
	for folder, kept := range undo {
		folder.kept = kept
	}
	return out
}

// Outcome is a disk after a fault, with the program's error. After a power loss there is one for every
// possible disk, and the error counts for nothing: nobody received it.
type Outcome struct {
	Fault Fault
	// At is the step it happened at.
	At   Step
	Disk *Disk
	Err  error
	// Acknowledged is true if the work was reported as done before the power was lost.
	Acknowledged bool
	// Seen is true if the same disk has been passed before, with another error.
	Seen bool
}

// Lost reports whether the program died, and nobody received the error.
func (o Outcome) Lost() bool {
	return o.Fault.Kind == PowerLoss || o.Fault.Kind == HalfWrite || o.Fault.Kind == Kill
}

// String describes the outcome, for a test's messages.
func (o Outcome) String() string {
	return fmt.Sprintf("%s at step %d (%s %s)", o.Fault.Kind, o.Fault.Step, o.At.Op, o.At.Name)
}

// Sweep does something on copies of a disk with every kind of fault at every step of it, and passes each
// different outcome to check; after a received error, every one. It returns the steps of the undisturbed
// work and the number of outcomes.
func Sweep(t testing.TB, before *Disk, do func(*Disk) error, check func(Outcome)) (steps []Step, outcomes int) {
	t.Helper()
	return sweepEvery(t, 1, before, do, check)
}

// Sample is Sweep for long work: it tries each kind of fault at each fourth step, the next kind at the
// steps beside them, so no step is without a fault. With TEST_BMAD_EVERY_CUT set, as in .ci/run, it is Sweep.
func Sample(t testing.TB, before *Disk, do func(*Disk) error, check func(Outcome)) (steps []Step, outcomes int) {
	t.Helper()
	every := 4
	if os.Getenv("TEST_BMAD_EVERY_CUT") != "" {
		every = 1
	}
	return sweepEvery(t, every, before, do, check)
}

func sweepEvery(t testing.TB, every int, before *Disk, do func(*Disk) error, check func(Outcome)) (steps []Step, outcomes int) {
	t.Helper()
	smooth := before.Copy()
	if err := do(smooth); err != nil {
		t.Fatalf("without a fault: %v", err)
	}
	steps = smooth.Steps()
	seen := map[string]bool{}
	for i, kind := range Kinds() {
		for n := i % every; n <= len(steps); n += every {
			if kind == HalfWrite && (n == len(steps) || steps[n].Op != "write") {
				continue
			}
			disk := before.Copy()
			disk.Plan(Fault{kind, n})
			err := do(disk)
			o := Outcome{Fault: Fault{kind, n}, Err: err, Acknowledged: err == nil && !disk.dead}
			if n < len(steps) {
				o.At = steps[n]
			}
			after := []*Disk{disk}
			if kind == PowerLoss || kind == HalfWrite {
				after = disk.Images()
			}
			for _, o.Disk = range after {
				key := fmt.Sprint(o.Acknowledged, kind == Kill, len(o.Disk.names), o.Disk.Fingerprint())
				if !o.Lost() {
					key = kind.String() + key
				}
				o.Seen = seen[key]
				if o.Seen && o.Lost() {
					continue
				}
				seen[key] = true
				o.Disk.Plan(Fault{})
				check(o)
				if !o.Seen {
					outcomes++
				}
			}
		}
	}
	return steps, outcomes
}
