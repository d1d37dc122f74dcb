// Package durabletest is a disk with failures and power losses on demand, for tests of writes through
// package durable.
//
// A [Disk] is a tree of folders in memory. Like a real one it keeps two states: the visible one, and the
// one left by a power loss. A write moves into the second by the sync of the file, a name by the sync of
// the folder. Every change is a numbered [Step]; a [Fault] makes one of them the last, or an error.
// [Disk.Images] are all possible disks after a power loss, and [Sweep] tries every fault at every step.
package durabletest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// Step is a change requested by a program.
type Step struct {
	// Op is create, write, fsync, close, mkdir, rename, remove, fsync folder or lock.
	Op   string
	Name string
}

// Disk is a simulated disk. It is safe for concurrent use.
type Disk struct {
	mu    sync.Mutex
	root  *node
	names []change // of names, since the folders' last sync
	locks map[string]bool
	steps []Step
	fault Fault
	dead  bool
}

// node is a file or a folder.
type node struct {
	folder bool
	// data and entries are visible to programs; synced and kept survive a power loss.
	data, synced  []byte
	entries, kept map[string]*node
	// written counts up with each write of any file: the time at which this one was last.
	written int64
}

// writes counts the writes to all disks.
var writes atomic.Int64

// change is one change of names, not durable yet; a rename touches two folders.
type change struct {
	from, to         *node
	fromName, toName string
	what             *node
}

// New returns an empty disk.
func New() *Disk {
	return &Disk{root: newFolder(), locks: map[string]bool{}}
}

func newFolder() *node {
	return &node{folder: true, entries: map[string]*node{}, kept: map[string]*node{}}
}

// Dir returns the disk's folder for a process to work in, as if it were at path. Locks within a
// process go by the path, so if two disks are used at once, their paths have to differ.
func (d *Disk) Dir(path string) *durable.Dir { return durable.NewDir(path, view{d}) }

// Steps returns the requested changes so far.
func (d *Disk) Steps() []Step {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.steps)
}

// Plan sets the fault to come; its step counts from now on. A dead process holds no lock.
func (d *Disk) Plan(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		d.locks = map[string]bool{}
	}
	d.steps, d.fault, d.dead = nil, f, false
}

// Copy returns a disk with the visible state of this one, all of it durable.
func (d *Disk) Copy() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := New()
	out.root = d.root.copyTree(func(n *node) map[string]*node { return n.entries }, func(n *node) []byte { return n.data })
	return out
}

// copyTree returns the tree below n, with names from entries and bytes from data for each node.
func (n *node) copyTree(entries func(*node) map[string]*node, data func(*node) []byte) *node {
	if !n.folder {
		body := data(n)
		return &node{data: body, synced: body, written: n.written}
	}
	out := newFolder()
	for name, child := range entries(n) {
		out.entries[name] = child.copyTree(entries, data)
	}
	out.kept = maps.Clone(out.entries)
	return out
}

// findNode returns the node of a path in the visible state.
func (d *Disk) findNode(name string) (*node, error) {
	n := d.root
	if name == "." {
		return n, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !n.folder {
			return nil, syscall.ENOTDIR
		}
		if n = n.entries[part]; n == nil {
			return nil, fs.ErrNotExist
		}
	}
	return n, nil
}

// folderOf returns the folder of a path, and the last name of the path.
func (d *Disk) folderOf(name string) (*node, string, error) {
	n, err := d.findNode(path.Dir(name))
	if err == nil && !n.folder {
		err = syscall.ENOTDIR
	}
	return n, path.Base(name), err
}

// changeNames records and does a change of names.
func (d *Disk) changeNames(c change) {
	if c.from != nil {
		delete(c.from.entries, c.fromName)
	}
	if c.to != nil {
		c.to.entries[c.toName] = c.what
	}
	d.names = append(d.names, c)
}

// makeDurable makes a change of names durable.
func (c change) makeDurable() {
	if c.from != nil && c.from.kept[c.fromName] == c.what {
		delete(c.from.kept, c.fromName)
	}
	if c.to != nil {
		c.to.kept[c.toName] = c.what
	}
}

// Fingerprint tells disks apart by everything with an effect on programs: not by the random parts of
// temporary names, nor by the contents of temporary files and of locks, which only people read.
func (d *Disk) Fingerprint() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := sha256.New()
	var walk func(n *node, name string)
	walk = func(n *node, name string) {
		data := n.data
		if of, ok := durable.IsTemp(path.Base(name)); ok {
			name, data = path.Dir(name)+"/."+of+".tmp", nil
		} else if path.Ext(name) == ".lock" {
			data = nil
		}
		_, _ = fmt.Fprintf(out, "%s %v %d\n", name, n.folder, len(data))
		out.Write(data)
		for _, child := range slices.Sorted(maps.Keys(n.entries)) {
			walk(n.entries[child], path.Join(name, child))
		}
	}
	walk(d.root, ".")
	return string(out.Sum(nil))
}
